import { createHash } from 'node:crypto';
import type { JsonPrimitive } from '../../base/json.ts';
import type { CellType } from '../edit/apply-edit.ts';
import type { JsonSpan } from '../../base/json-spans.ts';
import type { Cell, Notebook } from './notebook.ts';

/** Replaces the source of a cell. All other bytes of the notebook stay as they are. */
export function withSource(notebook: Notebook, cell: Cell, source: string): string {
  return applySplices(notebook.text, [sourceSplice(notebook, cell, source)]);
}

/** Replaces the source and the type of a cell. Only code cells have outputs and a run count; other members are kept. */
export function withSourceAndType(notebook: Notebook, cell: Cell, to: NewCell): string {
  const { source, type } = to;
  const { text } = notebook;
  const base = indentAt(text, cell.start);
  const kept = cell.members.filter(({ name }) => !REWRITTEN_MEMBERS.has(name));
  const others = kept.map(({ name, start, end }) => [name, text.slice(start, end)] as const);
  const value = sourceValue(cell, source);
  const replacement = printCell(
    { type, source: value, others },
    detectNotebookStyle(notebook),
    base,
  );
  return applySplices(text, [{ ...cell, text: replacement }]);
}

/** The members that are rewritten together with a cell. */
const REWRITTEN_MEMBERS: ReadonlySet<string> = new Set(
  'cell_type execution_count outputs source'.split(' '),
);

/** Removes a cell from the text of a notebook. */
export function withoutCell({ text, list, cells }: Notebook, cell: Cell): string {
  const [before, after] = [cells[cell.number - 2], cells[cell.number]];
  if (after !== undefined)
    return applySplices(text, [{ start: cell.start, end: after.start, text: '' }]);
  if (before !== undefined)
    return applySplices(text, [{ start: before.end, end: cell.end, text: '' }]);
  return applySplices(text, [{ ...list, text: '[]' }]);
}

/** The content of a new cell. */
export interface NewCell {
  readonly type: CellType;
  readonly source: string;
}

/**
 * Inserts a new cell after another one, or before all others where `after` is null. Returns the text and the new id.
 */
export function withCell(
  notebook: Notebook,
  after: Cell | null,
  { type, source }: NewCell,
): { readonly text: string; readonly id: string | null } {
  const { text, list, listMember, cells } = notebook;
  const style = detectNotebookStyle(notebook);
  const id = notebook.hasIds ? newId(notebook, source) : null;
  const ids = id === null ? [] : [['id', JSON.stringify(id)] as const];
  const parts = { type, source: linesOf(source), others: [...ids, ['metadata', '{}'] as const] };
  const next = after === null ? cells[0] : undefined;
  const neighbour = after ?? next;
  if (neighbour === undefined) {
    const base = indentAt(text, listMember.nameStart);
    const inner = indentDeeper(base, style);
    const [open, close] =
      style.unit === null ? ['[', ']'] : [`[${style.lineEnd}${inner}`, `${style.lineEnd}${base}]`];
    const replacement = `${open}${printCell(parts, style, inner)}${close}`;
    return { text: applySplices(text, [{ ...list, text: replacement }]), id };
  }
  const base = indentAt(text, neighbour.start);
  const cell = printCell(parts, style, base);
  const between = style.unit === null ? style.comma : `,${style.lineEnd}${base}`;
  const splice =
    next === undefined
      ? { start: neighbour.end, end: neighbour.end, text: between + cell }
      : { start: next.start, end: next.start, text: cell + between };
  return { text: applySplices(text, [splice]), id };
}

interface Splice extends JsonSpan {
  readonly text: string;
}

function applySplices(text: string, splices: readonly Splice[]): string {
  return splices
    .toSorted((a, b) => b.start - a.start)
    .reduce(
      (edited, splice) => edited.slice(0, splice.start) + splice.text + edited.slice(splice.end),
      text,
    );
}

function sourceSplice(notebook: Notebook, cell: Cell, source: string): Splice {
  const { text } = notebook;
  const style = detectNotebookStyle(notebook);
  const member = cell.members.findLast(({ name }) => name === 'source');
  const value = sourceValue(cell, source);
  if (member === undefined) {
    const print = `,${style.colon === ':' ? '' : ' '}"source"${style.colon}${printNotebookValue(value, style, '')}`;
    return { start: cell.end - 1, end: cell.end - 1, text: print };
  }
  const before = text.slice(member.start, member.end);
  // A list on one line in a file whose other lists have a line for each item.
  const isInline = !before.includes('\n') && /^\[\s*"/.test(before);
  const inline: NotebookStyle = { ...style, unit: null };
  const base = indentAt(text, member.nameStart);
  return { ...member, text: printNotebookValue(value, isInline ? inline : style, base) };
}

/** The source in the form that the cell uses: one string, or a list of lines. */
function sourceValue({ value }: Cell, source: string): Source {
  return typeof value['source'] === 'string' ? source : linesOf(source);
}

/** Splits a source into lines that keep their ends, as notebooks store them. */
function linesOf(source: string): readonly string[] {
  return source.match(/[^\n]*\n|[^\n]+/g) ?? [];
}

/** A source as one string, or as a list of lines. */
type Source = string | readonly string[];

interface CellParts {
  readonly type: CellType;
  readonly source: Source;
  /** Other members with their values as JSON. */
  readonly others: readonly (readonly [name: string, json: string])[];
}

/** Prints a cell as JSON with its members in the order in which Jupyter writes them. */
function printCell(parts: CellParts, style: NotebookStyle, base: string): string {
  const { type, source, others } = parts;
  const inner = indentDeeper(base, style);
  const own: readonly (readonly [string, JsonPrimitive | readonly string[]])[] = [
    ['cell_type', type],
    ...(type === 'code' ? [['execution_count', null] as const, ['outputs', []] as const] : []),
    ['source', source],
  ];
  const printed = own.map(
    ([name, value]) => [name, printNotebookValue(value, style, inner)] as const,
  );
  const members = [...printed, ...others].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return printNotebookObject(members, style, base);
}

/** Makes an id that no cell has yet. The same change of the same notebook gets the same id. */
function newId({ text, cells }: Notebook, source: string): string {
  for (let tries = 0; ; tries += 1) {
    const id = createHash('sha256')
      .update(`${tries}\n${source}\n${text}`)
      .digest('hex')
      .slice(0, 8);
    if (cells.every((cell) => cell.id !== id)) return id;
  }
}

/** The layout of the JSON of a notebook, so that inserted parts look like the rest. */
interface NotebookStyle {
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
function detectNotebookStyle(notebook: Pick<Notebook, 'text' | 'listMember'>): NotebookStyle {
  const { text, listMember } = notebook;
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
function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** Prints a value as JSON in the style of a notebook, for a position that is indented by `base`. */
function printNotebookValue(
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
function printNotebookObject(
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
function indentDeeper(base: string, { unit }: NotebookStyle): string {
  return base + (unit ?? '');
}

function escapeNonAscii(json: string): string {
  return json.replaceAll(
    /[\u0080-\uFFFF]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
