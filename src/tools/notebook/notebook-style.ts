import type { JsonPrimitive } from '../../base/json.ts';
import type { Notebook } from './notebook.ts';

/** The layout of the JSON of a notebook, so that inserted parts look like the rest. */
export interface NotebookStyle {
  /** One level of indentation; null when everything is on one line. */
  readonly unit: string | null;
  readonly lineEnd: string;
  /** The separators between a name and its value, and between items on one line. */
  readonly colon: string;
  readonly comma: string;
  /** Whether characters beyond ASCII are written as escapes. */
  readonly escapes: boolean;
}

/** Detects the layout of a notebook. */
export function detectNotebookStyle({
  text,
  listMember,
}: Pick<Notebook, 'text' | 'listMember'>): NotebookStyle {
  const unit = /^\s*\{\r?\n([ \t]*)"/.exec(text)?.[1] ?? null;
  const isSpaced = /":\s/.test(text.slice(listMember.nameStart, listMember.start + 1));
  return {
    unit,
    lineEnd: text.includes('\r\n') ? '\r\n' : '\n',
    colon: isSpaced ? ': ' : ':',
    comma: isSpaced ? ', ' : ',',
    // oxlint-disable-next-line no-control-regex -- the range is all of ASCII
    escapes: /\\u[0-9a-f]{4}/i.test(text) && /^[\0-\x7F]*$/.test(text),
  };
}

/** The indentation of the line that contains a position. */
export function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** Prints a value as JSON in the style of a notebook, for a position that is indented by `base`. */
export function printNotebookValue(
  value: JsonPrimitive | readonly string[],
  style: NotebookStyle,
  base: string,
): string {
  if (typeof value === 'object' && value !== null) {
    return printBlock(
      ['[', ']'],
      value.map((item) => printScalar(item, style)),
      { style, base },
    );
  }
  return printScalar(value, style);
}

function printScalar(value: JsonPrimitive, { escapes }: NotebookStyle): string {
  const text = JSON.stringify(value);
  return escapes ? escapeNonAscii(text) : text;
}

/** Prints an object whose member values are already JSON, for a position that is indented by `base`. */
export function printNotebookObject(
  members: readonly (readonly [name: string, json: string])[],
  style: NotebookStyle,
  base: string,
): string {
  const parts = members.map(([name, json]) => `${JSON.stringify(name)}${style.colon}${json}`);
  return printBlock(['{', '}'], parts, { style, base });
}

function printBlock(
  [open, close]: readonly [string, string],
  parts: readonly string[],
  { style, base }: { readonly style: NotebookStyle; readonly base: string },
): string {
  const { unit, lineEnd, comma } = style;
  if (parts.length === 0) return `${open}${close}`;
  if (unit === null) return `${open}${parts.join(comma)}${close}`;
  const inner = `${lineEnd}${base}${unit}`;
  return `${open}${inner}${parts.join(`,${inner}`)}${lineEnd}${base}${close}`;
}

/** The indentation of the parts of a list or object that is indented by `base`. */
export function indentDeeper(base: string, { unit }: NotebookStyle): string {
  return base + (unit ?? '');
}

function escapeNonAscii(json: string): string {
  return json.replaceAll(
    /[\u0080-\uFFFF]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
