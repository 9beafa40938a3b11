import { findDefinedName, measureIndent } from '../../base/code/definitions.ts';
import { fileKind, isProse } from '../../base/code/file-kind.ts';
import { quoteLine } from '../../base/code-search/format-ranking.ts';
import { isJsonObject } from '../../base/json.ts';
import { collapseWhitespace, plural, truncate } from '../../base/text.ts';
import { CODE_SEARCH } from '../../protocol/tool-names.ts';
import { isSecretPath } from '../../sys/files/secret-paths.ts';
import { failureNote, LIMITATIONS } from './answer.ts';
import type { Intent } from './intent.ts';
import { findOutcome, type PlannedCall, type Situation } from './situation.ts';

/**
 * The number of files of a directory that are opened. Only the first `DIRECTORY_LINES` lines of each are read.
 */
const OPENED_OF_DIRECTORY = 16;
const DIRECTORY_LINES = 600;
const MAX_FILE_SYMBOLS = 40;
const MAX_LINE_SYMBOLS = 8;
const MAX_UNOPENED_NAMES = 12;
/** The deepest indentation of a listed definition: that of a method in a class. */
const MAX_INDENT = 4;
const MAX_PATHS = 60_000;
const MAX_PATH_CHARS = 1000;

/**
 * Returns true if the answer is an outline. The word after `summarise` may not be a directory: if Glob has
 * found no files there, the engine searches for the question instead.
 */
export function isOutlined(
  { outlinedFiles, outlinedDirectory }: Intent,
  situation: Situation,
): boolean {
  if (outlinedDirectory === null) return outlinedFiles.length > 0;
  const isSearched = [CODE_SEARCH, 'Grep'].some((name) => findOutcome(situation, name));
  const isListed = findOutcome(situation, 'Glob') !== undefined;
  return isListed ? !isSearched && listedPaths(situation).length > 0 : !isSearched;
}

/**
 * Plans the calls for an outline: first Glob finds the files, then Read opens them. Of a directory, only the
 * most informative files are opened.
 */
export function outlineCalls(
  { outlinedFiles, outlinedDirectory }: Intent,
  situation: Situation,
): readonly PlannedCall[] {
  if (findOutcome(situation, 'Read') !== undefined) return [];
  const isListed = findOutcome(situation, 'Glob') !== undefined || !situation.tools.has('Glob');
  if (outlinedDirectory !== null) {
    if (!isListed)
      return [glob(outlinedDirectory === '.' ? '**/*' : `**/${literal(outlinedDirectory)}/**/*`)];
    return filesOf(outlinedDirectory, situation)
      .filter((path) => !isSecretPath(path))
      .slice(0, OPENED_OF_DIRECTORY)
      .map((path) => read({ file_path: path, limit: DIRECTORY_LINES }));
  }
  if (!isListed) {
    return outlinedFiles.map((path) =>
      glob(path.includes('/') ? literal(path) : `**/${literal(path)}`),
    );
  }
  const found = listedPaths(situation).slice(0, outlinedFiles.length);
  return (found.length === 0 ? outlinedFiles : found).map((path) => read({ file_path: path }));
}

/** Answers with the definitions of the opened files, or with a line for each file of a directory. */
export function answerWithOutline(intent: Intent, situation: Situation): string {
  const opened = openedFiles(situation);
  const parts: string[] = [
    intent.beyond === null ? LIMITATIONS.outline : LIMITATIONS[intent.beyond],
  ];
  if (intent.outlinedDirectory === null) {
    parts.push(...[...opened].map(([path, lines]) => fileOutline(path, lines)));
    const paths = [...opened.keys()];
    const missing = intent.outlinedFiles.filter(
      (each) => !paths.some((path) => path.endsWith(each)),
    );
    if (missing.length > 0) parts.push(`Not opened: ${missing.map(code).join(', ')}.`);
  } else {
    parts.push(directoryOutline(intent.outlinedDirectory, opened, situation));
  }
  return [...parts, ...failureNote(situation)].join('\n\n');
}

type NumberedLine = readonly [number: number, text: string];

