import { isJsonObject } from '../../base/json.ts';
import { mergeFacts, type ListedModel } from '../../protocol/listed-model.ts';
import { readListedModel } from './read-model.ts';

/** The maximum number of models of a provider. The largest lists have a few thousand. */
export const MAX_MODELS = 5000;
/** The maximum length of the mark of the next page. */
const MAX_CURSOR_LENGTH = 2000;

/**
 * Finds the entries of a list: the document itself, or its field `data` or `models`. Returns null if the document is
 * no list of models.
 */
export function findEntries(document: unknown): readonly unknown[] | null {
  if (Array.isArray(document)) return document;
  if (!isJsonObject(document)) return null;
  // llama.cpp sends both. Its `models` imitate Ollama and lack most facts.
  for (const field of ['data', 'models']) {
    const list: unknown = document[field];
    if (Array.isArray(list)) return list;
  }
  // Ollama without a model.
  return document['object'] === 'list' && document['data'] === null ? [] : null;
}

/** The models of a list by their ids, as far as they have been read. */
export class ModelRows {
  /** True if there are more models than are kept. */
  isCut = false;
  private readonly byId = new Map<string, ListedModel>();

  get size(): number {
    return this.byId.size;
  }

  get models(): readonly ListedModel[] {
    return [...this.byId.values()];
  }

  /** Adds the entries of a list. Returns true if there was a new id. */
  addEntries(entries: readonly unknown[]): boolean {
    const before = this.byId.size;
    for (const entry of entries) {
      const model = readListedModel(entry);
      if (model !== null) this.add(model);
      if (this.isCut) break;
    }
    return this.byId.size > before;
  }

  /** Adds a model. A repeated id, which some proxies have for each server behind them, is one model. */
  add(model: ListedModel): void {
    const known = this.byId.get(model.id);
    if (known !== undefined) this.byId.set(model.id, mergeFacts(known, model));
    else if (this.byId.size < MAX_MODELS) this.byId.set(model.id, model);
    else this.isCut = true;
  }

  /** Adds facts to a model, which count more than those that are known. Returns false for an unknown id. */
  refine(model: ListedModel): boolean {
    const known = this.byId.get(model.id);
    if (known === undefined) return false;
    this.byId.set(model.id, mergeFacts(model, known));
    return true;
  }
}

/** Returns the query parameter for the next page of a list; null: there is none. */
export function findNextPage(
  document: unknown,
  cursorName: 'after_id' | 'after',
): readonly [name: string, cursor: string] | null {
  if (!isJsonObject(document)) return null;
  const { nextPageToken, has_more: hasMore, last_id: lastId } = document;
  if (isCursor(nextPageToken)) return ['pageToken', nextPageToken];
  return hasMore === true && isCursor(lastId) ? [cursorName, lastId] : null;
}

function isCursor(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_CURSOR_LENGTH;
}
