import type { JsonPrimitive } from '../../base/json.ts';
import type { Notebook } from './notebook.ts';

/** How the JSON of a notebook is laid out, so that what is put in looks like the rest. */
export interface NotebookStyle {
  /** One level of indentation; null: all stands on one line. */
  readonly unit: string | null;
  readonly lineEnd: string;
  /** What stands between a name and its value, and between items on one line. */
  readonly colon: string;
  readonly comma: string;
  /** Whether other letters than those of ASCII are written as escapes. */
  readonly escapes: boolean;
}

export function styleOf({
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
    // oxlint-disable-next-line no-control-regex -- ASCII is what is asked for
    escapes: /\\u[0-9a-f]{4}/i.test(text) && /^[\0-\x7F]*$/.test(text),
  };
}

/** The indentation of the line that holds a position. */
export function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** A value as JSON in the style of a notebook, for a place that is indented by `base`. */
export function printJson(
  value: JsonPrimitive | readonly string[],
  style: NotebookStyle,
  base: string,
): string {
  if (typeof value === 'object' && value !== null) {
    return enclosed(
      ['[', ']'],
      value.map((item) => scalar(item, style)),
      { style, base },
    );
  }
  return scalar(value, style);
}

function scalar(value: JsonPrimitive, { escapes }: NotebookStyle): string {
  const text = JSON.stringify(value);
  return escapes ? escaped(text) : text;
}

/** An object of members whose values are JSON already, laid out for a place one level below `base`. */
export function printMembers(
  members: readonly (readonly [name: string, json: string])[],
  style: NotebookStyle,
  base: string,
): string {
  const parts = members.map(([name, json]) => `${JSON.stringify(name)}${style.colon}${json}`);
  return enclosed(['{', '}'], parts, { style, base });
}

function enclosed(
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

/** The indentation of what stands in a list or object at `base`. */
export function deeper(base: string, { unit }: NotebookStyle): string {
  return base + (unit ?? '');
}

function escaped(json: string): string {
  return json.replaceAll(
    /[\u0080-\uFFFF]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
