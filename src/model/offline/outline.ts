import { findDefinedName, measureIndent } from '../../base/code/definitions.ts';
import { fileKind, isProse } from '../../base/code/file-kind.ts';
import { quoteLine } from '../../base/code-search/format-ranking.ts';
import { isJsonObject } from '../../base/json.ts';
import { collapseWhitespace, plural, truncate } from '../../base/text.ts';
import { CODE_SEARCH } from '../../protocol/tool-names.ts';
import { isSecretPath } from '../../sys/files/secret-paths.ts';
import { describeFailures, LIMITATIONS } from './answer.ts';
import type { Intent } from './intent.ts';
import { findOutcome, type PlannedCall, type Situation } from './situation.ts';

/**
 * The maximum number of files of a directory that are opened. At most `MAX_LINES_PER_FILE` lines of each are read.
 */
const MAX_OPENED_FILES = 16;
const MAX_LINES_PER_FILE = 600;
const MAX_FILE_SYMBOLS = 40;
const MAX_LINE_SYMBOLS = 8;
const MAX_UNOPENED_NAMES = 12;
/** The maximum indentation of a listed definition, which is the indentation of a method in a class. */
const MAX_INDENT = 4;
const MAX_PATHS = 60_000;
const MAX_PATH_CHARS = 1000;

/**
 * Returns true if the answer is an outline. The word after `summarise` may not be a directory. If Glob finds no files in
 * it, the engine searches for the question instead.
 */
export function needsOutline(
  { outlinedFiles, outlinedDirectory }: Intent,
  situation: Situation,
): boolean {
  if (outlinedDirectory === null) return outlinedFiles.length > 0;
  const isSearched = [CODE_SEARCH, 'Grep'].some((name) => findOutcome(situation, name));
  const isListed = findOutcome(situation, 'Glob') !== undefined;
  return isListed ? !isSearched && collectListedPaths(situation).length > 0 : !isSearched;
}

/**
 * Plans the calls for an outline: first Glob lists the files, then Read opens them. In a directory, only the most
 * informative files are opened.
 */
export function planOutlineCalls(
  { outlinedFiles, outlinedDirectory }: Intent,
  situation: Situation,
): readonly PlannedCall[] {
  if (findOutcome(situation, 'Read') !== undefined) return [];
  const isListed = findOutcome(situation, 'Glob') !== undefined || !situation.tools.has('Glob');
  if (outlinedDirectory !== null) {
    if (!isListed)
      return [
        planGlob(
          outlinedDirectory === '.' ? '**/*' : `**/${escapePattern(outlinedDirectory)}/**/*`,
        ),
      ];
    return listFiles(outlinedDirectory, situation)
      .filter((path) => !isSecretPath(path))
      .slice(0, MAX_OPENED_FILES)
      .map((path) => planRead({ file_path: path, limit: MAX_LINES_PER_FILE }));
  }
  if (!isListed) {
    return outlinedFiles.map((path) =>
      planGlob(path.includes('/') ? escapePattern(path) : `**/${escapePattern(path)}`),
    );
  }
  const listed = collectListedPaths(situation).slice(0, outlinedFiles.length);
  return (listed.length === 0 ? outlinedFiles : listed).map((path) =>
    planRead({ file_path: path }),
  );
}

/** Answers with the definitions of the opened files, or with a line for each file of a directory. */
export function answerWithOutline(intent: Intent, situation: Situation): string {
  const opened = collectOpenedFiles(situation);
  const parts: string[] = [
    intent.beyond === null ? LIMITATIONS.outline : LIMITATIONS[intent.beyond],
  ];
  if (intent.outlinedDirectory === null) {
    parts.push(...[...opened].map(([path, lines]) => describeFile(path, lines)));
    const paths = [...opened.keys()];
    const missing = intent.outlinedFiles.filter(
      (each) => !paths.some((path) => path.endsWith(each)),
    );
    if (missing.length > 0) parts.push(`Not opened: ${missing.map(quoteAsCode).join(', ')}.`);
  } else {
    parts.push(describeDirectory(intent.outlinedDirectory, opened, situation));
  }
  return [...parts, ...describeFailures(situation)].join('\n\n');
}

type NumberedLine = readonly [number: number, text: string];

function describeFile(path: string, lines: readonly NumberedLine[]): string {
  const symbols = findSymbols(path, lines);
  const comment = findFirstComment(path, lines);
  const listed = symbols
    .slice(0, MAX_FILE_SYMBOLS)
    .map(([line, text]) => `- \`${path}:${line}\` ${quoteLine(text)}`);
  if (listed.length < symbols.length) listed.push(`- … and ${symbols.length - listed.length} more`);
  const heading = `\`${path}\`, ${plural(lines.length, 'line')} read, ${plural(symbols.length, 'definition or heading', 'definitions or headings')}:`;
  return [heading, ...(comment === null ? [] : [`> ${comment}`, '']), ...listed].join('\n');
}