function fileOutline(path: string, lines: readonly NumberedLine[]): string {
  const symbols = symbolsOf(path, lines);
  const comment = firstComment(path, lines);
  const shown = symbols
    .slice(0, MAX_FILE_SYMBOLS)
    .map(([line, text]) => `- \`${path}:${line}\` ${quoteLine(text)}`);
  if (shown.length < symbols.length) shown.push(`- … and ${symbols.length - shown.length} more`);
  const heading = `\`${path}\`, ${plural(lines.length, 'line')} read, ${plural(symbols.length, 'definition or heading', 'definitions or headings')}:`;
  return [heading, ...(comment === null ? [] : [`> ${comment}`, '']), ...shown].join('\n');
}

function directoryOutline(
  directory: string,
  opened: ReadonlyMap<string, readonly NumberedLine[]>,
  situation: Situation,
): string {
  const all = filesOf(directory, situation);
  const total = all.length + (directory === '.' ? hiddenPaths(situation) : 0);
  const secret = all.filter(isSecretPath).length;
  const unopened = all.filter((path) => !isSecretPath(path) && !opened.has(path));
  const name = directory === '.' ? 'The working directory' : `\`${directory}\``;
  const lines = [...opened].map(([path, read]) => fileLine(path, read));
  if (unopened.length > 0) {
    const named = unopened.slice(0, MAX_UNOPENED_NAMES);
    const more = total - secret - opened.size - named.length;
    const rest = more > 0 ? ` and ${more} more` : '';
    lines.push(`- Not opened: ${named.map(code).join(', ')}${rest}`);
  }
  if (secret > 0) {
    lines.push(`- Left closed: ${plural(secret, 'file')} of a kind that holds secrets`);
  }
  const heading = `${name}: ${plural(total, 'file')}, ${opened.size} opened (at most ${OPENED_OF_DIRECTORY}):`;
  return [heading, ...lines].join('\n');
}

