import { createHash } from 'node:crypto';
import type { JsonPrimitive } from '../../base/json.ts';
import type { CellType } from '../edit/apply-edit.ts';
import type { JsonSpan } from '../../base/json-spans.ts';
import type { Cell, Notebook } from './notebook.ts';

/** Replaces the source of a cell. All other bytes of the notebook stay unchanged. */
export function replaceSource(notebook: Notebook, cell: Cell, source: string): string {
  return applySplices(notebook.text, [createSourceSplice(notebook, cell, source)]);
}

/**
 * Replaces the source and the type of a cell. The outputs and the run count are removed, because only code cells have
 * them. Other members are kept.
 */
export function rewriteCell(notebook: Notebook, cell: Cell, to: NewCell): string {
  const { source, type } = to;
  const { text } = notebook;
  const indent = findIndent(text, cell.start);
  const keptMembers = cell.members.filter(({ name }) => !REWRITTEN_MEMBERS.has(name));
  const others = keptMembers.map(({ name, start, end }) => [name, text.slice(start, end)] as const);
  const value = toSourceValue(cell, source);
  const replacement = printCell(
    { type, source: value, others },
    detectNotebookStyle(notebook),
    indent,
  );
  return applySplices(text, [{ ...cell, text: replacement }]);
}

/** The members that are rewritten together with a cell. */
const REWRITTEN_MEMBERS: ReadonlySet<string> = new Set(
  'cell_type execution_count outputs source'.split(' '),
);

