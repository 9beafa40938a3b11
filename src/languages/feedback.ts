import { relative } from 'node:path';
import { errorMessage } from '../base/errors.ts';
import { plural, truncate } from '../base/text.ts';
import type { CodeFeedback, ContentChange, LanguageCall } from '../protocol/languages.ts';
import { findLanguage, languageIdOf } from './find-server.ts';
import type { LanguageServers, ServerSlot } from './language-servers.ts';
import { MAX_DOCUMENT_BYTES } from './open-documents.ts';
import { findNewProblems, type Problem } from './problems.ts';

/** The maximum number of files of one call that are checked. */
const MAX_CHECKED_FILES = 8;
/** The maximum number of problems that a result shows, and of characters of one problem. */
const MAX_SHOWN_PROBLEMS = 20;
const MAX_PROBLEM_LENGTH = 300;

/** The limits of the time that the feedback of one call may take. */
export interface FeedbackLimits {
  readonly checkSeconds: number;
  readonly startSeconds: number;
}

/** The new problems of one file. */
interface FileProblems {
  /** Absolute. */
  readonly path: string;
  /** The program that reported them. */
  readonly source: string;
  readonly problems: readonly Problem[];
}

interface FileFeedback {
  readonly found: FileProblems | null;
  readonly note: string | null;
}

const NOTHING: FileFeedback = { found: null, note: null };

/** Finds the problems that changes have caused, with the language servers of their files. */
export async function checkWithServers(
  changes: readonly ContentChange[],
  call: LanguageCall,
  { servers, limits }: { readonly servers: LanguageServers; readonly limits: FeedbackLimits },
): Promise<CodeFeedback> {
  const served = changes.flatMap((change) => {
    const slot = servers.find(change.path, call.roots);
    return slot === null ? [] : [{ change, slot }];
  });
  const checked = served.filter(({ change }) => change.after !== null).slice(0, MAX_CHECKED_FILES);
  const feedback = await Promise.all(
    checked.map(({ change, slot }) => checkFile(change, slot, call, limits)),
  );
  const leftOut = served.length - checked.length;
  return {
    problems: formatProblems(
      feedback.flatMap(({ found }) => found ?? []),
      call.cwd,
    ),
    notes: [
      ...new Set(feedback.flatMap(({ note }) => note ?? [])),
      ...(leftOut > 0 ? [`${plural(leftOut, 'file')} more were not checked.`] : []),
    ],
  };
}

async function checkFile(
  { path, before, after }: ContentChange,
  slot: ServerSlot,
  { signal }: LanguageCall,
  limits: FeedbackLimits,
): Promise<FileFeedback> {
  const language = findLanguage(path);
  if (language === undefined || after === null || isTooLarge(after) || isTooLarge(before ?? ''))
    return NOTHING;
  const languageId = languageIdOf(path, language);
  const { isWarm } = slot;
  const seconds = isWarm ? limits.checkSeconds : limits.startSeconds;
  const stop = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)]);
  try {
    const problems = await slot.use(stop, async (server) => {
      const old =
        before === null
          ? { text: '', problems: [] }
          : await server.check({ path, text: before, languageId }, stop);
      server.reportChanges([{ path, kind: before === null ? 'created' : 'changed' }]);
      return findNewProblems(old, await server.check({ path, text: after, languageId }, stop));
    });
    return problems.length === 0
      ? NOTHING
      : { ...NOTHING, found: { path, source: slot.name, problems } };
  } catch (thrown) {
    if (signal.aborted) return NOTHING;
    const limit = isWarm ? 'check_seconds' : 'start_seconds';
    const reason = stop.aborted
      ? `it did not answer within code.${limit} = ${seconds}`
      : truncate(errorMessage(thrown), MAX_PROBLEM_LENGTH);
    return { ...NOTHING, note: `${slot.name} did not check the change: ${reason}.` };
  }
}

function isTooLarge(text: string): boolean {
  return text.length > MAX_DOCUMENT_BYTES;
}

/** Formats the new problems of files for a result, within the limits. Returns an empty text if there are none. */
function formatProblems(files: readonly FileProblems[], cwd: string): string {
  let remaining = MAX_SHOWN_PROBLEMS;
  const lines = files.flatMap(({ path, source, problems }) => {
    const sorted = problems.toSorted(
      (a, b) => Number(a.severity !== 'error') - Number(b.severity !== 'error') || a.line - b.line,
    );
    const shown = sorted.slice(0, remaining);
    remaining -= shown.length;
    if (shown.length === 0) return [];
    return [`New problems in ${showPath(path, cwd)} (${source}):`, ...shown.map(formatProblem)];
  });
  const total = files.reduce((sum, { problems }) => sum + problems.length, 0);
  const more = total - (MAX_SHOWN_PROBLEMS - remaining);
  return [...lines, ...(more > 0 ? [`[${more} more]`] : [])].join('\n');
}

function formatProblem({ line, column, severity, code, message }: Problem): string {
  const suffix = code === '' ? '' : ` [${code}]`;
  return truncate(`  ${line}:${column} ${severity}: ${message}`, MAX_PROBLEM_LENGTH) + suffix;
}

function showPath(path: string, cwd: string): string {
  const shown = relative(cwd, path);
  return shown.startsWith('..') ? path : shown;
}
