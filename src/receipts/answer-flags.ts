import { resolve } from 'node:path';
import { lazy } from '../base/lazy.ts';
import { isInside } from '../base/path-inside.ts';
import { collapseWhitespace } from '../base/text.ts';
import { sanitizeForTerminal } from '../base/terminal-text.ts';
import type { ClaimFlag } from '../protocol/result.ts';
import type { TaskState } from '../protocol/state/task-state.ts';
import { failedRun } from './command-kinds.ts';
import { quoteText, runText } from './receipt.ts';

/** UTF-16 units of an answer that are searched for paths, at its beginning and at its end. */
const READ_LENGTH = 40_000;
const MAX_PATHS = 50;
const MAX_PATH_LENGTH = 300;
const MAX_FLAGS = 20;
const SHOWN_FLAGS = 3;

const LETTER = String.raw`\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{N}_`;
const PATH = lazy(
  () =>
    new RegExp(
      String.raw`(?<![${LETTER}@./~:%$*+-])(?:\.{0,2}/)?(?:[${LETTER}@.+-]+/)*[${LETTER}@.+-]*[${LETTER}]\.[A-Za-z][A-Za-z0-9]{0,7}(?![${LETTER}/(*])`,
      'gu',
    ),
);
const WEB_ADDRESS = /\b[a-z][\w+.-]{0,20}:\/\/\S+/gi;
/** JSON in a code block can be the whole answer; other code is an example. */
const CODE_BLOCK = /(?:^|\n)(`{3,}|~{3,})(?!json)[\s\S]*?(?:\n\1|$)/g;
/** Endings by which a name without a directory counts as a file; `user.name` has none of them. */
const FILE_ENDING =
  /\.(?:c|cc|cpp|cs|css|csv|go|h|hpp|html|ini|ipynb|java|jsx?|json|kt|lua|md|mjs|php|pl|png|py|rb|rs|scss|sh|sql|svelte|svg|swift|toml|tsx?|txt|vue|xml|ya?ml)$/;
const NO_FILE = /^@|^(?:\.?\/)?path\/to\/|^[A-Z]\w*\.js$|^[^./][^/]*\.[^/]*\/|^\d[\d.]*\w?$/;

/**
 * Lists the paths in an answer that the task has not touched and that appear in none of its tool results: if such a
 * path does not exist either, the answer is wrong about it. Paths outside of the task's directory are left out.
 */
export function untouchedPaths(state: TaskState, answer: string): readonly string[] {
  const { spec, filesRead, filesChanged } = state;
  if (hasOtherSources(state)) return [];
  const moved = [...filesChanged.values()].flatMap(({ movedFrom }) => movedFrom ?? []);
  const touched = [...filesRead.keys(), ...filesChanged.keys(), ...moved];
  const seen = seenTexts(state);
  return pathsIn(answer).filter((path) => {
    const absolute = resolve(spec.cwd, path);
    const name = path.replace(/^(?:\.?\/)+/, '');
    const isTouched = touched.some((known) => known === absolute || known.endsWith(`/${name}`));
    if (isTouched || !isInside(spec.cwd, absolute)) return false;
    return !seen.some((text) => text.includes(name));
  });
}

/**
 * Lists what the log contradicts in an answer: paths that do not exist, a last run of the tests or the build that
 * failed, and an answer of a subagent that made no call at all.
 *
 * @param missing the ones of `untouchedPaths` that do not exist
 */
export function answerFlags(
  state: TaskState,
  answer: string,
  missing: readonly string[],
): readonly ClaimFlag[] {
  const { spec, toolCounts, refusals } = state;
  const checks = (['test', 'build'] as const).flatMap((kind): readonly ClaimFlag[] => {
    const run = failedRun(state, kind);
    const name = kind === 'test' ? 'test run' : 'build';
    return run === null
      ? []
      : [{ kind: 'check', claim: '', why: `the last ${name} failed: ${runText(run)}` }];
  });
  const files = missing.map((path): ClaimFlag => {
    return { kind: 'file', claim: path, why: 'it does not exist, and the task did not touch it' };
  });
  // A person who asks the main agent sees that it made none, and may only have wanted a word.
  const hasDoneNothing =
    answer.trim() !== '' &&
    spec.parent !== null &&
    spec.tools.length > 0 &&
    toolCounts.size + refusals.length === 0;
  const why = 'the task made no tool call';
  const idle: readonly ClaimFlag[] =
    hasDoneNothing && !hasOtherSources(state) ? [{ kind: 'done', claim: '', why }] : [];
  return [...idle, ...checks, ...files].slice(0, MAX_FLAGS);
}

/** Whether the answer may rest on what the task's own log does not show: the work of other tasks, or given files. */
function hasOtherSources({ spec, handed }: TaskState): boolean {
  const { branchedFrom, inherited, summarised, given, enclosed } = spec;
  const sources = [branchedFrom, inherited, summarised, given, enclosed];
  return handed.size > 0 || sources.some((source) => source !== undefined);
}

function seenTexts({ conversation, commands, shells, children }: TaskState): readonly string[] {
  const below = [...children.values()].flatMap(({ receipt }) => receipt?.commands ?? []);
  const results = conversation.messages.flatMap((message) =>
    message.role === 'tool' ? message.content : [],
  );
  return [
    ...[...commands, ...shells.values(), ...below].map(({ command }) => command),
    ...[...results, ...conversation.results.values()].map(({ text }) => text),
  ];
}

function pathsIn(answer: string): readonly string[] {
  const isLong = answer.length > 2 * READ_LENGTH;
  const read = isLong ? `${answer.slice(0, READ_LENGTH)}\n${answer.slice(-READ_LENGTH)}` : answer;
  const text = read.replace(CODE_BLOCK, '\n').replace(WEB_ADDRESS, ' ');
  const paths = new Set<string>();
  for (const [path] of text.matchAll(PATH())) {
    if (path.length > MAX_PATH_LENGTH) continue;
    const isFile = path.includes('/') || FILE_ENDING.test(path);
    if (isFile && !NO_FILE.test(path)) paths.add(path);
    if (paths.size === MAX_PATHS) break;
  }
  return [...paths];
}

/** Says one flag in words. What it quotes of an answer stays between quotes, on one line. */
export function flagText({ claim, why }: ClaimFlag): string {
  const reason = collapseWhitespace(sanitizeForTerminal(why, 'prose'));
  if (claim === '') return reason;
  return `the log does not support this claim: ${quoteText(collapseWhitespace(claim))} (${reason})`;
}

/** Says the flags of an answer in one line, for the model of the parent and for people; '' where there are none. */
export function flagsText(flags: readonly ClaimFlag[]): string {
  const shown = flags.slice(0, SHOWN_FLAGS).map(flagText);
  const more = flags.length - shown.length;
  const text = [...shown, ...(more === 0 ? [] : [`and ${more} more`])].join('; ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
