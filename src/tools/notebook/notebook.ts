import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { parseJsonLine } from '../../base/jsonl.ts';
import {
  itemSpans,
  memberSpans,
  rootStart,
  type JsonSpan,
  type MemberSpan,
} from '../../base/json-spans.ts';

/** A Jupyter notebook (nbformat 4) with the positions of its parts in the text of its file. */
export interface Notebook {
  readonly text: string;
  /** The language of the kernel, such as `python`, or null if the notebook does not name one. */
  readonly language: string | null;
  /** Whether the notebook's version of the format requires an id for each cell. */
  readonly hasIds: boolean;
  /** The position of the list of cells. */
  readonly list: JsonSpan;
  /** The member of the notebook's JSON object that contains the list. */
  readonly listMember: MemberSpan;
  readonly cells: readonly Cell[];
}

/** A cell of a notebook. */
export interface Cell extends JsonSpan {
  /** The number of the cell, from 1. */
  readonly number: number;
  /** The id, or null if the notebook gives none. */
  readonly id: string | null;
  /** `code`, `markdown` or `raw`. */
  readonly type: string;
  readonly source: string;
  /** The positions of the members of the cell's JSON object. */
  readonly members: readonly MemberSpan[];
  /** The JSON object of the cell. */
  readonly value: JsonObject;
}

/**
 * Parses a notebook. Returns null for any other text, and for formats before version 4, which have no list of cells.
 */
export function parseNotebook(text: string): Notebook | null {
  // A text that is not JSON is not a notebook, whatever the name of its file. It is shown and edited as text.
  const value = parseJsonLine(text);
  if (!isJsonObject(value) || !Array.isArray(value['cells'])) return null;
  const root = memberSpans(text, rootStart(text));
  const listMember = root.findLast(({ name }) => name === 'cells');
  if (listMember === undefined) return null;
  const values: readonly JsonValue[] = value['cells'];
  const spans = itemSpans(text, listMember.start);
  const cells = spans.map((span, index) => parseCell(text, span, { index, value: values[index] }));
  if (cells.some((cell) => cell === null)) return null;
  return {
    text,
    language: findLanguage(value['metadata']),
    hasIds: requiresIds(value),
    list: { start: listMember.start, end: listMember.end },
    listMember,
    cells: cells.filter((cell) => cell !== null),
  };
}

function parseCell(
  text: string,
  span: JsonSpan,
  { index, value }: { readonly index: number; readonly value: JsonValue | undefined },
): Cell | null {
  if (!isJsonObject(value) || typeof value['cell_type'] !== 'string') return null;
  const source = joinLines(value['source']);
  if (source === null) return null;
  const id = typeof value['id'] === 'string' ? value['id'] : null;
  const members = memberSpans(text, span.start);
  return { ...span, number: index + 1, id, type: value['cell_type'], source, members, value };
}

/** Joins a text that a notebook stores as one string or as a list of lines. Returns null for any other value. */
export function joinLines(value: JsonValue | undefined): string | null {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return null;
  return value.every((line: JsonValue) => typeof line === 'string') ? value.join('') : null;
}

function findLanguage(metadata: JsonValue | undefined): string | null {
  if (!isJsonObject(metadata)) return null;
  const { language_info: info, kernelspec: kernel } = metadata;
  const name = isJsonObject(info) ? info['name'] : undefined;
  const language = isJsonObject(kernel) ? kernel['language'] : undefined;
  return [name, language].find((each) => typeof each === 'string') ?? null;
}

function requiresIds({ nbformat, nbformat_minor: minor }: JsonObject): boolean {
  const major = typeof nbformat === 'number' ? nbformat : 4;
  return major > 4 || (major === 4 && typeof minor === 'number' && minor >= 5);
}

/** Names a cell in a result by its number and, if it has one, its id. */
export function cellName({ number, id }: Pick<Cell, 'number' | 'id'>): string {
  return id === null ? `cell ${number}` : `cell ${number} (id ${id})`;
}

/**
 * Finds the cell that a call names by its id or by its number. If there is no such cell, returns a message that says
 * so.
 */
export function findCell({ cells }: Notebook, name: string): Cell | string {
  const named = cells.filter(({ id }) => id === name);
  if (named.length > 1) return `cell_id: ${named.length} cells have the id ${name}; give a number`;
  const [byId] = named;
  if (byId !== undefined) return byId;
  const number = Number(/^(?:cell-)?(\d{1,9})$/.exec(name)?.[1] ?? Number.NaN);
  const byNumber = cells[number - 1];
  if (byNumber !== undefined) return byNumber;
  const ids = cells.flatMap(({ id }) => (id === null ? [] : [id]));
  const valid = [
    cells.length === 0 ? 'none, it has no cells' : `a number from 1 to ${cells.length}`,
    ...(ids.length === 0
      ? []
      : [
          `an id (${ids.slice(0, MAX_NAMED_IDS).join(', ')}${ids.length > MAX_NAMED_IDS ? ', …' : ''})`,
        ]),
  ];
  return `cell_id: there is no cell ${JSON.stringify(name)}; valid: ${valid.join(', or ')}`;
}

/** The maximum number of ids that a message names. */
const MAX_NAMED_IDS = 20;
