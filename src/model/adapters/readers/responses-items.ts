import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { haveSameArguments } from './call-arguments.ts';
import { chatUsage } from './chat-usage.ts';
import { numberOf, objectOf, objectsOf, textOf } from './reader.ts';
import type { ReportedUsage } from './usage.ts';

/** Events that repeat or describe what others bring; their text is taken from those. */
const REDUNDANT = new Set([
  'keepalive',
  'response.queued',
  'response.content_part.added',
  'response.output_text.annotation.added',
  'response.reasoning_summary_part.done',
  'response.reasoning_part.added',
  'response.reasoning_part.done',
]);

/** Whether an event only repeats or describes what others bring. */
export function isRedundant(type: string): boolean {
  return REDUNDANT.has(type);
}

export type ItemType = 'message' | 'reasoning' | 'function_call' | 'unknown';

/** An item of the output, as far as it has come. */
export interface Item {
  readonly type: ItemType;
  readonly key: string;
  id: string | undefined;
  readonly callId: string | undefined;
  readonly name: string | undefined;
  /** The text that came for it, or the arguments of a call. */
  text: string;
  /** The parts of its content that text has come for. */
  readonly parts: Set<string>;
  /** The index of the part of its summary that is being read. */
  summaryIndex: number;
}

/** Returns the type of an item, by its other fields where it has none. */
export function itemType(item: JsonObject): ItemType {
  const { type } = item;
  if (type === 'message' || type === 'reasoning' || type === 'function_call') return type;
  if (textOf(type) !== undefined) return 'unknown';
  if (item['call_id'] !== undefined || item['arguments'] !== undefined) return 'function_call';
  if (item['content'] !== undefined) return 'message';
  const isThought = item['summary'] !== undefined || item['encrypted_content'] !== undefined;
  return isThought ? 'reasoning' : 'unknown';
}

/**
 * Returns the item that one of the final response repeats: by its id, by the id of its call, by what it says,
 * or by its place if neither has an id. Gateways number the items otherwise, and make up other ids.
 */
export function repeatedItem(
  sent: JsonObject,
  key: string,
  items: readonly Item[],
): Item | undefined {
  const type = itemType(sent);
  const [id, callId] = [textOf(sent['id']), textOf(sent['call_id'])];
  const same = items.filter((item) => item.type === type);
  return (
    same.find((item) => id !== undefined && item.id === id) ??
    same.find((item) => callId !== undefined && item.callId === callId) ??
    same.find((item) => saysSame(item, sent)) ??
    same.find((item) => item.key === key && isOneOf(type, item, sent))
  );
}

/** Whether an item at the same place can only be the same one: it has the same name, or its text was cut. */
function isOneOf(type: ItemType, item: Item, sent: JsonObject): boolean {
  if (type !== 'function_call') return true;
  return item.callId === undefined || textOf(sent['call_id']) === undefined;
}

function saysSame(item: Item, sent: JsonObject): boolean {
  switch (item.type) {
    case 'message':
      return item.text.trim() === contentText(sent['content']).trim();
    case 'reasoning':
      return (
        item.text.trim() === (contentText(sent['summary']) || contentText(sent['content'])).trim()
      );
    case 'function_call':
      return (
        item.name === textOf(sent['name']) && haveSameArguments(item.text, argumentsIn(sent) ?? '')
      );
    case 'unknown':
      return false;
  }
}

/** Returns the raw arguments of a call; undefined: it has none. */
export function argumentsIn(sent: JsonObject): string | undefined {
  const given = sent['arguments'];
  return isJsonObject(given) ? JSON.stringify(given) : textOf(given);
}

/** Returns the part of an item that an event is about. */
export function partOf(event: JsonObject): string {
  return `${numberOf(event['summary_index']) ?? ''}:${numberOf(event['content_index']) ?? 0}`;
}

export function named(name: JsonValue | undefined): JsonObject {
  const text = textOf(name);
  return text === undefined ? {} : { name: text };
}

export function reasoningKey({ key, summaryIndex }: Item): string {
  return `${key}:${summaryIndex}`;
}

/** In the form in which `@ai-sdk/openai` takes it back. */
export function messageMeta({ id, phase }: JsonObject): JsonObject {
  const known = textOf(id);
  return {
    ...(known === undefined ? {} : { itemId: known }),
    ...(typeof phase === 'string' ? { phase } : {}),
  };
}

export function reasoningMeta({ id, encrypted_content: encrypted }: JsonObject): JsonObject {
  const known = textOf(id);
  return {
    ...(known === undefined ? {} : { itemId: known }),
    ...(typeof encrypted === 'string' ? { reasoningEncryptedContent: encrypted } : {}),
  };
}

export function contentText(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  return objectsOf(content)
    .map((part) => textOf(part['text']) ?? textOf(part['refusal']) ?? '')
    .join('');
}

/** Creates an item that nothing has come for yet. */
export function createItem(key: string, sent: JsonObject): Item {
  return {
    type: itemType(sent),
    key,
    id: textOf(sent['id']),
    callId: textOf(sent['call_id']),
    name: textOf(sent['name']),
    text: '',
    parts: new Set(),
    summaryIndex: 0,
  };
}

/** Returns the usage that a response reports. */
export function responsesUsage(usage: JsonObject): ReportedUsage {
  const details = objectOf(usage['input_tokens_details']);
  return { ...chatUsage(usage), cacheWrite: numberOf(details?.['cache_write_tokens']) };
}

/** Returns the text of a part that holds what the model says; undefined: it holds something else. */
export function saidIn(part: JsonValue | undefined): JsonValue | undefined {
  const fields = objectOf(part);
  const type = fields?.['type'];
  return type === undefined || type === 'output_text' ? fields?.['text'] : undefined;
}
