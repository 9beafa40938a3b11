import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { FREE_FORM_ARGUMENT } from './free-form-calls.ts';
import { areSameArguments } from '../answers/call-arguments.ts';
import { asNumber, asObject, asObjects, asText } from '../answers/json-fields.ts';

/** The events that only repeat or describe the content of other events. */
const REDUNDANT_EVENTS = new Set([
  'keepalive',
  'response.queued',
  'response.content_part.added',
  'response.output_text.annotation.added',
  'response.reasoning_summary_part.done',
  'response.reasoning_part.added',
  'response.reasoning_part.done',
]);

/** Returns true if an event only repeats or describes the content of other events. */
export function isRedundantEvent(type: string): boolean {
  return REDUNDANT_EVENTS.has(type);
}

/** The type of an output item. */
export type OutputItemType = 'message' | 'reasoning' | 'function_call' | 'unknown';

/** An output item, as far as it has arrived. */
export interface OutputItem {
  readonly type: OutputItemType;
  /** The key of the item in the reader and the builder. */
  readonly key: string;
  id: string | undefined;
  readonly callId: string | undefined;
  readonly name: string | undefined;
  /** The item as it began. */
  readonly start: JsonObject;
  /** Its text so far, or the arguments of a call. */
  text: string;
  /** The keys (see `createPartKey`) of the parts for which text has arrived. */
  readonly receivedParts: Set<string>;
  /** The index of the current part of the summary of a reasoning item. */
  summaryIndex: number;
}

/** Returns the type of an item, which follows from other fields if the type is missing. */
export function classifyItem(item: JsonObject): OutputItemType {
  const { type } = item;
  if (type === 'custom_tool_call') return 'function_call';
  if (type === 'message' || type === 'reasoning' || type === 'function_call') return type;
  if (asText(type) !== undefined) return 'unknown';
  if (item['call_id'] !== undefined || item['arguments'] !== undefined) return 'function_call';
  if (item['content'] !== undefined) return 'message';
  const isThought = item['summary'] !== undefined || item['encrypted_content'] !== undefined;
  return isThought ? 'reasoning' : 'unknown';
}

/**
 * Finds the earlier item that an item of the final response repeats. The items are compared by id, by call id, by
 * content, and by key, because some gateways use other indexes and ids in the final response.
 */
export function findRepeatedItem(
  sent: JsonObject,
  key: string,
  items: readonly OutputItem[],
): OutputItem | undefined {
  const type = classifyItem(sent);
  const [id, callId] = [asText(sent['id']), asText(sent['call_id'])];
  const candidates = items.filter((item) => item.type === type);
  return (
    candidates.find((item) => id !== undefined && item.id === id) ??
    candidates.find((item) => callId !== undefined && item.callId === callId) ??
    candidates.find((item) => hasSameContent(item, sent)) ??
    candidates.find((item) => item.key === key && canBeSameCall(type, item, sent))
  );
}

/** Returns true if an item with the same key can be the same item although its content differs. */
function canBeSameCall(type: OutputItemType, item: OutputItem, sent: JsonObject): boolean {
  if (type !== 'function_call') return true;
  return item.callId === undefined || asText(sent['call_id']) === undefined;
}

function hasSameContent(item: OutputItem, sent: JsonObject): boolean {
  switch (item.type) {
    case 'message':
      return item.text.trim() === joinTexts(sent['content']).trim();
    case 'reasoning':
      return item.text.trim() === (joinTexts(sent['summary']) || joinTexts(sent['content'])).trim();
    case 'function_call':
      return (
        item.name === asText(sent['name']) && areSameArguments(item.text, findArguments(sent) ?? '')
      );
    case 'unknown':
      return false;
  }
}

/** Returns true for a call whose input is a text instead of JSON. */
export function isFreeFormCall({ type }: JsonObject): boolean {
  return type === 'custom_tool_call';
}

/** Writes a piece of the text of a free-form call as JSON that follows the JSON `before`. The end is not written. */
export function encodeFreeText(piece: string, before = ''): string {
  const start = before === '' ? `{"${FREE_FORM_ARGUMENT}":"` : '';
  return `${start}${JSON.stringify(piece).slice(1, -1)}`;
}

/** Finds the raw arguments of a call; undefined: the call has no arguments. */
export function findArguments(sent: JsonObject): string | undefined {
  const text = asText(sent['input']);
  if (text !== undefined && sent['arguments'] === undefined) {
    return `${encodeFreeText(text)}"}`;
  }
  const args = sent['arguments'];
  return isJsonObject(args) ? JSON.stringify(args) : asText(args);
}

/** Creates a key for the part of an item to which an event belongs. */
export function createPartKey(event: JsonObject): string {
  return `${asNumber(event['summary_index']) ?? ''}:${asNumber(event['content_index']) ?? 0}`;
}

/** Returns an object with the field `name` if there is a name. */
export function toNameField(name: JsonValue | undefined): JsonObject {
  const text = asText(name);
  return text === undefined ? {} : { name: text };
}

/** Creates the key for the builder of the current part of a reasoning item. */
export function createReasoningKey({ key, summaryIndex }: OutputItem): string {
  return `${key}:${summaryIndex}`;
}

/** Creates the metadata of a message in the form that `@ai-sdk/openai` expects. */
export function toMessageMeta({ id, phase }: JsonObject): JsonObject {
  const known = asText(id);
  return {
    ...(known === undefined ? {} : { itemId: known }),
    ...(typeof phase === 'string' ? { phase } : {}),
  };
}

/** Creates the metadata of a call. Perplexity needs the signature of a thought back with its call. */
export function toCallMeta({ id, thought_signature: signature }: JsonObject): JsonObject {
  const known = asText(id);
  return {
    ...(known === undefined ? {} : { itemId: known }),
    ...(typeof signature === 'string' ? { thoughtSignature: signature } : {}),
  };
}

/** Creates the metadata of a reasoning item in the form that `@ai-sdk/openai` expects. */
export function toReasoningMeta({ id, encrypted_content: encrypted }: JsonObject): JsonObject {
  const known = asText(id);
  return {
    ...(known === undefined ? {} : { itemId: known }),
    ...(typeof encrypted === 'string' ? { reasoningEncryptedContent: encrypted } : {}),
  };
}

/** Joins the texts and refusals in the content of an item. */
export function joinTexts(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  return asObjects(content)
    .map((part) => asText(part['text']) ?? asText(part['refusal']) ?? '')
    .join('');
}

/** Creates an item for which no content has arrived yet. */
export function createOutputItem(key: string, sent: JsonObject): OutputItem {
  return {
    type: classifyItem(sent),
    key,
    id: asText(sent['id']),
    callId: asText(sent['call_id']),
    name: asText(sent['name']),
    start: sent,
    text: '',
    receivedParts: new Set(),
    summaryIndex: 0,
  };
}

/** Finds the text of a part with visible output; undefined: it has another kind of part. */
export function findPartText(part: JsonValue | undefined): JsonValue | undefined {
  const fields = asObject(part);
  const type = fields?.['type'];
  return type === undefined || type === 'output_text' ? fields?.['text'] : undefined;
}
