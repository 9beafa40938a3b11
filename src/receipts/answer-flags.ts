import { resolve } from 'node:path';
import { lazy } from '../base/lazy.ts';
import { isInside } from '../base/path-inside.ts';
import { collapseWhitespace } from '../base/text.ts';
import { sanitizeForTerminal } from '../base/terminal-text.ts';
import type { EndReason } from '../protocol/end-reason.ts';
import type { ClaimFlag } from '../protocol/result.ts';
import type { TaskState } from '../protocol/state/task-state.ts';
import { findFailedRun } from './command-kinds.ts';
import { quoteText, formatRun } from './receipt.ts';

/** The maximum number of UTF-16 units at the beginning, and at the end, of an answer that are searched for paths. */
const SEARCHED_LENGTH = 40_000;
/** The maximum number of paths that are checked in one answer, and of UTF-16 units in each. */
const MAX_PATHS = 50;
const MAX_PATH_LENGTH = 300;
const MAX_FLAGS = 20;
const MAX_SHOWN_FLAGS = 3;

/** The characters of file names in paths, as the inside of a character class. */
const LETTER = String.raw`\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{N}_`;
const PATH_PATTERN = lazy(
  () =>
    new RegExp(
      String.raw`(?<![${LETTER}@./~:%$*+-])(?:\.{0,2}/)?(?:[${LETTER}@.+-]+/)*[${LETTER}@.+-]*[${LETTER}]\.[A-Za-z][A-Za-z0-9]{0,7}(?![${LETTER}/(*])`,
      'gu',
    ),
);
const WEB_ADDRESS = /\b[a-z][\w+.-]{0,20}:\/\/\S+/gi;
/** A code block. A block of JSON is not matched, because it can be the full answer; other code is an example. */
const CODE_BLOCK = /(?:^|\n)(`{3,}|~{3,})(?!json)[\s\S]*?(?:\n\1|$)/g;
/** The endings by which a name without a directory counts as a file. `user.name`, for example, has none of them. */
const FILE_ENDING =
  /\.(?:c|cc|cpp|cs|css|csv|go|h|hpp|html|ini|ipynb|java|jsx?|json|kt|lua|md|mjs|php|pl|png|py|rb|rs|scss|sh|sql|svelte|svg|swift|toml|tsx?|txt|vue|xml|ya?ml)$/;
/** Names that look like paths and are not: packages, placeholders, products, web addresses and versions. */
const NOT_A_FILE = /^@|^(?:\.?\/)?path\/to\/|^[A-Z]\w*\.js$|^[^./][^/]*\.[^/]*\/|^\d[\d.]*\w?$/;

/**
 * Finds the paths in an answer that the task has not read or changed and that appear in none of its tool results. If
 * such a path does not exist, the answer is wrong about it. Paths outside of the task's directory are left out.
 */
export function findUntouchedPaths(state: TaskState, answer: string): readonly string[] {
  const { spec, filesRead, filesChanged } = state;
  if (hasOtherSources(state)) return [];
  const moved = [...filesChanged.values()].flatMap(({ movedFrom }) => movedFrom ?? []);
  const touched = [...filesRead.keys(), ...filesChanged.keys(), ...moved];
  const seen = listSeenTexts(state);
  return findPaths(answer).filter((path) => {
    const absolute = resolve(spec.cwd, path);
    const name = path.replace(/^(?:\.?\/)+/, '');
    const isTouched = touched.some((known) => known === absolute || known.endsWith(`/${name}`));
    if (isTouched || !isInside(spec.cwd, absolute)) return false;
    return !seen.some((text) => text.includes(name));
  });
}

/** The end of a task, with its result, which may be partial or empty. */
interface Ending {
  readonly end: Pick<EndReason, 'status'>;
  readonly result: string;
}

/**
 * Finds the statements of an answer that its log does not support: paths that do not exist, a last run of the tests
 * or the build that failed, and an answer of a subagent that made no tool call at all.
 *
 * @param missing the paths of `findUntouchedPaths` that do not exist
 */
export function findAnswerFlags(
  state: TaskState,
  ending: Ending,
  missing: readonly string[],
): readonly ClaimFlag[] {
  const { spec, toolCounts, refusals } = state;
  const checks = (['test', 'build'] as const).flatMap((kind): readonly ClaimFlag[] => {
    const run = findFailedRun(state, kind);
    const name = kind === 'test' ? 'test run' : 'build';
    return run === null
      ? []
      : [{ kind: 'check', claim: '', why: `the last ${name} failed: ${formatRun(run)}` }];
  });
  const files = missing.map((path): ClaimFlag => {
    return { kind: 'file', claim: path, why: 'it does not exist, and the task did not touch it' };
  });
  // The main agent is not flagged for an answer without calls: the person sees that, and the question may have needed
  // none.
  const hasDoneNothing =
    isAnswer(state, ending) &&
    spec.parent !== null &&
    spec.tools.length > 0 &&
    toolCounts.size + refusals.length === 0;
  const why = 'the task made no tool call';
  const noCallFlags: readonly ClaimFlag[] =
    hasDoneNothing && !hasOtherSources(state) ? [{ kind: 'done', claim: '', why }] : [];
  return [...noCallFlags, ...checks, ...files].slice(0, MAX_FLAGS);
}

/** Returns true if the result of a task is an answer, and not the text before a failure or a stop. */
function isAnswer({ answer }: TaskState, { end, result }: Ending): boolean {
  if (result.trim() === '') return false;
  return end.status === 'completed' || (end.status === 'partial' && answer !== null);
}

/**
 * Returns true if the answer may rest on sources outside the task's own log: the work of other tasks, or quoted
 * items.
 */
function hasOtherSources({ spec, handed }: TaskState): boolean {
  const { branchedFrom, inherited, summarised, given, enclosed } = spec;
  const sources = [branchedFrom, inherited, summarised, given, enclosed];
  return handed.size > 0 || sources.some((source) => source !== undefined);
}

/** Lists the commands and results in which the task could have seen a path. */
function listSeenTexts({ conversation, commands, shells, children }: TaskState): readonly string[] {
  const below = [...children.values()].flatMap(({ receipt }) => receipt?.commands ?? []);
  const results = conversation.messages.flatMap((message) =>
    message.role === 'tool' ? message.content : [],
  );
  return [
    ...[...commands, ...shells.values(), ...below].map(({ command }) => command),
    ...[...results, ...conversation.results.values()].map(({ text }) => text),
  ];
}

function findPaths(answer: string): readonly string[] {
  const isLong = answer.length > 2 * SEARCHED_LENGTH;
  const searched = isLong
    ? `${answer.slice(0, SEARCHED_LENGTH)}\n${answer.slice(-SEARCHED_LENGTH)}`
    : answer;
  const text = searched.replace(CODE_BLOCK, '\n').replace(WEB_ADDRESS, ' ');
  const paths = new Set<string>();
  for (const [path] of text.matchAll(PATH_PATTERN())) {
    if (path.length > MAX_PATH_LENGTH) continue;
    const isFile = path.includes('/') || FILE_ENDING.test(path);
    if (isFile && !NOT_A_FILE.test(path)) paths.add(path);
    if (paths.size === MAX_PATHS) break;
  }
  return [...paths];
}

/** Formats a flag as a text. A quoted part of the answer stays between its quotes, on one line. */
export function formatFlag({ claim, why }: ClaimFlag): string {
  const reason = collapseWhitespace(sanitizeForTerminal(why, 'prose'));
  if (claim === '') return reason;
  return `the log does not support this claim: ${quoteText(collapseWhitespace(claim))} (${reason})`;
}

/** Formats the flags of an answer on one line, for the model of the parent and for people; '' if there are none. */
export function formatFlags(flags: readonly ClaimFlag[]): string {
  const shown = flags.slice(0, MAX_SHOWN_FLAGS).map(formatFlag);
  const more = flags.length - shown.length;
  const text = [...shown, ...(more === 0 ? [] : [`and ${more} more`])].join('; ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