function fileLine(path: string, lines: readonly NumberedLine[]): string {
  const symbols = symbolsOf(path, lines);
  const names = symbols.map(([, text]) => findDefinedName(text) ?? text.replace(/^#+/, ''));
  const more = names.length - MAX_LINE_SYMBOLS;
  const list = names.slice(0, MAX_LINE_SYMBOLS).map(code).join(', ');
  const rest = more > 0 ? ` and ${more} more` : '';
  const parts = [
    `\`${path}:${symbols[0]?.[0] ?? 1}\``,
    firstComment(path, lines),
    `${list}${rest}`,
  ];
  return `- ${parts.filter((part) => part !== null && part !== '').join(' · ')}`;
}

function isText(path: string): boolean {
  return isProse(path) && fileKind(path) === 'docs';
}

/** Returns the lines with the definitions of a source file, or with the headings of a text. */
function symbolsOf(path: string, lines: readonly NumberedLine[]): readonly NumberedLine[] {
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

/** The last line at which a comment can be about the whole file. */
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
 * Returns the first sentence of a file's first comment, or of a text below its headings; null if there is none.
 */
function firstComment(path: string, lines: readonly NumberedLine[]): string | null {
  const found: string[] = [];
  let isOpen = false;
  let isLegal = false;
  for (const [, line] of lines.slice(0, MAX_COMMENT_LINE)) {
    const words = line
      .replace(COMMENT_MARK, '')
      .replace(/(?:\*+\/|"""|''')\s*$/, '')
      .trim();
    const isWritten = isText(path)
      ? !/^\s*(?:#|[-=*_`<>![|+]|$)/.test(line)
      : isOpen || COMMENT_MARK.test(line);
    if (!isText(path)) isOpen = staysOpen(line, isOpen);
    isLegal = isWritten && (isLegal || LEGAL.test(words));
    const isUsable = isWritten && !isLegal && /\p{L}{2}/u.test(words) && !DIRECTIVE.test(words);
    if (isUsable) found.push(words);
    else if (found.length > 0) break;
  }
  if (found.length === 0) return null;
  const [sentence = ''] = collapseWhitespace(found.join(' ').replace(/\p{Cc}+/gu, ' ')).split(
    /(?<=[.!?])\s+(?=\p{Lu})/u,
  );
  const cut = truncate(sentence, MAX_COMMENT_CHARS);
  return cut.length < sentence.length ? `${cut}…` : cut;
}

/** Returns true if the next line is inside a block comment, in which lines need no comment mark. */
function staysOpen(line: string, wasOpen: boolean): boolean {
  if (wasOpen) return !/\*\/|"""|'''/.test(line);
  const opened = /^\s*(?:\/\*|"""|''')/.exec(line);
  return opened !== null && !/\*\/|"""|'''/.test(line.slice(opened[0].length));
}

/** Returns the lines of the files that Read has opened, by path. */
function openedFiles({ rounds, cwd }: Situation): ReadonlyMap<string, readonly NumberedLine[]> {
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

/** Matches the notes of Glob that are no paths. A path may also begin with a bracket. */
const NOTE =
  /^(?:\[(?:no|not|stopped|cut|more than|the file|up to|\d+ more|\d+ [a-z ]+ left out)\b|…|\.\.\.|no (?:files?|match|paths?)\b)/i;

function globLines({ rounds }: Situation): readonly string[] {
  const results = rounds.flat().filter(({ call }) => call.name === 'Glob');
  return results.flatMap(({ result }) =>
    result?.isError === false ? result.text.split('\n') : [],
  );
}

/** Returns the paths that Glob listed. Paths with control characters are never shown. */
function listedPaths(situation: Situation): readonly string[] {
  const paths = globLines(situation).filter(
    (line) =>
      line !== '' && line.length <= MAX_PATH_CHARS && !NOTE.test(line) && !/\p{Cc}/u.test(line),
  );
  const all = paths.map((path) => relativePath(path, situation.cwd));
  return [...new Set(all.filter((path) => !hasEscapes(path)))].slice(0, MAX_PATHS);
}

/** Returns true if a path is shown as a JSON string, as tools do for names with control characters. */
function hasEscapes(path: string): boolean {
  return /^".*\\.*"$/.test(path);
}

/** Returns the number of paths that Glob says it left out. */
function hiddenPaths(situation: Situation): number {
  const [, more = '0'] =
    globLines(situation)
      .map((line) => /^\[(\d{1,9}) more\b/.exec(line))
      .find((match) => match !== null) ?? [];
  return Number(more);
}

function relativePath(path: string, cwd: string): string {
  return (path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path).replace(/^\.\//, '');
}

/**
 * Returns the listed files of a directory, the most informative first: those of the directory at this path, or
 * else those of all directories with this name.
 */
function filesOf(directory: string, situation: Situation): readonly string[] {
  const all = listedPaths(situation);
  const here = all.filter((path) => path.startsWith(`${directory}/`));
  const depth = (path: string) => path.split('/').length;
  return (directory === '.' || here.length === 0 ? all : here).toSorted(
    (a, b) => orderOf(a) - orderOf(b) || depth(a) - depth(b) || (a < b ? -1 : 1),
  );
}

const BINARY =
  /\.(?:png|jpe?g|gif|ico|webp|pdf|zip|gz|tgz|bz2|xz|jar|so|exe|wasm|woff2?|ttf|mp[34])$/i;

function orderOf(path: string): number {
  if (/(?:^|\/)readme[^/]*$/i.test(path)) return 0;
  const kind = fileKind(path);
  if (kind === 'source' && !BINARY.test(path)) return 1;
  return kind === 'docs' || kind === 'types' ? 2 : 3;
}

function glob(pattern: string): PlannedCall {
  return { name: 'Glob', input: { pattern } };
}

function read(input: PlannedCall['input']): PlannedCall {
  return { name: 'Read', input };
}

/**
 * Escapes a path for a glob pattern. A character with a meaning in patterns is replaced by `?`, which matches
 * it.
 */
function literal(path: string): string {
  return path.replace(/[*?[\](){}|!,\\]/g, '?');
}

function code(text: string): string {
  return `\`${collapseWhitespace(text)}\``;
}
