import type { JsonObject } from '../../../base/json.ts';
import type { AnswerBuilder } from '../answers/answer-builder.ts';
import { finishAnswer } from '../answers/finish-reasons.ts';
import { asNumber, asObject, asObjects, asText } from '../answers/json-fields.ts';
import { findEventError } from '../answers/reported-errors.ts';
import type { ReportedUsage } from '../answers/reported-usage.ts';
import { ReportedError } from '../errors/answer-errors.ts';
import type { AnswerReader } from '../protocol-adapter.ts';

/** The metadata of a thought that arrives in pieces: its signature, or its encrypted text. */
type ThoughtMeta = Record<'signature' | 'redactedContent', string>;

/**
 * Reads answers of Bedrock's Converse API:
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
 */
export class ConverseReader implements AnswerReader {
  private readonly answer: AnswerBuilder;
  /** The types of the open blocks, by index. Only the start of a call is an event. */
  private readonly open = new Map<number, 'text' | 'reasoning' | 'call'>();
  private readonly thoughts = new Map<number, ThoughtMeta>();
  private hasStopped = false;

  constructor(answer: AnswerBuilder) {
    this.answer = answer;
  }

  get awaitsEnd(): boolean {
    return !this.hasStopped;
  }

  takeEvent(event: JsonObject, name: string | null): void {
    const index = asNumber(event['contentBlockIndex']) ?? 0;
    switch (name) {
      case 'messageStart':
        return;
      case 'contentBlockStart':
        return this.start(index, asObject(event['start']) ?? {});
      case 'contentBlockDelta':
        return this.takeDelta(index, asObject(event['delta']) ?? {});
      case 'contentBlockStop':
        return this.stop(index);
      case 'messageStop':
        for (const each of this.open.keys()) this.stop(each);
        this.hasStopped = true;
        return finishAnswer(this.answer, asText(event['stopReason']) ?? 'end_turn');
      case 'metadata':
        this.answer.setUsage(readUsage(asObject(event['usage']) ?? {}));
        // It is the last event.
        if (this.hasStopped) this.answer.end();
        return;
      default: {
        const error = findEventError(event, name);
        if (error !== undefined) this.answer.fail(new ReportedError(error));
        else this.answer.repair('unknown_event');
      }
    }
  }

  takeDocument(response: JsonObject): boolean {
    const message = asObject(asObject(response['output'])?.['message']);
    if (message === undefined) return false;
    for (const [index, block] of asObjects(message['content']).entries()) {
      const call = asObject(block['toolUse']);
      if (call === undefined) this.takeDelta(index, toDelta(block));
      else {
        this.start(index, block);
        this.answer.appendArguments(`${index}`, JSON.stringify(call['input'] ?? {}));
      }
      this.stop(index);
    }
    this.takeEvent({ stopReason: response['stopReason'] ?? null }, 'messageStop');
    this.takeEvent({ usage: response['usage'] ?? null }, 'metadata');
    return true;
  }

  private start(index: number, block: JsonObject): void {
    const call = asObject(block['toolUse']);
    if (call === undefined) return;
    this.open.set(index, 'call');
    this.answer.startCall(`${index}`, {
      id: asText(call['toolUseId']),
      name: asText(call['name']) ?? '',
    });
  }

  private takeDelta(index: number, delta: JsonObject): void {
    const { text } = delta;
    const key = `${index}`;
    if (typeof text === 'string') {
      this.openBlock(index, 'text');
      return this.answer.addText(text, key);
    }
    const call = asObject(delta['toolUse']);
    if (call !== undefined) return this.appendArguments(key, call);
    const thought = asObject(delta['reasoningContent']);
    if (thought !== undefined) return this.takeThought(index, thought);
    this.answer.repair('unknown_delta');
  }

  private appendArguments(key: string, { input }: JsonObject): void {
    if (typeof input === 'string') return this.answer.appendArguments(key, input);
    if (input === undefined || input === null) return;
    this.answer.repair('arguments_as_object');
    this.answer.appendArguments(key, JSON.stringify(input));
  }

  private takeThought(index: number, thought: JsonObject): void {
    this.openBlock(index, 'reasoning');
    const { text, signature, redactedContent } = thought;
    if (typeof text === 'string') this.answer.addReasoning(text, `${index}`);
    const meta = this.thoughts.get(index) ?? { signature: '', redactedContent: '' };
    if (typeof signature === 'string') meta.signature += signature;
    if (typeof redactedContent === 'string') meta.redactedContent += redactedContent;
    this.thoughts.set(index, meta);
  }

  private openBlock(index: number, type: 'text' | 'reasoning'): void {
    if (this.open.get(index) === type) return;
    if (this.open.has(index)) this.stop(index);
    this.open.set(index, type);
    this.answer.openBlock(type, `${index}`);
  }

  private stop(index: number): void {
    const type = this.open.get(index);
    if (type === undefined) return;
    this.open.delete(index);
    if (type === 'call') return this.answer.endCall(`${index}`);
    const { signature = '', redactedContent = '' } = this.thoughts.get(index) ?? {};
    this.thoughts.delete(index);
    const meta = {
      ...(signature !== '' && { signature }),
      ...(redactedContent !== '' && { redactedContent }),
    };
    const hasMeta = Object.keys(meta).length > 0;
    this.answer.closeBlock(type, `${index}`, ...(hasMeta ? [meta] : []));
  }
}

/** Converts a complete block of a document to the form of a delta. */
function toDelta(block: JsonObject): JsonObject {
  const thought = asObject(block['reasoningContent']);
  const text = asObject(thought?.['reasoningText']);
  return text === undefined ? block : { reasoningContent: text };
}

function readUsage(usage: JsonObject): ReportedUsage {
  return {
    uncached: asNumber(usage['inputTokens']),
    cacheRead: asNumber(usage['cacheReadInputTokens']),
    cacheWrite: asNumber(usage['cacheWriteInputTokens']),
    output: asNumber(usage['outputTokens']),
  };
}
