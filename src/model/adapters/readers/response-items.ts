import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { objectsOf, textOf } from './reader.ts';

export type ItemType = 'message' | 'reasoning' | 'function_call' | 'unknown';

/** The type of an output item; without one, the type that its fields show. */
export function itemType(item: JsonObject): ItemType {
  const { type } = item;
  if (type === 'message' || type === 'reasoning' || type === 'function_call') return type;
  if (type !== undefined) return 'unknown';
  if (item['call_id'] !== undefined || item['arguments'] !== undefined) return 'function_call';
  if (item['summary'] !== undefined || item['encrypted_content'] !== undefined) return 'reasoning';
  return item['content'] === undefined ? 'unknown' : 'message';
}

/** The text of the content or the summary of an item. */
export function contentText(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  return objectsOf(content)
    .map((part) => textOf(part['text']) ?? textOf(part['refusal']) ?? '')
    .join('');
}

/**
 * The items of an answer that have ended, for the final response, which lists them once more: under other ids
 * with some gateways, and at other places if not all items were streamed.
 */
export class EndedItems {
  private readonly items: JsonObject[] = [];

  add(item: JsonObject): void {
    this.items.push(item);
  }

  /** Removes the item that this one repeats: by its id, its call, or its content. False: there is none. */
  remove(item: JsonObject): boolean {
    const isSame = (field: string) => (each: JsonObject) =>
      textOf(item[field]) !== undefined && item[field] === each[field];
    for (const repeats of [isSame('id'), isSame('call_id'), hasContentOf(item)]) {
      const index = this.items.findIndex(repeats);
      if (index === -1) continue;
      this.items.splice(index, 1);
      return true;
    }
    return false;
  }
}

function hasContentOf(item: JsonObject): (each: JsonObject) => boolean {
  return (each) =>
    itemType(each) === itemType(item) &&
    ['name', 'arguments'].every((field) => each[field] === item[field]) &&
    ['content', 'summary'].every((field) => contentText(each[field]) === contentText(item[field]));
}