function describeDirectory(
  directory: string,
  opened: ReadonlyMap<string, readonly NumberedLine[]>,
  situation: Situation,
): string {
  const all = listFiles(directory, situation);
  const total = all.length + (directory === '.' ? countHiddenPaths(situation) : 0);
  const secret = all.filter(isSecretPath).length;
  const unopened = all.filter((path) => !isSecretPath(path) && !opened.has(path));
  const name = directory === '.' ? 'The working directory' : `\`${directory}\``;
  const lines = [...opened].map(([path, read]) => describeFileInLine(path, read));
  if (unopened.length > 0) {
    const named = unopened.slice(0, MAX_UNOPENED_NAMES);
    const more = total - secret - opened.size - named.length;
    const rest = more > 0 ? ` and ${more} more` : '';
    lines.push(`- Not opened: ${named.map(quoteAsCode).join(', ')}${rest}`);
  }
  if (secret > 0) {
    lines.push(`- Not opened, because such files contain secrets: ${plural(secret, 'file')}`);
  }
  const heading = `${name}: ${plural(total, 'file')}, ${opened.size} opened (at most ${MAX_OPENED_FILES}):`;
  return [heading, ...lines].join('\n');
}

function describeFileInLine(path: string, lines: readonly NumberedLine[]): string {
  const symbols = findSymbols(path, lines);
  const names = symbols.map(([, text]) => findDefinedName(text) ?? text.replace(/^#+/, ''));
  const more = names.length - MAX_LINE_SYMBOLS;
  const list = names.slice(0, MAX_LINE_SYMBOLS).map(quoteAsCode).join(', ');
  const rest = more > 0 ? ` and ${more} more` : '';
  const parts = [
    `\`${path}:${symbols[0]?.[0] ?? 1}\``,
    findFirstComment(path, lines),
    `${list}${rest}`,
  ];
  return `- ${parts.filter((part) => part !== null && part !== '').join(' · ')}`;
}

function isText(path: string): boolean {
  return isProse(path) && fileKind(path) === 'docs';
}

/** Finds the lines with the definitions of a source file, or with the headings of a text. */
function findSymbols(path: string, lines: readonly NumberedLine[]): readonly NumberedLine[] {
  if (!isText(path)) {
    const isCode = !isProse(path);
    return lines.filter(
      ([, text]) => isCode && measureIndent(text) <= MAX_INDENT && findDefinedName(text) !== null,
    );
  }
  let isFenced = false;
  return lines.filter(([, text]) => {
    if (/^\s*(?:```|~~~)/.test(text)) isFenced = !isFenced;
    return !isFenced && /^#{1,6}\s/.test(text);
  });
}

/** The number of lines at the beginning of a file in which a comment about the file is searched for. */
const MAX_COMMENT_LINE = 60;
const MAX_COMMENT_CHARS = 200;
const COMMENT_MARK =
  /^\s*(?:\/\*+!?|\*+\/?|\/\/[/!]?|#+!?(?!include|define|if|endif|pragma)|--+|;;+|"""|''')\s?/;
/** Matches legal comments, which say nothing about the content of a file. */
const LEGAL = /copyright|licen[cs]e|all rights reserved|spdx/i;
/** Matches comments that are instructions to programs. */
const DIRECTIVE =
  /eslint|prettier|oxlint|-\*-|^\/usr\/bin|^\/bin|use strict|@ts-|generated by|^package [\w.]+;?$|https?:\/\/\S+$/i;

/**
 * Finds the first sentence of the first comment of a source file, or of the text below the headings of a document.
 * Returns null if there is no such sentence.
 */
function findFirstComment(path: string, lines: readonly NumberedLine[]): string | null {
  const commentLines: string[] = [];
  let isOpen = false;
  let isLegal = false;
  for (const [, line] of lines.slice(0, MAX_COMMENT_LINE)) {
    const words = line
      .replace(COMMENT_MARK, '')
      .replace(/(?:\*+\/|"""|''')\s*$/, '')
      .trim();
    const isComment = isText(path)
      ? !/^\s*(?:#|[-=*_`<>![|+]|$)/.test(line)
      : isOpen || COMMENT_MARK.test(line);
    if (!isText(path)) isOpen = isCommentOpenAfter(line, isOpen);
    isLegal = isComment && (isLegal || LEGAL.test(words));
    const isUsable = isComment && !isLegal && /\p{L}{2}/u.test(words) && !DIRECTIVE.test(words);
    if (isUsable) commentLines.push(words);
    else if (commentLines.length > 0) break;
  }
  if (commentLines.length === 0) return null;
  const [sentence = ''] = collapseWhitespace(
    commentLines.join(' ').replace(/\p{Cc}+/gu, ' '),
  ).split(/(?<=[.!?])\s+(?=\p{Lu})/u);
  const cut = truncate(sentence, MAX_COMMENT_CHARS);
  return cut.length < sentence.length ? `${cut}…` : cut;
}

/** Returns true if the line after `line` is inside a block comment, in which lines need no comment mark. */
function isCommentOpenAfter(line: string, wasOpen: boolean): boolean {
  if (wasOpen) return !/\*\/|"""|'''/.test(line);
  const opened = /^\s*(?:\/\*|"""|''')/.exec(line);
  return opened !== null && !/\*\/|"""|'''/.test(line.slice(opened[0].length));
}

/** Collects the lines of the files that Read has opened, by path. */
function collectOpenedFiles({
  rounds,
  cwd,
}: Situation): ReadonlyMap<string, readonly NumberedLine[]> {
  const files = new Map<string, readonly NumberedLine[]>();
  for (const { call, result } of rounds.flat()) {
    const named = isJsonObject(call.input) ? call.input['file_path'] : undefined;
    if (call.name !== 'Read' || typeof named !== 'string' || result?.isError !== false) continue;
    const lines = result.text.split('\n').flatMap((line): readonly NumberedLine[] => {
      const [, number, text = ''] = /^\s*(\d{1,9})(?:→|\t|\| ?|: ?)(.*)$/.exec(line) ?? [];
      return number === undefined ? [] : [[Number(number), text]];
    });
    files.set(relativePath(named, cwd), lines);
  }
  return files;
}

/** Matches the notes in the result of Glob, which are not paths. A path may also begin with a bracket. */
const NOTE =
  /^(?:\[(?:no|not|stopped|cut|more than|the file|up to|\d+ more|\d+ [a-z ]+ left out)\b|…|\.\.\.|no (?:files?|match|paths?)\b)/i;

function collectGlobLines({ rounds }: Situation): readonly string[] {
  const results = rounds.flat().filter(({ call }) => call.name === 'Glob');
  return results.flatMap(({ result }) =>
    result?.isError === false ? result.text.split('\n') : [],
  );
}

/** Collects the paths that Glob listed. Paths with control characters are left out, because they are never displayed. */
function collectListedPaths(situation: Situation): readonly string[] {
  const paths = collectGlobLines(situation).filter(
    (line) =>
      line !== '' && line.length <= MAX_PATH_CHARS && !NOTE.test(line) && !/\p{Cc}/u.test(line),
  );
  const all = paths.map((path) => relativePath(path, situation.cwd));
  return [...new Set(all.filter((path) => !hasEscapes(path)))].slice(0, MAX_PATHS);
}

/** Returns true if a path is written as a JSON string, as tools write names with control characters. */
function hasEscapes(path: string): boolean {
  return /^".*\\.*"$/.test(path);
}

/** Returns the number of paths that Glob reports as left out. */
function countHiddenPaths(situation: Situation): number {
  const [, more = '0'] =
    collectGlobLines(situation)
      .map((line) => /^\[(\d{1,9}) more\b/.exec(line))
      .find((match) => match !== null) ?? [];
  return Number(more);
}

function relativePath(path: string, cwd: string): string {
  return (path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path).replace(/^\.\//, '');
}

/**
 * Lists the files of a directory, the most informative first. If no directory has this path, lists the files of all
 * directories with this name.
 */
function listFiles(directory: string, situation: Situation): readonly string[] {
  const all = collectListedPaths(situation);
  const inside = all.filter((path) => path.startsWith(`${directory}/`));
  const depth = (path: string) => path.split('/').length;
  return (directory === '.' || inside.length === 0 ? all : inside).toSorted(
    (a, b) => rankPath(a) - rankPath(b) || depth(a) - depth(b) || (a < b ? -1 : 1),
  );
}

const BINARY =
  /\.(?:png|jpe?g|gif|ico|webp|pdf|zip|gz|tgz|bz2|xz|jar|so|exe|wasm|woff2?|ttf|mp[34])$/i;

/** Returns the rank of a path in an outline: a readme has the lowest rank, and comes first. */
function rankPath(path: string): number {
  if (/(?:^|\/)readme[^/]*$/i.test(path)) return 0;
  const kind = fileKind(path);
  if (kind === 'source' && !BINARY.test(path)) return 1;
  return kind === 'docs' || kind === 'types' ? 2 : 3;
}

function planGlob(pattern: string): PlannedCall {
  return { name: 'Glob', input: { pattern } };
}

function planRead(input: PlannedCall['input']): PlannedCall {
  return { name: 'Read', input };
}

/**
 * Escapes a path for a glob pattern. Each character with a special meaning is replaced by `?`, which matches any single
 * character.
 */
function escapePattern(path: string): string {
  return path.replace(/[*?[\](){}|!,\\]/g, '?');
}

function quoteAsCode(text: string): string {
  return `\`${collapseWhitespace(text)}\``;
}