/** Removes a cell from the text of a notebook. */
export function removeCell({ text, list, cells }: Notebook, cell: Cell): string {
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
 * Inserts a new cell after another cell, or at the beginning if `after` is null. Returns the new text and the id of the
 * new cell.
 */
export function addCell(
  notebook: Notebook,
  after: Cell | null,
  { type, source }: NewCell,
): { readonly text: string; readonly id: string | null } {
  const { text, list, listMember, cells } = notebook;
  const style = detectNotebookStyle(notebook);
  const id = notebook.hasIds ? createCellId(notebook, source) : null;
  const ids = id === null ? [] : [['id', JSON.stringify(id)] as const];
  const parts = { type, source: splitLines(source), others: [...ids, ['metadata', '{}'] as const] };
  const next = after === null ? cells[0] : undefined;
  const neighbour = after ?? next;
  if (neighbour === undefined) {
    const indent = findIndent(text, listMember.nameStart);
    const innerIndent = deepenIndent(indent, style);
    const [open, close] =
      style.unit === null
        ? ['[', ']']
        : [`[${style.lineEnd}${innerIndent}`, `${style.lineEnd}${indent}]`];
    const replacement = `${open}${printCell(parts, style, innerIndent)}${close}`;
    return { text: applySplices(text, [{ ...list, text: replacement }]), id };
  }
  const indent = findIndent(text, neighbour.start);
  const cell = printCell(parts, style, indent);
  const separator = style.unit === null ? style.comma : `,${style.lineEnd}${indent}`;
  const splice =
    next === undefined
      ? { start: neighbour.end, end: neighbour.end, text: separator + cell }
      : { start: next.start, end: next.start, text: cell + separator };
  return { text: applySplices(text, [splice]), id };
}

/** A replacement of a range of a text. */
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

function createSourceSplice(notebook: Notebook, cell: Cell, source: string): Splice {
  const { text } = notebook;
  const style = detectNotebookStyle(notebook);
  const member = cell.members.findLast(({ name }) => name === 'source');
  const value = toSourceValue(cell, source);
  if (member === undefined) {
    const print = `,${style.colon === ':' ? '' : ' '}"source"${style.colon}${printNotebookValue(value, style, '')}`;
    return { start: cell.end - 1, end: cell.end - 1, text: print };
  }
  const before = text.slice(member.start, member.end);
  // The list may be on one line, even in a file whose other lists have a line for each item. Keep its layout.
  const isInline = !before.includes('\n') && /^\[\s*"/.test(before);
  const inline: NotebookStyle = { ...style, unit: null };
  const indent = findIndent(text, member.nameStart);
  return { ...member, text: printNotebookValue(value, isInline ? inline : style, indent) };
}

/** Returns a source in the form that the cell uses: one string, or a list of lines. */
function toSourceValue({ value }: Cell, source: string): Source {
  return typeof value['source'] === 'string' ? source : splitLines(source);
}

/** Splits a source into lines that keep their ends, as notebooks store them. */
function splitLines(source: string): readonly string[] {
  return source.match(/[^\n]*\n|[^\n]+/g) ?? [];
}

/** A source, stored as one string or as a list of lines. */
type Source = string | readonly string[];

interface CellParts {
  readonly type: CellType;
  readonly source: Source;
  /** Other members with their values as JSON. */
  readonly others: readonly (readonly [name: string, json: string])[];
}

/** Prints a cell as JSON with its members in the order in which Jupyter writes them. */
function printCell(parts: CellParts, style: NotebookStyle, indent: string): string {
  const { type, source, others } = parts;
  const innerIndent = deepenIndent(indent, style);
  const ownMembers: readonly (readonly [string, JsonPrimitive | readonly string[]])[] = [
    ['cell_type', type],
    ...(type === 'code' ? [['execution_count', null] as const, ['outputs', []] as const] : []),
    ['source', source],
  ];
  const printed = ownMembers.map(
    ([name, value]) => [name, printNotebookValue(value, style, innerIndent)] as const,
  );
  const members = [...printed, ...others].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return printNotebookObject(members, style, indent);
}

/**
 * Creates an id that no cell has. The same change of the same notebook gets the same id, so that a rerun gives the same
 * file.
 */
function createCellId({ text, cells }: Notebook, source: string): string {
  for (let attempt = 0; ; attempt += 1) {
    const id = createHash('sha256')
      .update(`${attempt}\n${source}\n${text}`)
      .digest('hex')
      .slice(0, 8);
    if (cells.every((cell) => cell.id !== id)) return id;
  }
}

/** The layout of the JSON of a notebook, so that inserted parts look like the rest. */
interface NotebookStyle {
  /** One level of indentation, or null if everything is on one line. */
  readonly unit: string | null;
  readonly lineEnd: string;
  /** The separator between a name and its value. */
  readonly colon: string;
  /** The separator between items on one line. */
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
    // oxlint-disable-next-line no-control-regex -- the range contains all ASCII characters
    escapes: /\\u[0-9a-f]{4}/i.test(text) && /^[\0-\x7F]*$/.test(text),
  };
}

/** Returns the indentation of the line that contains a position. */
function findIndent(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** Prints a value as JSON in the style of a notebook, for a position that is indented by `indent`. */
function printNotebookValue(
  value: JsonPrimitive | readonly string[],
  style: NotebookStyle,
  indent: string,
): string {
  if (typeof value === 'object' && value !== null) {
    return printBlock(
      ['[', ']'],
      value.map((item) => printScalar(item, style)),
      { style, indent },
    );
  }
  return printScalar(value, style);
}

function printScalar(value: JsonPrimitive, { escapes }: NotebookStyle): string {
  const text = JSON.stringify(value);
  return escapes ? escapeNonAscii(text) : text;
}

/** Prints an object whose member values are already JSON, for a position that is indented by `indent`. */
function printNotebookObject(
  members: readonly (readonly [name: string, json: string])[],
  style: NotebookStyle,
  indent: string,
): string {
  const parts = members.map(([name, json]) => `${JSON.stringify(name)}${style.colon}${json}`);
  return printBlock(['{', '}'], parts, { style, indent });
}

function printBlock(
  [open, close]: readonly [string, string],
  parts: readonly string[],
  { style, indent }: { readonly style: NotebookStyle; readonly indent: string },
): string {
  const { unit, lineEnd, comma } = style;
  if (parts.length === 0) return `${open}${close}`;
  if (unit === null) return `${open}${parts.join(comma)}${close}`;
  const innerIndent = `${lineEnd}${indent}${unit}`;
  return `${open}${innerIndent}${parts.join(`,${innerIndent}`)}${lineEnd}${indent}${close}`;
}

/** Returns the indentation of the parts of a list or object that is indented by `indent`. */
function deepenIndent(indent: string, { unit }: NotebookStyle): string {
  return indent + (unit ?? '');
}

function escapeNonAscii(json: string): string {
  return json.replaceAll(
    /[\u0080-\uFFFF]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
