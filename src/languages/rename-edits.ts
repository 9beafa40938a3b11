import { isJsonObject } from '../base/json.ts';
import { toFilePath } from './file-uris.ts';
import { withoutByteOrderMark } from './open-documents.ts';

/** The edits of a rename in one file. */
export interface FileEdits {
  /** Absolute. */
  readonly path: string;
  /**
   * Returns the text after the edits; null if they do not fit the text.
   *
   * @param name the old name
   */
  apply(text: string, name: string): string | null;
}

interface TextReplacement {
  readonly start: readonly [line: number, character: number];
  readonly end: readonly [line: number, character: number];
  readonly text: string;
}

/** Reads the answer to a rename request. Returns the reason, as a sentence, if the edits cannot be made. */
export function readRenameEdits(result: unknown): readonly FileEdits[] | string {
  if (!isJsonObject(result)) return [];
  const { changes, documentChanges } = result;
  const byUri: [unknown, unknown][] = Array.isArray(documentChanges)
    ? documentChanges.map((item) => {
        if (!isJsonObject(item) || item['kind'] !== undefined) return [null, null];
        const { textDocument, edits } = item;
        return [isJsonObject(textDocument) ? textDocument['uri'] : null, edits];
      })
    : Object.entries(isJsonObject(changes) ? changes : {});
  const files = new Map<string, TextReplacement[]>();
  for (const [uri, edits] of byUri) {
    const replacements = Array.isArray(edits) ? edits.map(readReplacement) : [null];
    const path = toFilePath(uri);
    if (path === null || replacements.includes(null))
      return 'the rename would do more than change the text of files. Nothing was changed.';
    const known = files.get(path) ?? [];
    known.push(...replacements.filter((each) => each !== null));
    files.set(path, known);
  }
  return Array.from(files, ([path, replacements]) => ({
    path,
    apply: (text, name) => applyEdits(text, replacements, name),
  }));
}

function readReplacement(edit: unknown): TextReplacement | null {
  if (!isJsonObject(edit) || !isJsonObject(edit['range'])) return null;
  const { start, end } = edit['range'];
  const [from, to] = [readPosition(start), readPosition(end)];
  const text = edit['newText'];
  if (from === null || to === null || typeof text !== 'string') return null;
  return { start: from, end: to, text };
}

function readPosition(value: unknown): readonly [number, number] | null {
  if (!isJsonObject(value)) return null;
  const { line, character } = value;
  return isIndex(line) && isIndex(character) ? [line, character] : null;
}

function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Applies the edits of a rename. Some servers count the mark of the byte order as a character of the first line. */
function applyEdits(
  text: string,
  replacements: readonly TextReplacement[],
  name: string,
): string | null {
  const rest = withoutByteOrderMark(text);
  const mark = text.slice(0, text.length - rest.length);
  const renamed = applyReplacements(rest, replacements, name);
  return renamed === null ? applyReplacements(text, replacements, name) : mark + renamed;
}

/**
 * Applies replacements whose positions refer to the text before all of them. A rename changes no number of lines, and
 * replaces the name or inserts text beside it: anything else shows that the server knows another text.
 */
function applyReplacements(
  text: string,
  replacements: readonly TextReplacement[],
  name: string,
): string | null {
  const lines = listLines(text);
  const toOffset = ([line, character]: readonly [number, number]): number => {
    // Some servers replace the text as a whole, up to the line behind the last one.
    if (line === lines.length && character === 0) return text.length;
    const found = lines[line];
    return found === undefined || character > found.length ? Number.NaN : found.start + character;
  };
  const sorted = replacements
    .map(({ start, end, text: inserted }) => ({
      from: toOffset(start),
      to: toOffset(end),
      inserted,
    }))
    .toSorted((a, b) => a.from - b.from);
  let result = '';
  let at = 0;
  for (const { from, to, inserted } of sorted) {
    if (!(from >= at && to >= from)) return null;
    if (!isRenamed(text.slice(from, to), name)) return null;
    result += text.slice(at, from) + inserted;
    at = to;
  }
  result += text.slice(at);
  return listLines(result).length === lines.length ? result : null;
}

/** Tells whether a rename may replace a text: a name that has to do with the old one, or several lines. */
function isRenamed(text: string, name: string): boolean {
  if (/[\r\n]/.test(text)) return true;
  const [replaced, old] = [text.toLowerCase(), name.toLowerCase()];
  return replaced.includes(old) || old.includes(replaced);
}

/** Lists the lines of a text as the protocol counts them, without their ends. */
function listLines(text: string): readonly { readonly start: number; readonly length: number }[] {
  const lines: { start: number; length: number }[] = [];
  let start = 0;
  for (const { index, 0: end } of text.matchAll(/\r\n|\n|\r/g)) {
    lines.push({ start, length: index - start });
    start = index + end.length;
  }
  return [...lines, { start, length: text.length - start }];
}
