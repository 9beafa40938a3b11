import { createHash } from 'node:crypto';
import type { JsonPrimitive } from '../../base/json.ts';
import type { CellType } from './cell-edit.ts';
import type { JsonSpan } from './json-spans.ts';
import type { Cell, Notebook } from './notebook.ts';
import {
  deeper,
  indentAt,
  printJson,
  printMembers,
  styleOf,
  type NotebookStyle,
} from './notebook-style.ts';

/** The text of a notebook with another source of one cell; all else stays as it was, byte for byte. */
export function withSource(notebook: Notebook, cell: Cell, source: string): string {
  return spliced(notebook.text, [sourceSplice(notebook, cell, source)]);
}

/** The same with another type: only code has outputs and a count of its runs. Other members stay as they were. */
export function withSourceAndType(
  notebook: Notebook,
  cell: Cell,
  { source, type }: NewCell,
): string {
  const { text } = notebook;
  const base = indentAt(text, cell.start);
  const kept = cell.members.filter(({ name }) => !OWN_MEMBERS.has(name));
  const others = kept.map(({ name, start, end }) => [name, text.slice(start, end)] as const);
  const value = sourceValue(cell, source);
  const by = printCell({ type, source: value, others }, styleOf(notebook), base);
  return spliced(text, [{ ...cell, by }]);
}

/** Members that are written anew with a cell. */
const OWN_MEMBERS: ReadonlySet<string> = new Set([
  'cell_type',
  'execution_count',
  'outputs',
  'source',
]);

/** The text of a notebook without a cell. */
export function withoutCell({ text, list, cells }: Notebook, cell: Cell): string {
  const [before, after] = [cells[cell.number - 2], cells[cell.number]];
  if (after !== undefined) return spliced(text, [{ start: cell.start, end: after.start, by: '' }]);
  if (before !== undefined) return spliced(text, [{ start: before.end, end: cell.end, by: '' }]);
  return spliced(text, [{ ...list, by: '[]' }]);
}

/** A cell that is to be made. */
export interface NewCell {
  readonly type: CellType;
  readonly source: string;
}

/** The text of a notebook with a new cell behind `after`; null: in front of all others. */
export function withCell(
  notebook: Notebook,
  after: Cell | null,
  { type, source }: NewCell,
): { readonly text: string; readonly id: string | null } {
  const { text, list, listMember, cells } = notebook;
  const style = styleOf(notebook);
  const id = notebook.hasIds ? newId(notebook, source) : null;
  const ids = id === null ? [] : [['id', JSON.stringify(id)] as const];
  const parts = { type, source: linesOf(source), others: [...ids, ['metadata', '{}'] as const] };
  const next = after === null ? cells[0] : undefined;
  const beside = after ?? next;
  if (beside === undefined) {
    const base = indentAt(text, listMember.nameStart);
    const inner = deeper(base, style);
    const [open, close] =
      style.unit === null ? ['[', ']'] : [`[${style.lineEnd}${inner}`, `${style.lineEnd}${base}]`];
    const by = `${open}${printCell(parts, style, inner)}${close}`;
    return { text: spliced(text, [{ ...list, by }]), id };
  }
  const base = indentAt(text, beside.start);
  const cell = printCell(parts, style, base);
  const between = style.unit === null ? style.comma : `,${style.lineEnd}${base}`;
  const splice =
    next === undefined
      ? { start: beside.end, end: beside.end, by: between + cell }
      : { start: next.start, end: next.start, by: cell + between };
  return { text: spliced(text, [splice]), id };
}

interface Splice extends JsonSpan {
  readonly by: string;
}

function spliced(text: string, splices: readonly Splice[]): string {
  return splices
    .toSorted((a, b) => b.start - a.start)
    .reduce((whole, { start, end, by }) => whole.slice(0, start) + by + whole.slice(end), text);
}

function sourceSplice(notebook: Notebook, cell: Cell, source: string): Splice {
  const { text } = notebook;
  const style = styleOf(notebook);
  const member = cell.members.findLast(({ name }) => name === 'source');
  const value = sourceValue(cell, source);
  if (member === undefined) {
    const print = `,${style.colon === ':' ? '' : ' '}"source"${style.colon}${printJson(value, style, '')}`;
    return { start: cell.end - 1, end: cell.end - 1, by: print };
  }
  const before = text.slice(member.start, member.end);
  // A list that stands on one line in a file that is laid out otherwise.
  const isInline = !before.includes('\n') && /^\[\s*"/.test(before);
  const inline: NotebookStyle = { ...style, unit: null };
  const base = indentAt(text, member.nameStart);
  return { ...member, by: printJson(value, isInline ? inline : style, base) };
}

/** Kept as the cell keeps its source: as one string, or as a list of lines. */
function sourceValue({ value }: Cell, source: string): Source {
  return typeof value['source'] === 'string' ? source : linesOf(source);
}

/** Lines with their ends, as notebooks have them. */
function linesOf(source: string): readonly string[] {
  return source.match(/[^\n]*\n|[^\n]+/g) ?? [];
}

/** One string, or a list of lines. */
type Source = string | readonly string[];

interface CellParts {
  readonly type: CellType;
  readonly source: Source;
  /** Further members, their values as JSON. */
  readonly others: readonly (readonly [name: string, json: string])[];
}

/** A cell as JSON, its members in the order in which Jupyter writes them. */
function printCell(
  { type, source, others }: CellParts,
  style: NotebookStyle,
  base: string,
): string {
  const inner = deeper(base, style);
  const own: readonly (readonly [string, JsonPrimitive | readonly string[]])[] = [
    ['cell_type', type],
    ...(type === 'code' ? [['execution_count', null] as const, ['outputs', []] as const] : []),
    ['source', source],
  ];
  const printed = own.map(([name, value]) => [name, printJson(value, style, inner)] as const);
  const members = [...printed, ...others].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return printMembers(members, style, base);
}

/** Another id than those that there are; the same for the same change of the same notebook. */
function newId({ text, cells }: Notebook, source: string): string {
  for (let tries = 0; ; tries += 1) {
    const id = createHash('sha256')
      .update(`${tries}\n${source}\n${text}`)
      .digest('hex')
      .slice(0, 8);
    if (cells.every((cell) => cell.id !== id)) return id;
  }
}
