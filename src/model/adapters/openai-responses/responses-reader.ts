import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { ReportedError } from '../errors/answer-errors.ts';
import type { AnswerBuilder } from '../answers/answer-builder.ts';
import { finishAnswer } from '../answers/finish-reasons.ts';
import { asNumber, asObject, asObjects, asText } from '../answers/json-fields.ts';
import { readChatUsage } from '../answers/reported-usage.ts';
import type { AnswerReader } from '../protocol-adapter.ts';
import { findReportedError, findEventError } from '../answers/reported-errors.ts';
import {
  findArguments,
  isFreeFormCall,
  encodeFreeText,
  joinTexts,
  createOutputItem,
  isRedundantEvent,
  classifyItem,
  toCallMeta,
  toMessageMeta,
  toNameField,
  createPartKey,
  createReasoningKey,
  toReasoningMeta,
  findRepeatedItem,
  findPartText,
  type OutputItem,
  type OutputItemType,
} from './responses-items.ts';

/** Reads answers of OpenAI's Responses API: https://platform.openai.com/docs/api-reference/responses-streaming */
export class ResponsesReader implements AnswerReader {
  readonly awaitsEnd = true;
  private readonly answer: AnswerBuilder;
  /** The items that have begun and have not ended, by key. */
  private readonly open = new Map<string, OutputItem>();
  /** The items that have ended, by key. The final response repeats these items. */
  private readonly ended = new Map<string, OutputItem>();
  private itemCount = 0;
  private lastKey = '';
  private hasRefused = false;
  /** True if the response is one document, in which complete items are expected. */
  private isDocument = false;

  constructor(answer: AnswerBuilder) {
    this.answer = answer;
  }

