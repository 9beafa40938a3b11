import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { ReportedError } from '../answer-errors.ts';
import type { AnswerBuilder } from './answer-builder.ts';
import { chatUsage } from './chat-reader.ts';
import { finishAnswer } from './finish-reasons.ts';
import { numberOf, objectOf, objectsOf, textOf, type AnswerReader } from './reader.ts';
import { errorIn, errorInEvent } from './reported-errors.ts';

/** Events that repeat or describe what others bring; their text is taken from those. */
const REDUNDANT = new Set([
  'keepalive',
  'response.queued',
  'response.content_part.added',
  'response.content_part.done',
  'response.output_text.done',
  'response.output_text.annotation.added',
  'response.refusal.done',
  'response.function_call_arguments.done',
  'response.reasoning_summary_text.done',
  'response.reasoning_summary_part.done',
  'response.reasoning_text.done',
  'response.reasoning_part.added',
  'response.reasoning_part.done',
]);

interface Item {
  readonly type: 'message' | 'reasoning' | 'function_call' | 'unknown';
  readonly key: string;
  id: string | undefined;
  /** How far the summary of a reasoning item has come. */
  summaryIndex: number;
  hasText: boolean;
}

/** Reads OpenAI's Responses: https://platform.openai.com/docs/api-reference/responses-streaming */
export class ResponsesReader implements AnswerReader {
  private readonly answer: AnswerBuilder;
  private readonly open = new Map<string, Item>();
  /** Keys of the items that have ended: the final response repeats them. */
  private readonly ended = new Set<string>();
  private itemCount = 0;
  private lastKey = '';
  private hasRefused = false;
  /** The response is one document, in which the items are what belongs there. */
  private isWhole = false;

  constructor(answer: AnswerBuilder) {
    this.answer = answer;
  }

  get hasOpenBlock(): boolean {
    return this.open.size > 0;
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
      case 'response.completed':
      case 'response.incomplete':
      case 'response.done':
        return this.complete(objectOf(event['response']) ?? {});
      case 'response.cancelled':
        finishAnswer(this.answer, 'cancelled');
        return this.answer.end();
      case 'response.failed':
      case 'error':
        return this.fail(event);
      default: {
        const error = errorInEvent(event, name);
        if (error !== undefined) this.answer.fail(new ReportedError(error));
        else this.answer.repair('unknown_event');
      }
    }
  }

  takeWhole(response: JsonObject): boolean {
    const inner = objectOf(response['response']) ?? response;
    if (!Array.isArray(inner['output'])) return false;
    this.isWhole = true;
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
      type: itemType(sent['type']),
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

  private endItem(key: string, sent: JsonObject): void {
    if (this.ended.has(key)) return this.answer.repair('repeated_part');
    const item = this.startItem(key, sent);
    this.open.delete(key);
    this.ended.add(key);
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
    for (const [index, item] of objectsOf(response['output']).entries()) {
      const key = this.knownKey(index, item);
      if (this.ended.has(key)) continue;
      if (!this.isWhole) this.answer.repair('message_instead_of_delta');
      this.endItem(key, item);
    }
    this.finish(response);
    this.answer.end();
  }

  private knownKey(index: number, item: JsonObject): string {
    const id = textOf(item['id']);
    return id !== undefined && (this.ended.has(id) || this.open.has(id)) ? id : `#${index}`;
  }

  private finish(response: JsonObject): void {
    const reason = textOf(objectOf(response['incomplete_details'])?.['reason']);
    if (reason !== undefined) return finishAnswer(this.answer, reason);
    // Without a reason it may be cut: that is told, and nothing is lost.
    const isIncomplete = response['status'] === 'incomplete';
    finishAnswer(this.answer, isIncomplete ? 'length' : 'stop', { hasRefused: this.hasRefused });
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

function itemType(type: JsonValue | undefined): Item['type'] {
  return type === 'message' || type === 'reasoning' || type === 'function_call' ? type : 'unknown';
}

function reasoningKey({ key, summaryIndex }: Item): string {
  return `${key}:${summaryIndex}`;
}

/** In the form in which `@ai-sdk/openai` takes it back. */
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

function contentText(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  return objectsOf(content)
    .map((part) => textOf(part['text']) ?? textOf(part['refusal']) ?? '')
    .join('');
}
