import { formatLineNumbers } from '../shared/output.ts';
import type { PatchChunk, PatchLine } from '../../protocol/patch.ts';

/** The result of applying the changes of a patch to the text of a file. */
export type AppliedChunks =
  | {
      readonly ok: true;
      readonly text: string;
      /** The numbers, from 1, of the lines of the old text at which the changes begin. */
      readonly lines: readonly number[];
      /** Sentences about places that were not exactly as the patch says. Usually empty. */
      readonly notes: readonly string[];
    }
  /** `line`: the number, from 1, of the line of the patch at which the change begins that does not fit. */
  | { readonly ok: false; readonly line: number; readonly problem: string };

/** A line of a file and its own line end, which is empty for the last line of a file that does not end with one. */
interface FileLine {
  readonly text: string;
  readonly end: string;
}

/**
 * Applies changes to a text, each below the one before it. A place is looked for in exactly the given form first, then
 * without regard to white space at the ends of lines, to indentation, and to the forms of quotes and dashes, as the
 * published implementation does. Kept lines stay as they are in the file. Added lines end with `lineEnd`.
 */
export function applyChunks(
  text: string,
  chunks: readonly PatchChunk[],
  lineEnd: '\n' | '\r\n',
): AppliedChunks {
  const file = splitLines(text);
  const searched = createSearchedFile(file);
  const result: FileLine[] = [];
  const lines: number[] = [];
  const notes: string[] = [];
  let position = 0;
  for (const chunk of chunks) {
    const place = findPlace(searched, chunk, position);
    if (!place.ok) return { ok: false, line: chunk.line, problem: place.problem };
    for (const line of file.slice(position, place.index)) result.push(line);
    lines.push(place.index + 1);
    if (place.note !== undefined) notes.push(place.note);
    position = place.index;
    for (const line of chunk.lines) {
      if (line.kind === 'add') {
        result.push({ text: line.text, end: lineEnd });
        continue;
      }
      const old = file[position];
      if (old !== undefined && line.kind === 'keep') result.push(old);
      position += 1;
    }
  }
  for (const line of file.slice(position)) result.push(line);
  return { ok: true, text: joinLines(result, file, lineEnd), lines, notes };
}

function splitLines(text: string): readonly FileLine[] {
  return [...text.matchAll(/([^\n]*?)(\r?\n|$)/g)]
    .map(([, line = '', end = '']) => ({ text: line, end }))
    .filter(({ text: line, end }) => line !== '' || end !== '');
}

/** Joins lines. The last line ends as that of the file before the change did: with a line end or without one. */
function joinLines(
  lines: readonly FileLine[],
  before: readonly FileLine[],
  lineEnd: '\n' | '\r\n',
): string {
  const last = before.at(-1);
  const endsOpen = last !== undefined && last.end === '';
  return lines
    .map(({ text, end }, index) => {
      if (index === lines.length - 1) return endsOpen ? text : text + (end === '' ? lineEnd : end);
      return text + (end === '' ? lineEnd : end);
    })
    .join('');
}

type Place =
  | { readonly ok: true; readonly index: number; readonly note?: string }
  | { readonly ok: false; readonly problem: string };

/** Finds the index of the first line of a change. Lines before `start` belong to earlier changes. */
function findPlace(file: SearchedFile, chunk: PatchChunk, start: number): Place {
  let from = start;
  for (const line of chunk.above) {
    const found = findLines(file, [line], from);
    if (found === null) return { ok: false, problem: describeMissingLine(file, line, from) };
    from = found.index + 1;
  }
  const old = chunk.lines.filter(({ kind }) => kind !== 'add').map(({ text }) => text);
  if (old.length === 0)
    return { ok: true, index: chunk.above.length > 0 ? from : file.lines.length };
  const atEnd = Math.max(from, file.lines.length - old.length);
  const found = (chunk.isAtEnd ? findLines(file, old, atEnd) : null) ?? findLines(file, old, from);
  if (found === null) return { ok: false, problem: describeMissingLines(file, old, from) };
  const note = describeLooseness(found, chunk.lines);
  return { ok: true, index: found.index, ...(note === undefined ? {} : { note }) };
}

interface FoundLines {
  readonly index: number;
  /** The numbers, from 1, of the lines at which the same lines occur again below. */
  readonly others: readonly number[];
  /** The difference that was disregarded to find the lines; null: they are exactly as in the patch. */
  readonly disregarded: string | null;
}

interface Form {
  readonly disregards: string | null;
  readonly fold: (line: string) => string;
}

const LOOSEST_FORM: Form = {
  disregards: 'the forms of quotes, dashes and spaces',
  fold: foldPunctuation,
};

