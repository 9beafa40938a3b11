import { errorMessage } from '../base/errors.ts';
import { plural, truncate } from '../base/text.ts';
import type { CodeFeedback, ContentChange, LanguageCall } from '../protocol/languages.ts';
import { displayPath } from '../sys/files/paths.ts';
import type { LanguageServers, ServerSlot } from './language-servers.ts';
import { MAX_DOCUMENT_BYTES } from './open-documents.ts';
import { findNewProblems, type FileProblems, type Problem } from './problems.ts';

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

/** Finds the problems that changes have caused, with the language servers of their files. */
export async function checkWithServers(
  changes: readonly ContentChange[],
  call: LanguageCall,
  { servers, limits }: { readonly servers: LanguageServers; readonly limits: FeedbackLimits },
): Promise<FoundProblems> {
  const served = changes.flatMap((change) => {
    const slot = servers.find(change.path, call.roots);
    return slot === null ? [] : [{ change, slot, languageId: servers.languageId(change.path) }];
  });
  const checked = served.filter(({ change }) => change.after !== null).slice(0, MAX_CHECKED_FILES);
  const found = await Promise.all(checked.map((each) => checkFile(each, call, limits)));
  const leftOut = served.length - checked.length;
  return {
    files: found.flatMap(({ files }) => files),
    notes: [
      ...new Set(found.flatMap(({ notes }) => notes)),
      ...(leftOut > 0 ? [`${plural(leftOut, 'changed file')} more were not checked.`] : []),
    ],
  };
}

interface ServedChange {
  readonly change: ContentChange;
  readonly slot: ServerSlot;
  readonly languageId: string;
}

const NOTHING: FoundProblems = { files: [], notes: [] };

async function checkFile(
  { change: { path, before, after }, slot, languageId }: ServedChange,
  { signal }: LanguageCall,
  limits: FeedbackLimits,
): Promise<FoundProblems> {
  // A server that was given up was named when that happened.
  if (slot.isGivenUp || after === null) return NOTHING;
  if (isTooLarge(after) || isTooLarge(before ?? '')) return NOTHING;
  const { stop, name, seconds } = limitTime(slot, signal, limits);
  try {
    return await slot.use(stop, async (server) => {
      const own = await server.inTurn(path, async () => {
        const old =
          before === null
            ? { text: '', problems: [] }
            : await server.check({ path, text: before, languageId }, stop);
        server.reportChanges([{ path, kind: before === null ? 'created' : 'changed' }]);
        return findNewProblems(old, await server.check({ path, text: after, languageId }, stop));
      });
      const others = await server.findNewProblemsInOthers(path, stop);
      const source = slot.name;
      return {
        files: [
          ...(own.length === 0 ? [] : [{ path, source, problems: own }]),
          ...others.map((other) => ({ path: other.path, source, problems: other.problems })),
        ],
        notes: [],
      };
    });
  } catch (thrown) {
    if (signal.aborted) return NOTHING;
    const reason = stop.aborted
      ? `it did not answer within code.${name} = ${seconds}`
      : truncate(errorMessage(thrown), MAX_PROBLEM_LENGTH);
    const end = slot.isGivenUp ? ' It is not started again.' : '';
    return { files: [], notes: [`${slot.name} did not check the change: ${reason}.${end}`] };
  }
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

function isTooLarge(text: string): boolean {
  return text.length > MAX_DOCUMENT_BYTES;
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
