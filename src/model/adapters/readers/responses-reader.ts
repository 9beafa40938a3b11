import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { ReportedError } from '../answer-errors.ts';
import type { AnswerBuilder } from './answer-builder.ts';
import { chatUsage } from './chat-reader.ts';
import { readFinishReason, type ReadReason } from './finish-reasons.ts';
import { errorIn, numberOf, objectOf, objectsOf, textOf, type AnswerReader } from './reader.ts';
import { contentText, EndedItems, itemType, type ItemType } from './response-items.ts';

/** Events that describe what others bring. */
const REDUNDANT = new Set([
  'keepalive',
  'response.queued',
  'response.content_part.added',
  'response.content_part.done',
  'response.output_text.annotation.added',
  'response.reasoning_summary_part.done',
  'response.reasoning_part.added',
  'response.reasoning_part.done',
]);

interface Item {
  readonly type: ItemType;
  readonly key: string;
  id: string | undefined;
  /** How far the summary of a reasoning item has come. */
  summaryIndex: number;
  hasText: boolean;
}

/** Reads OpenAI's Responses: https://platform.openai.com/docs/api-reference/responses-streaming */
export class ResponsesReader implements AnswerReader {
  readonly awaitsEnd = true;
  private readonly answer: AnswerBuilder;
  private readonly open = new Map<string, Item>();
  /** Keys of the items that have ended. */
  private readonly ended = new Set<string>();
  private readonly endedItems = new EndedItems();
  private itemCount = 0;
  private lastKey = '';
  private hasRefused = false;
  /** The response is one document, in which the items are what belongs there. */
  private isDocument = false;

  constructor(answer: AnswerBuilder) {
    this.answer = answer;
  }