/** The forms in which lines are compared, from the strictest to the loosest. */
const FORMS: readonly Form[] = [
  { disregards: null, fold: (line) => line },
  { disregards: 'white space at the ends of lines', fold: (line) => line.trimEnd() },
  { disregards: 'indentation', fold: (line) => line.trim() },
  LOOSEST_FORM,
];

function foldPunctuation(line: string): string {
  return line
    .trim()
    .replaceAll(/[\u2010-\u2015\u2212]/g, '-')
    .replaceAll(/[\u2018-\u201b]/g, "'")
    .replaceAll(/[\u201c-\u201f]/g, '"')
    .replaceAll(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' ');
}

/** The lines of a file, in the forms in which they are compared. */
interface SearchedFile {
  readonly lines: readonly FileLine[];
  /** Returns the lines in one of FORMS. */
  fold(form: Form): readonly string[];
}

function createSearchedFile(lines: readonly FileLine[]): SearchedFile {
  const folded = new Map<Form, readonly string[]>();
  return {
    lines,
    fold: (form) => {
      const known = folded.get(form) ?? lines.map(({ text }) => form.fold(text));
      folded.set(form, known);
      return known;
    },
  };
}

/** The maximum number of places that are looked for. */
const MAX_PLACES = 20;

function findLines(
  file: SearchedFile,
  wanted: readonly string[],
  start: number,
): FoundLines | null {
  for (const form of FORMS) {
    const { disregards } = form;
    const matches = findMatches(file.fold(form), wanted.map(form.fold), start);
    const [index, ...others] = matches;
    if (index !== undefined) {
      return { index, others: others.map((each) => each + 1), disregarded: disregards };
    }
  }
  return null;
}

/** Returns the indexes at which lines occur in a file, at most MAX_PLACES. */
function findMatches(
  lines: readonly string[],
  wanted: readonly string[],
  start: number,
): readonly number[] {
  const matches: number[] = [];
  const last = wanted.length - 1;
  for (let index = start; index + last < lines.length && matches.length < MAX_PLACES; index += 1) {
    // The last line is compared first, since a change often begins with lines that are frequent in the file.
    if (lines[index + last] !== wanted[last]) continue;
    if (wanted.every((line, offset) => lines[index + offset] === line)) matches.push(index);
  }
  return matches;
}

/** Says how a place differs from what the patch says, if it does. */
function describeLooseness(
  { index, others, disregarded }: FoundLines,
  lines: readonly PatchLine[],
): string | undefined {
  const line = index + 1;
  const size = lines.filter(({ kind }) => kind !== 'add').length;
  const place = size === 1 ? `line ${line}` : `lines ${line} to ${line + size - 1}`;
  const also =
    others.length === 0 ? '' : `; the same lines occur again at ${formatLineNumbers(others)}`;
  if (disregarded !== null) return `${place} found without regard to ${disregarded}${also}`;
  return others.length === 0 ? undefined : `the first match was changed, ${place}${also}`;
}

function describeMissingLine(file: SearchedFile, line: string, from: number): string {
  const above = findLines(file, [line], 0);
  const where = above === null ? 'the file does not have' : `below line ${from} there is not`;
  return `${where} the line of @@ ${quoteLine(line)}${describeEarlierPlace(above)}`;
}

/** Names the place that fits best: the one at which the most lines from the first one on are as expected. */
function describeMissingLines(file: SearchedFile, wanted: readonly string[], from: number): string {
  const earlier = findLines(file, wanted, 0);
  if (earlier !== null)
    return `the lines are not below line ${from}${describeEarlierPlace(earlier)}`;
  const folded = wanted.map(LOOSEST_FORM.fold);
  const lines = file.fold(LOOSEST_FORM);
  let best = { index: 0, length: 0 };
  for (let index = 0; index < lines.length; index += 1) {
    // Only a longer match than the best one counts.
    if (lines[index + best.length] !== folded[best.length]) continue;
    let length = 0;
    while (
      length < folded.length &&
      index + length < lines.length &&
      lines[index + length] === folded[length]
    ) {
      length += 1;
    }
    if (length > best.length) best = { index, length };
  }
  const expected = quoteLine(wanted[best.length] ?? '');
  if (best.length === 0) return `the file does not have the line ${expected}`;
  const at = best.index + best.length;
  const found =
    file.lines[at] === undefined
      ? 'the file ends'
      : `the file has ${quoteLine(file.lines[at].text)}`;
  return `at line ${at + 1} the patch expects ${expected}, and ${found}`;
}

function describeEarlierPlace(found: FoundLines | null): string {
  if (found === null) return '';
  return `, but at line ${found.index + 1}: give the changes of a file in the order of its lines`;
}

/** The maximum length of a line in a message. */
const MAX_QUOTED = 160;

function quoteLine(line: string): string {
  return JSON.stringify(line.length > MAX_QUOTED ? `${line.slice(0, MAX_QUOTED)}…` : line);
}
