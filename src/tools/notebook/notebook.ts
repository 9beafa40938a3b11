import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { itemSpans, memberSpans, rootStart, type JsonSpan, type MemberSpan } from './json-spans.ts';

/** A Jupyter notebook (nbformat 4) with the places of its parts in the text of its file. */
export interface Notebook {
  readonly text: string;
  /** As its kernel says, such as `python`; null: it does not. */
  readonly language: string | null;
  /** Whether its version of the format wants an id for each cell. */
  readonly hasIds: boolean;
  /** The list of cells. */
  readonly list: JsonSpan;
  /** The member of the file that holds the list. */
  readonly listMember: MemberSpan;
  readonly cells: readonly Cell[];
}

export interface Cell extends JsonSpan {
  /** From 1. */
  readonly number: number;
  /** Null: the notebook gives it none. */
  readonly id: string | null;
  /** `code`, `markdown` or `raw`. */
  readonly type: string;
  readonly source: string;
  readonly members: readonly MemberSpan[];
  readonly value: JsonObject;
}

/** The notebook that a text is; null: it is none, or of a format before 4, which has no list of cells. */
export function parseNotebook(text: string): Notebook | null {
  const value = parsed(text);
  if (!isJsonObject(value) || !Array.isArray(value['cells'])) return null;
  const root = memberSpans(text, rootStart(text));
  const listMember = root.findLast(({ name }) => name === 'cells');
  if (listMember === undefined) return null;
  const values: readonly JsonValue[] = value['cells'];
  const spans = itemSpans(text, listMember.start);
  const cells = spans.map((span, index) => cellOf(text, span, { index, value: values[index] }));
  if (cells.some((cell) => cell === null)) return null;
  return {
    text,
    language: languageOf(value['metadata']),
    hasIds: wantsIds(value),
    list: { start: listMember.start, end: listMember.end },
    listMember,
    cells: cells.filter((cell) => cell !== null),
  };
}

function parsed(text: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    // Not JSON, so no notebook, whatever its name: it is shown and edited as text.
    return null;
  }
}

function cellOf(
  text: string,
  span: JsonSpan,
  { index, value }: { readonly index: number; readonly value: JsonValue | undefined },
): Cell | null {
  if (!isJsonObject(value) || typeof value['cell_type'] !== 'string') return null;
  const source = textOf(value['source']);
  if (source === null) return null;
  const id = typeof value['id'] === 'string' ? value['id'] : null;
  const members = memberSpans(text, span.start);
  return { ...span, number: index + 1, id, type: value['cell_type'], source, members, value };
}

/** A text that a notebook keeps as one string or as a list of lines; null: it is neither. */
export function textOf(value: JsonValue | undefined): string | null {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return null;
  return value.every((line: JsonValue) => typeof line === 'string') ? value.join('') : null;
}

function languageOf(metadata: JsonValue | undefined): string | null {
  if (!isJsonObject(metadata)) return null;
  const { language_info: info, kernelspec: kernel } = metadata;
  const name = isJsonObject(info) ? info['name'] : undefined;
  const language = isJsonObject(kernel) ? kernel['language'] : undefined;
  return [name, language].find((each) => typeof each === 'string') ?? null;
}

function wantsIds({ nbformat, nbformat_minor: minor }: JsonObject): boolean {
  const major = typeof nbformat === 'number' ? nbformat : 4;
  return major > 4 || (major === 4 && typeof minor === 'number' && minor >= 5);
}

/** How a cell is called in results: by its number, and by its id where it has one. */
export function cellName({ number, id }: Pick<Cell, 'number' | 'id'>): string {
  return id === null ? `cell ${number}` : `cell ${number} (id ${id})`;
}

/** The cell that a call names by its id, or by its number as Read shows it; in words why there is none. */
export function findCell({ cells }: Notebook, word: string): Cell | string {
  const named = cells.filter(({ id }) => id === word);
  if (named.length > 1) return `cell_id: ${named.length} cells have the id ${word}; give a number`;
  const [only] = named;
  if (only !== undefined) return only;
  const number = Number(/^(?:cell-)?(\d{1,9})$/.exec(word)?.[1] ?? Number.NaN);
  const counted = cells[number - 1];
  if (counted !== undefined) return counted;
  const ids = cells.flatMap(({ id }) => (id === null ? [] : [id]));
  const valid = [
    cells.length === 0 ? 'none, it has no cells' : `a number from 1 to ${cells.length}`,
    ...(ids.length === 0
      ? []
      : [`an id (${ids.slice(0, MOST_IDS).join(', ')}${ids.length > MOST_IDS ? ', …' : ''})`]),
  ];
  return `cell_id: there is no cell ${JSON.stringify(word)}; valid: ${valid.join(', or ')}`;
}

/** So many ids are named at most. */
const MOST_IDS = 20;
