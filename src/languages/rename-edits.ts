import { fileURLToPath } from 'node:url';
import { isJsonObject } from '../base/json.ts';

/** The edits of a rename in one file. */
export interface FileEdits {
  /** Absolute. */
  readonly path: string;
  /** Returns the text after the edits; null if they do not fit the text. */
  apply(text: string): string | null;
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
    if (typeof uri !== 'string' || !uri.startsWith('file:') || replacements.includes(null))
      return 'the rename would do more than change the text of files. Nothing was changed.';
    const path = fileURLToPath(uri);
    const known = files.get(path) ?? [];
    known.push(...replacements.filter((each) => each !== null));
    files.set(path, known);
  }
  return Array.from(files, ([path, replacements]) => ({
    path,
    apply: (text) => applyReplacements(text, replacements),
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
  return typeof line === 'number' && typeof character === 'number' ? [line, character] : null;
}

/** Applies replacements whose positions refer to the text before all of them. */
function applyReplacements(text: string, replacements: readonly TextReplacement[]): string | null {
  const lineStarts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1))
    lineStarts.push(at + 1);
  const toOffset = ([line, character]: readonly [number, number]): number => {
    const start = lineStarts[line];
    return start === undefined ? Number.NaN : start + character;
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
    if (!(from >= at && to >= from && to <= text.length)) return null;
    result += text.slice(at, from) + inserted;
    at = to;
  }
  return result + text.slice(at);
}
