import { errorMessage } from '../base/errors.ts';
import { sanitizeLine } from '../base/terminal-text.ts';
import { plural, truncate } from '../base/text.ts';
import type {
  CallChanges,
  CodeFeedback,
  ContentChange,
  LanguageCall,
} from '../protocol/languages.ts';
import { displayPath } from '../sys/files/paths.ts';
import { checkChanges, type ServedChanges } from './check-changes.ts';
import type { LanguageServers } from './language-servers.ts';
import { MAX_DOCUMENT_BYTES } from './open-documents.ts';
import type { FileProblems, Problem } from './problems.ts';
import type { ServerSlot } from './server-slot.ts';

/** The maximum number of files of one call that are checked. */
const MAX_CHECKED_FILES = 8;
/** The maximum number of problems that a result shows, and of characters of one problem. */
const MAX_SHOWN_PROBLEMS = 20;
const MAX_PROBLEM_LENGTH = 300;

/** The limits of the time that programs may take for one call, in seconds. */
export interface FeedbackLimits {
  /** For a server that has read the project. */
  readonly checkSeconds: number;
  /** For a server that has to start. */
  readonly startSeconds: number;
  /** For one run of a checker. */
  readonly commandSeconds: number;
  /** For one run of a formatter. */
  readonly formatSeconds: number;
}

/** The new problems that servers or checkers have found, and notes about what could not be checked. */
export interface FoundProblems {
  readonly files: readonly FileProblems[];
  readonly notes: readonly string[];
}

/** Finds the problems that a call has caused, with the language servers of its files. */
export async function checkWithServers(
  { contents, events }: CallChanges,
  call: LanguageCall,
  { servers, limits }: { readonly servers: LanguageServers; readonly limits: FeedbackLimits },
): Promise<FoundProblems> {
  servers.noteEvents(events);
  const served = contents.flatMap((change) => {
    const slot = servers.find(change.path, call.roots);
    return slot === null ? [] : [{ change, slot }];
  });
  const written = served.filter(({ change }) => change.after !== null);
  const suitable = written.filter(({ change }) => !isTooLarge(change));
  const checked = suitable.slice(0, MAX_CHECKED_FILES);
  const deleted = served.filter(({ change, slot }) => change.after === null && slot.isRunning);
  const bySlot = Map.groupBy([...checked, ...deleted], ({ slot }) => slot);
  const changedPaths = new Set(events.map(({ path }) => path));
  const found = await Promise.all(
    Array.from(bySlot, ([slot, each]) => {
      const changes = each.map(({ change }) => change);
      const languageId = (path: string): string => servers.languageId(path);
      return checkWithServer(slot, { changes, changedPaths, languageId }, { call, limits });
    }),
  );
  return {
    files: found.flatMap(({ files }) => files),
    notes: [
      ...found.flatMap(({ notes }) => notes),
      ...describeUnchecked(suitable.length - checked.length, `the first ${MAX_CHECKED_FILES}`),
      ...describeUnchecked(written.length - suitable.length, 'files of at most 1 MB'),
    ],
  };
}

function isTooLarge({ before, after }: ContentChange): boolean {
  return [before, after].some((text) => (text?.length ?? 0) > MAX_DOCUMENT_BYTES);
}

function describeUnchecked(count: number, checked: string): readonly string[] {
  return count === 0
    ? []
    : [
        `Not checked by a language server: ${plural(count, 'changed file')} (only ${checked} are checked).`,
      ];
}

const NOTHING: FoundProblems = { files: [], notes: [] };

async function checkWithServer(
  slot: ServerSlot,
  changes: ServedChanges,
  {
    call: { signal },
    limits,
  }: { readonly call: Pick<LanguageCall, 'signal'>; readonly limits: FeedbackLimits },
): Promise<FoundProblems> {
  // A server that was given up was named when that happened.
  if (slot.isGivenUp) return NOTHING;
  const { stop, name, seconds } = limitTime(slot, signal, limits);
  const late = `it did not answer within code.${name} = ${seconds}`;
  try {
    const found = await slot.use(stop, (server, pending) =>
      checkChanges(server, changes, { pending, signal: stop }),
    );
    return {
      files: found.map(({ path, problems }) => ({ path, source: slot.name, problems })),
      notes:
        stop.aborted && !signal.aborted ? [`${slot.name} did not check other files: ${late}.`] : [],
    };
  } catch (thrown) {
    if (signal.aborted) return NOTHING;
    const reason = stop.aborted ? late : describeError(thrown);
    const end = slot.isGivenUp ? ' It is not started again.' : '';
    return { files: [], notes: [`${slot.name} did not check the change: ${reason}.${end}`] };
  }
}

/** Describes what a server or a checker has reported as an error, on one line. */
export function describeError(thrown: unknown): string {
  return sanitizeLine(truncate(errorMessage(thrown), MAX_PROBLEM_LENGTH));
}

/** Returns the limit of the time that a server may take now, with a signal that aborts when it is exceeded. */
export function limitTime(
  { isWarm }: Pick<ServerSlot, 'isWarm'>,
  signal: AbortSignal,
  { checkSeconds, startSeconds }: Pick<FeedbackLimits, 'checkSeconds' | 'startSeconds'>,
): { readonly stop: AbortSignal; readonly name: string; readonly seconds: number } {
  const [name, seconds] = isWarm
    ? (['check_seconds', checkSeconds] as const)
    : (['start_seconds', startSeconds] as const);
  const stop = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)]);
  return { stop, name, seconds };
}

/** Formats the new problems of files for a result, within the limits. */
export function formatFeedback({ files, notes }: FoundProblems, cwd: string): CodeFeedback {
  return { problems: formatProblems(files, { cwd, title: 'New problems' }), notes };
}

/** Formats the problems of files, within the limits. Returns an empty text if there are none. */
export function formatProblems(
  files: readonly FileProblems[],
  { cwd, title }: { readonly cwd: string; readonly title: string },
): string {
  let remaining = MAX_SHOWN_PROBLEMS;
  const lines = files.flatMap(({ path, source, problems }) => {
    const sorted = problems.toSorted(
      (a, b) => Number(a.severity !== 'error') - Number(b.severity !== 'error') || a.line - b.line,
    );
    const shown = sorted.slice(0, remaining);
    remaining -= shown.length;
    if (shown.length === 0) return [];
    return [`${title} in ${displayPath(path, cwd)} (${source}):`, ...shown.map(formatProblem)];
  });
  const total = files.reduce((sum, { problems }) => sum + problems.length, 0);
  const more = total - (MAX_SHOWN_PROBLEMS - remaining);
  return [...lines, ...(more > 0 ? [`[${more} more]`] : [])].join('\n');
}

function formatProblem({ line, column, severity, code, message }: Problem): string {
  const suffix = code === '' ? '' : ` [${truncate(code, 60)}]`;
  return truncate(`  ${line}:${column} ${severity}: ${message}`, MAX_PROBLEM_LENGTH) + suffix;
}
