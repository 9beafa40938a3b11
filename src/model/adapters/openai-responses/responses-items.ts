import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { areSameArguments } from '../answers/call-arguments.ts';
import { readChatUsage } from '../openai-chat/chat-usage.ts';
import { asNumber, asObject, asObjects, asText } from '../answers/answer-reader.ts';
import type { ReportedUsage } from '../answers/reported-usage.ts';

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
export function isRedundantEvent(type: string): boolean {
  return REDUNDANT.has(type);
}

export type OutputItemType = 'message' | 'reasoning' | 'function_call' | 'unknown';

/** An item of the output, as far as it has come. */
export interface OutputItem {
  readonly type: OutputItemType;
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
export function classifyItem(item: JsonObject): OutputItemType {
  const { type } = item;
  if (type === 'message' || type === 'reasoning' || type === 'function_call') return type;
  if (asText(type) !== undefined) return 'unknown';
  if (item['call_id'] !== undefined || item['arguments'] !== undefined) return 'function_call';
  if (item['content'] !== undefined) return 'message';
  const isThought = item['summary'] !== undefined || item['encrypted_content'] !== undefined;
  return isThought ? 'reasoning' : 'unknown';
}

/**
 * Returns the item that one of the final response repeats: by its id, by the id of its call, by what it says,
 * or by its place if neither has an id. Gateways number the items otherwise, and make up other ids.
 */
export function findRepeatedItem(
  sent: JsonObject,
  key: string,
  items: readonly OutputItem[],
): OutputItem | undefined {
  const type = classifyItem(sent);
  const [id, callId] = [asText(sent['id']), asText(sent['call_id'])];
  const same = items.filter((item) => item.type === type);
  return (
    same.find((item) => id !== undefined && item.id === id) ??
    same.find((item) => callId !== undefined && item.callId === callId) ??
    same.find((item) => saysSame(item, sent)) ??
    same.find((item) => item.key === key && isOneOf(type, item, sent))
  );
}

/** Whether an item at the same place can only be the same one: it has the same name, or its text was cut. */
function isOneOf(type: OutputItemType, item: OutputItem, sent: JsonObject): boolean {
  if (type !== 'function_call') return true;
  return item.callId === undefined || asText(sent['call_id']) === undefined;
}

function saysSame(item: OutputItem, sent: JsonObject): boolean {
  switch (item.type) {
    case 'message':
      return item.text.trim() === joinContentText(sent['content']).trim();
    case 'reasoning':
      return (
        item.text.trim() ===
        (joinContentText(sent['summary']) || joinContentText(sent['content'])).trim()
      );
    case 'function_call':
      return (
        item.name === asText(sent['name']) && areSameArguments(item.text, findArguments(sent) ?? '')
      );
    case 'unknown':
      return false;
  }
}

/** Returns the raw arguments of a call; undefined: it has none. */
export function findArguments(sent: JsonObject): string | undefined {
  const given = sent['arguments'];
  return isJsonObject(given) ? JSON.stringify(given) : asText(given);
}

/** Returns the part of an item that an event is about. */
export function partKey(event: JsonObject): string {
  return `${asNumber(event['summary_index']) ?? ''}:${asNumber(event['content_index']) ?? 0}`;
}

export function toNameField(name: JsonValue | undefined): JsonObject {
  const text = asText(name);
  return text === undefined ? {} : { name: text };
}

export function reasoningKey({ key, summaryIndex }: OutputItem): string {
  return `${key}:${summaryIndex}`;
}

/** In the form in which `@ai-sdk/openai` takes it back. */
export function toMessageMeta({ id, phase }: JsonObject): JsonObject {
  const known = asText(id);
  return {
    ...(known === undefined ? {} : { itemId: known }),
    ...(typeof phase === 'string' ? { phase } : {}),
  };
}

export function toReasoningMeta({ id, encrypted_content: encrypted }: JsonObject): JsonObject {
  const known = asText(id);
  return {
    ...(known === undefined ? {} : { itemId: known }),
    ...(typeof encrypted === 'string' ? { reasoningEncryptedContent: encrypted } : {}),
  };
}

export function joinContentText(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  return asObjects(content)
    .map((part) => asText(part['text']) ?? asText(part['refusal']) ?? '')
    .join('');
}

/** Creates an item that nothing has come for yet. */
export function createOutputItem(key: string, sent: JsonObject): OutputItem {
  return {
    type: classifyItem(sent),
    key,
    id: asText(sent['id']),
    callId: asText(sent['call_id']),
    name: asText(sent['name']),
    text: '',
    parts: new Set(),
    summaryIndex: 0,
  };
}

/** Returns the usage that a response reports. */
export function readResponsesUsage(usage: JsonObject): ReportedUsage {
  const details = asObject(usage['input_tokens_details']);
  return { ...readChatUsage(usage), cacheWrite: asNumber(details?.['cache_write_tokens']) };
}

/** Returns the text of a part that holds what the model says; undefined: it holds something else. */
export function findPartText(part: JsonValue | undefined): JsonValue | undefined {
  const fields = asObject(part);
  const type = fields?.['type'];
  return type === undefined || type === 'output_text' ? fields?.['text'] : undefined;
}