  takeEvent(event: JsonObject, name: string | null): void {
    const type = asText(event['type']) ?? name ?? '';
    if (isRedundantEvent(type)) return;
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
        return this.answer.setServedBy(asObject(event['response'])?.['model']);
      case 'response.output_item.added':
        this.startItem(this.findItemKey(event, event['item']), asObject(event['item']) ?? {});
        return;
      case 'response.output_item.done':
        return this.endItem(this.findItemKey(event, event['item']), asObject(event['item']) ?? {});
      case 'response.output_text.delta':
        return this.takeTextDelta(event);
      case 'response.output_text.done':
        return this.completePart(event, 'message', event['text']);
      case 'response.content_part.done':
        return this.completePart(event, 'message', findPartText(event['part']));
      case 'response.refusal.done':
        this.hasRefused = true;
        return this.completePart(event, 'message', event['refusal']);
      case 'response.reasoning_summary_text.done':
      case 'response.reasoning_text.done':
        return this.completePart(event, 'reasoning', event['text']);
      case 'response.function_call_arguments.done':
      case 'response.custom_tool_call_input.done':
        return this.completeArguments(event);
      case 'response.refusal.delta':
        this.hasRefused = true;
        return this.takeTextDelta(event);
      case 'response.reasoning_summary_part.added':
        return this.startSummary(event);
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.takeThinkingDelta(event);
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.appendArguments(event);
      case 'response.completed':
      case 'response.incomplete':
      case 'response.done':
        return this.takeCompleteResponse(asObject(event['response']) ?? {});
      case 'response.cancelled':
        finishAnswer(this.answer, 'cancelled');
        return this.answer.end();
      case 'response.failed':
      case 'error':
        return this.fail(event);
      default: {
        // Perplexity sends thoughts in events of their own, after which no item follows.
        if (type.startsWith('response.reasoning.')) {
          return this.answer.addReasoning(asText(event['thought']) ?? '');
        }
        const error = findEventError(event, name);
        if (error !== undefined) this.answer.fail(new ReportedError(error));
        // The event is a complete response without a type.
        else if (Array.isArray(event['output'])) this.takeCompleteResponse(event);
        else this.answer.repair('unknown_event');
      }
    }
  }

  takeDocument(response: JsonObject): boolean {
    const inner = asObject(response['response']) ?? response;
    if (!Array.isArray(inner['output']) && asText(inner['output_text']) === undefined) return false;
    this.isDocument = true;
    this.answer.setServedBy(inner['model']);
    if (inner['status'] === 'failed') this.fail({ response: inner });
    else this.takeCompleteResponse(inner);
    return true;
  }

  /** Returns the key of an item: its index in the output, because some gateways change the id of an item between events. */
  private findItemKey(event: JsonObject, item?: JsonValue): string {
    const index = asNumber(event['output_index']);
    if (index !== undefined) return `#${index}`;
    const id = asText(event['item_id']) ?? asText(asObject(item)?.['id']);
    const known = this.findOpenItem(id);
    if (known !== undefined) return known.key;
    if (id !== undefined) return id;
    this.answer.repair('missing_index');
    return item === undefined ? this.lastKey : `new ${this.itemCount}`;
  }

  private findOpenItem(id: string | undefined): OutputItem | undefined {
    if (id === undefined) return undefined;
    for (const item of this.open.values()) if (item.id === id) return item;
    return undefined;
  }

  private startItem(key: string, sent: JsonObject): OutputItem {
    const known = this.open.get(key);
    const type = classifyItem(sent);
    if (known !== undefined && (known.type === type || type === 'unknown')) return known;
    if (known !== undefined) {
      // The key belongs to another item that has not ended, so this item is ended first.
      this.answer.repair('missing_block_end');
      this.endItem(key, {});
    }
    this.itemCount += 1;
    this.lastKey = key;
    const item = createOutputItem(key, sent);
    this.open.set(key, item);
    switch (item.type) {
      case 'message':
        this.answer.openBlock('text', key, toMessageMeta(sent));
        break;
      case 'reasoning':
        this.answer.openBlock('reasoning', createReasoningKey(item), toReasoningMeta(sent));
        break;
      case 'function_call': {
        const id = asText(sent['call_id']) ?? asText(sent['id']);
        this.answer.startCall(key, { id, name: asText(sent['name']) ?? '' });
        break;
      }
      case 'unknown':
        this.answer.repair('unknown_block');
    }
    return item;
  }

  private findOrStartItem(event: JsonObject, type: OutputItemType): OutputItem {
    const key = this.findItemKey(event);
    const known = this.open.get(key);
    if (known !== undefined) return known;
    this.answer.repair('missing_block_start');
    return this.startItem(key, { ...toNameField(event['name']), type, id: event['item_id'] });
  }

  private takeTextDelta(event: JsonObject): void {
    const item = this.findOrStartItem(event, 'message');
    if (item.type === 'message') this.addText(item, event, asText(event['delta']) ?? '');
  }

  private addText(item: OutputItem, event: JsonObject, text: string): void {
    item.text += text;
    item.receivedParts.add(createPartKey(event));
    if (item.type === 'message') this.answer.addText(text, item.key);
    else this.answer.addReasoning(text, createReasoningKey(item));
  }

  /** Takes the complete text of a part. It is ignored if the text has already arrived in deltas, as from most servers. */
  private completePart(
    event: JsonObject,
    type: 'message' | 'reasoning',
    value: JsonValue | undefined,
  ): void {
    const text = asText(value);
    if (text === undefined || this.isItemEnded(event)) return;
    const item = this.findOrStartItem(event, type);
    if (item.type !== type || item.receivedParts.has(createPartKey(event))) return;
    if (type === 'reasoning') this.moveToSummary(item, asNumber(event['summary_index']) ?? 0);
    this.addText(item, event, text);
  }

  /** Takes the complete arguments of a call. Only the end that has not arrived in deltas is added. */
  private completeArguments(event: JsonObject): void {
    if (this.isItemEnded(event)) return;
    const item = this.findOrStartItem(event, 'function_call');
    const raw = findArguments(event);
    if (item.type !== 'function_call' || raw === undefined) return;
    const before = this.answer.getArguments(item.key) ?? '';
    if (raw.startsWith(before)) this.answer.appendArguments(item.key, raw.slice(before.length));
  }

  /** Returns true if an event repeats content of an item that has ended. */
  private isItemEnded(event: JsonObject): boolean {
    const key = this.findItemKey(event);
    return this.ended.has(key) && !this.open.has(key);
  }

  private startSummary(event: JsonObject): void {
    const item = this.findOrStartItem(event, 'reasoning');
    if (item.type === 'reasoning') this.moveToSummary(item, asNumber(event['summary_index']) ?? 0);
  }

  private takeThinkingDelta(event: JsonObject): void {
    const item = this.findOrStartItem(event, 'reasoning');
    if (item.type !== 'reasoning') return;
    this.moveToSummary(item, asNumber(event['summary_index']) ?? item.summaryIndex);
    this.addText(item, event, asText(event['delta']) ?? '');
  }

  /** Begins the block of the next part of a summary. All parts belong to the same item. */
  private moveToSummary(item: OutputItem, summaryIndex: number): void {
    if (summaryIndex <= item.summaryIndex) return;
    item.summaryIndex = summaryIndex;
    this.answer.openBlock('reasoning', createReasoningKey(item), toReasoningMeta({ id: item.id }));
  }

  private appendArguments(event: JsonObject): void {
    const item = this.findOrStartItem(event, 'function_call');
    if (item.type !== 'function_call') return;
    const delta = asText(event['delta']) ?? '';
    const before = this.answer.getArguments(item.key) ?? '';
    const piece = isFreeFormCall(item.start) ? encodeFreeText(delta, before) : delta;
    this.answer.appendArguments(item.key, piece);
  }

  private endItem(key: string, sent: JsonObject): void {
    if (this.ended.has(key) && !this.open.has(key)) return this.answer.repair('repeated_part');
    const item = this.open.get(key) ?? this.startItem(key, sent);
    this.open.delete(key);
    this.ended.set(key, item);
    switch (item.type) {
      case 'message':
        if (item.text === '') this.addText(item, {}, joinTexts(sent['content']));
        return this.answer.closeBlock('text', key, toMessageMeta(sent));
      case 'reasoning': {
        if (item.text === '') {
          this.addText(item, {}, joinTexts(sent['summary']) || joinTexts(sent['content']));
        }
        // The encrypted thought is complete only when the item ends. It belongs to all parts of the summary.
        for (let index = 0; index <= item.summaryIndex; index += 1) {
          const meta = toReasoningMeta({ id: item.id, ...sent });
          this.answer.closeBlock('reasoning', `${key}:${index}`, meta);
        }
        return;
      }
      case 'function_call':
        return this.endCall(item, sent);
      case 'unknown':
    }
  }

  private endCall(item: OutputItem, sent: JsonObject): void {
    if (isJsonObject(sent['arguments'])) this.answer.repair('arguments_as_object');
    const raw = findArguments(sent);
    const name = asText(sent['name']);
    item.text = raw ?? this.answer.getArguments(item.key) ?? '';
    if (name !== undefined) this.answer.nameCall(item.key, name);
    this.answer.endCall(item.key, {
      ...(raw === undefined ? {} : { raw }),
      meta: toCallMeta(sent),
    });
  }

  private takeCompleteResponse(response: JsonObject): void {
    this.answer.setServedBy(response['model']);
    this.takeUsage(response);
    this.takeOutput(asObjects(response['output']));
    this.completeStartedCalls();
    const text = asText(response['output_text']);
    if (text !== undefined && !this.answer.hasContent) this.answer.addText(text);
    this.finish(response);
    this.answer.end();
  }

  /** Takes the items of the final response that were not streamed before. */
  private takeOutput(items: readonly JsonObject[]): void {
    const unrepeated = new Set([...this.ended.values(), ...this.open.values()]);
    const hadContent = this.answer.hasContent;
    for (const [index, sent] of items.entries()) {
      const known = findRepeatedItem(sent, `#${index}`, [...unrepeated]);
      if (known !== undefined) {
        unrepeated.delete(known);
        if (this.open.has(known.key)) this.endItem(known.key, sent);
        continue;
      }
      // A thought that was not streamed is left out, because it must not come after the content that followed it.
      if (hadContent && classifyItem(sent) === 'reasoning') continue;
      if (!this.isDocument) this.answer.repair('message_instead_of_delta');
      this.endItem(`final ${index}`, sent);
    }
  }

  /** Ends the calls whose arguments were complete at their start, which some servers send without any further event. */
  private completeStartedCalls(): void {
    for (const { type, key, start } of this.open.values()) {
      if (type !== 'function_call' || this.answer.getArguments(key) !== '') continue;
      if ((findArguments(start) ?? '') !== '') this.endItem(key, start);
    }
  }

  private finish(response: JsonObject): void {
    const reason = asText(asObject(response['incomplete_details'])?.['reason']);
    if (reason !== undefined) return finishAnswer(this.answer, reason);
    // An incomplete response without a reason may have been cut off, so it is treated as cut off.
    const isIncomplete = response['status'] === 'incomplete';
    finishAnswer(this.answer, isIncomplete ? 'length' : 'stop', { hasRefused: this.hasRefused });
  }

  private fail(event: JsonObject): void {
    const response = asObject(event['response']) ?? {};
    this.takeUsage(response);
    const error = findReportedError(response) ?? findReportedError(event) ?? event;
    this.answer.fail(new ReportedError(error));
    this.answer.end();
  }

  private takeUsage(response: JsonObject): void {
    const usage = asObject(response['usage']);
    if (usage !== undefined) this.answer.setUsage(readChatUsage(usage));
  }
}