  take(event: JsonObject, name: string | null): void {
    const type = textOf(event['type']) ?? name ?? '';
    if (REDUNDANT.has(type)) return;
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
        return this.answer.setServedBy(objectOf(event['response'])?.['model']);
      case 'response.output_item.added':
        this.startItem(this.keyOf(event, event['item']), objectOf(event['item']) ?? {});
        return;
      case 'response.output_item.done':
        return this.endItem(this.keyOf(event, event['item']), objectOf(event['item']) ?? {});
      case 'response.output_text.delta':
        return this.say(event);
      case 'response.refusal.delta':
        this.hasRefused = true;
        return this.say(event);
      case 'response.reasoning_summary_part.added':
        return this.startSummary(event);
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.think(event);
      case 'response.function_call_arguments.delta':
        return this.growCall(event);
      case 'response.output_text.done':
      case 'response.refusal.done':
      case 'response.reasoning_summary_text.done':
      case 'response.reasoning_text.done':
      case 'response.function_call_arguments.done':
        return this.endPart(type, event);
      case 'response.completed':
      case 'response.incomplete':
      case 'response.done':
        return this.complete(objectOf(event['response']) ?? {});
      case 'response.failed':
      case 'error':
        return this.fail(event);
      default: {
        const error = errorIn(event, name);
        if (error !== undefined) this.answer.fail(new ReportedError(error));
        else this.answer.repair('unknown_event');
      }
    }
  }

  takeWhole(response: JsonObject): boolean {
    const inner = objectOf(response['response']) ?? response;
    if (!Array.isArray(inner['output']) && textOf(inner['output_text']) === undefined) return false;
    this.isDocument = true;
    this.answer.setServedBy(inner['model']);
    if (inner['status'] === 'failed') this.fail({ response: inner });
    else this.complete(inner);
    return true;
  }

  /** Items are told apart by their place in the output: some gateways change their ids from event to event. */
  private keyOf(event: JsonObject, item?: JsonValue): string {
    const index = numberOf(event['output_index']);
    if (index !== undefined) return `#${index}`;
    const id = textOf(event['item_id']) ?? textOf(objectOf(item)?.['id']);
    const known = this.openItemOf(id);
    if (known !== undefined) return known.key;
    if (id !== undefined) return id;
    this.answer.repair('missing_index');
    return item === undefined ? this.lastKey : `new ${this.itemCount}`;
  }

  private openItemOf(id: string | undefined): Item | undefined {
    if (id === undefined) return undefined;
    for (const item of this.open.values()) if (item.id === id) return item;
    return undefined;
  }

  private startItem(key: string, sent: JsonObject): Item {
    const known = this.open.get(key);
    if (known !== undefined) return known;
    this.itemCount += 1;
    this.lastKey = key;
    const item: Item = {
      type: itemType(sent),
      key,
      id: textOf(sent['id']),
      summaryIndex: 0,
      hasText: false,
    };
    this.open.set(key, item);
    switch (item.type) {
      case 'message':
        this.answer.openBlock('text', key, messageMeta(sent));
        break;
      case 'reasoning':
        this.answer.openBlock('reasoning', reasoningKey(item), reasoningMeta(sent));
        break;
      case 'function_call': {
        const id = textOf(sent['call_id']) ?? textOf(sent['id']);
        this.answer.startCall(key, { id, name: textOf(sent['name']) ?? '' });
        break;
      }
      case 'unknown':
        this.answer.repair('unknown_block');
    }
    return item;
  }

  private openItem(event: JsonObject, type: Item['type']): Item {
    const key = this.keyOf(event);
    const known = this.open.get(key);
    if (known !== undefined) return known;
    this.answer.repair('missing_block_start');
    return this.startItem(key, { type, id: event['item_id'] });
  }

  private say(event: JsonObject): void {
    const item = this.openItem(event, 'message');
    if (item.type !== 'message') return;
    item.hasText = true;
    this.answer.text(textOf(event['delta']) ?? '', item.key);
  }

  private startSummary(event: JsonObject): void {
    const item = this.openItem(event, 'reasoning');
    if (item.type === 'reasoning') this.moveTo(item, numberOf(event['summary_index']) ?? 0);
  }

  private think(event: JsonObject): void {
    const item = this.openItem(event, 'reasoning');
    if (item.type !== 'reasoning') return;
    this.moveTo(item, numberOf(event['summary_index']) ?? item.summaryIndex);
    item.hasText = true;
    this.answer.reasoning(textOf(event['delta']) ?? '', reasoningKey(item));
  }

  /** Each part of a summary is a part of the message; all belong to the same item. */
  private moveTo(item: Item, summaryIndex: number): void {
    if (summaryIndex <= item.summaryIndex) return;
    item.summaryIndex = summaryIndex;
    this.answer.openBlock('reasoning', reasoningKey(item), reasoningMeta({ id: item.id }));
  }

  private growCall(event: JsonObject): void {
    const item = this.openItem(event, 'function_call');
    if (item.type === 'function_call')
      this.answer.growArguments(item.key, textOf(event['delta']) ?? '');
  }

  /** Takes the whole of a part from the event that ends it, if no delta has brought it. */
  private endPart(type: string, event: JsonObject): void {
    if (this.ended.has(this.keyOf(event))) return;
    const whole = { ...event, delta: event['text'] ?? event['refusal'] ?? event['arguments'] };
    const known = this.open.get(this.keyOf(event));
    if (type === 'response.function_call_arguments.done') {
      // Without its start, the name is not known: the end of the item has it.
      if (known !== undefined && this.answer.argumentsOf(known.key) === '') this.growCall(whole);
      return;
    }
    if (known?.hasText === true || textOf(whole.delta) === undefined) return;
    this.answer.repair('message_instead_of_delta');
    if (type.includes('reasoning')) return this.think(whole);
    this.hasRefused ||= type === 'response.refusal.done';
    this.say(whole);
  }

  private endItem(key: string, sent: JsonObject): void {
    if (this.ended.has(key)) return this.answer.repair('repeated_part');
    const item = this.startItem(key, sent);
    this.open.delete(key);
    this.ended.add(key);
    this.endedItems.add(sent);
    switch (item.type) {
      case 'message':
        if (!item.hasText) this.answer.text(contentText(sent['content']), key);
        return this.answer.closeBlock('text', key, messageMeta(sent));
      case 'reasoning': {
        if (!item.hasText) {
          const text = contentText(sent['summary']) || contentText(sent['content']);
          this.answer.reasoning(text, reasoningKey(item));
        }
        // The encrypted thought is complete only now, and belongs to all parts of the summary.
        for (let index = 0; index <= item.summaryIndex; index += 1) {
          const meta = reasoningMeta({ id: item.id, ...sent });
          this.answer.closeBlock('reasoning', `${key}:${index}`, meta);
        }
        return;
      }
      case 'function_call':
        return this.endCall(key, sent);
      case 'unknown':
    }
  }

  private endCall(key: string, sent: JsonObject): void {
    const given = sent['arguments'];
    const isObject = typeof given === 'object' && given !== null;
    if (isObject) this.answer.repair('arguments_as_object');
    const raw = isObject ? JSON.stringify(given) : textOf(given);
    const id = textOf(sent['id']);
    const name = textOf(sent['name']);
    if (name !== undefined) this.answer.nameCall(key, name);
    this.answer.endCall(key, {
      ...(raw === undefined ? {} : { raw }),
      ...(id === undefined ? {} : { meta: { itemId: id } }),
    });
  }

  private complete(response: JsonObject): void {
    this.answer.setServedBy(response['model']);
    this.takeUsage(response);
    for (const item of objectsOf(response['output'])) this.takeFinalItem(item);
    const text = textOf(response['output_text']);
    if (text !== undefined && !this.answer.hasContent) this.answer.text(text);
    const read = this.readReason(response);
    if ('error' in read) this.answer.fail(read.error);
    else if (this.answer.failure === null) this.answer.finish(read.reason);
    this.answer.end();
  }

  /** Takes an item of the final response, unless its events have come. */
  private takeFinalItem(item: JsonObject): void {
    if (this.endedItems.remove(item)) return;
    if (!this.isDocument) this.answer.repair('message_instead_of_delta');
    const type = itemType(item);
    const id = textOf(item['id']);
    const open = this.openItemOf(id) ?? [...this.open.values()].find((each) => each.type === type);
    this.endItem(open?.key ?? `final ${this.itemCount}`, item);
    // Only this response has it.
    this.endedItems.remove(item);
  }

  private readReason(response: JsonObject): ReadReason {
    const reason = textOf(objectOf(response['incomplete_details'])?.['reason']);
    if (reason !== undefined) return readFinishReason(reason);
    // Without a reason it may be cut: that is told, and nothing is lost.
    if (response['status'] === 'incomplete') return { reason: 'length' };
    return { reason: this.hasRefused ? 'content_filter' : 'stop' };
  }

  private fail(event: JsonObject): void {
    const response = objectOf(event['response']) ?? {};
    this.takeUsage(response);
    const error = errorIn(response) ?? errorIn(event) ?? event;
    this.answer.fail(new ReportedError(error));
    this.answer.end();
  }

  private takeUsage(response: JsonObject): void {
    const usage = objectOf(response['usage']);
    if (usage === undefined) return;
    const details = objectOf(usage['input_tokens_details']);
    this.answer.setUsage({
      ...chatUsage(usage),
      cacheWrite: numberOf(details?.['cache_write_tokens']),
    });
  }
}

function reasoningKey({ key, summaryIndex }: Item): string {
  return `${key}:${summaryIndex}`;
}

/** The metadata of a message as `@ai-sdk/openai` takes it back. */
function messageMeta({ id, phase }: JsonObject): JsonObject {
  const known = textOf(id);
  return {
    ...(known === undefined ? {} : { itemId: known }),
    ...(typeof phase === 'string' ? { phase } : {}),
  };
}

function reasoningMeta({ id, encrypted_content: encrypted }: JsonObject): JsonObject {
  const known = textOf(id);
  return {
    ...(known === undefined ? {} : { itemId: known }),
    ...(typeof encrypted === 'string' ? { reasoningEncryptedContent: encrypted } : {}),
  };
}
