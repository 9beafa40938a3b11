import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { ReportedError } from '../errors/answer-errors.ts';
import type { AnswerBuilder } from '../answers/answer-builder.ts';
import { finishAnswer } from '../answers/finish-reasons.ts';
import { asNumber, asObject, asObjects, asText } from '../answers/json-fields.ts';
import type { AnswerReader } from '../protocol-adapter.ts';
import { findReportedError, findEventError } from '../answers/reported-errors.ts';
import type { ReportedUsage } from '../answers/reported-usage.ts';

/** A block of the answer that has begun and has not ended. */
interface OpenBlock {
  readonly type: BlockKind;
  /** The key of the block in the builder. */
  readonly key: string;
  /** The id of a call that the server sent. */
  readonly id?: string | undefined;
  /** True if a delta for the block has arrived. */
  hasDeltas: boolean;
  /** The arguments in the start event of a call, which are used if no delta follows. */
  readonly input?: JsonObject;
}

/** Reads answers of Anthropic's Messages API: https://docs.claude.com/en/docs/build-with-claude/streaming */
export class AnthropicReader implements AnswerReader {
  private readonly answer: AnswerBuilder;
  /** The open blocks by index. */
  private readonly open = new Map<number, OpenBlock>();
  private blockCount = 0;
  /** True if the event `message_delta` has arrived, which contains the finish reason. */
  private hasMessageDelta = false;
  private lastIndex = -1;

  constructor(answer: AnswerBuilder) {
    this.answer = answer;
  }

  get awaitsEnd(): boolean {
    return !this.hasMessageDelta;
  }

  takeEvent(event: JsonObject, name: string | null): void {
    switch (asText(event['type']) ?? name) {
      case 'ping':
        return;
      case 'error':
        return this.answer.fail(new ReportedError(findReportedError(event) ?? event));
      case 'message_start':
        return this.startMessage(asObject(event['message']) ?? {});
      case 'message':
        return this.takeMessage(event);
      case 'content_block_start':
        return this.takeStart(this.findIndex(event), asObject(event['content_block']) ?? {});
      case 'content_block_delta':
        return this.takeDelta(this.findIndex(event), asObject(event['delta']) ?? {});
      case 'content_block_stop':
        return this.stopBlock(this.findIndex(event));
      case 'message_delta':
        return this.endMessage(asObject(event['delta']) ?? {}, asObject(event['usage']));
      case 'message_stop':
        return this.stopMessage();
      default: {
        const error = findEventError(event, name);
        if (error !== undefined) this.answer.fail(new ReportedError(error));
        else this.answer.repair('unknown_event');
      }
    }
  }

  takeDocument(message: JsonObject): boolean {
    const content = message['content'];
    if (!Array.isArray(content) && typeof content !== 'string') return false;
    this.startMessage({ ...message, content: [] });
    const blocks =
      typeof content === 'string' ? [{ type: 'text', text: content }] : asObjects(content);
    for (const [index, block] of blocks.entries()) {
      this.startBlock(index, block, { isComplete: true });
      this.stopBlock(index);
    }
    this.endMessage(message, asObject(message['usage']));
    this.stopMessage();
    return true;
  }

  /** Takes a complete message that arrived instead of its events. */
  private takeMessage(message: JsonObject): void {
    this.answer.repair('message_instead_of_delta');
    if (!this.answer.hasContent) this.takeDocument(message);
  }

  private startMessage(message: JsonObject): void {
    // A regular start event has no content. If it has content, it is the complete message.
    if (asObjects(message['content']).length > 0) return this.takeMessage(message);
    this.answer.setServedBy(message['model']);
    const usage = asObject(message['usage']);
    // The count of the output is left out, because the output is not complete yet.
    if (usage !== undefined) this.answer.setUsage({ ...readUsage(usage), output: undefined });
  }

  private takeStart(index: number, block: JsonObject): void {
    this.lastIndex = index;
    const open = this.open.get(index);
    const type = findBlockType(block);
    // If the start has neither a type nor a field that implies it, the first delta determines the type of the block.
    if (type === undefined) {
      this.answer.repair('missing_block_start');
      if (open?.hasDeltas === true) this.closeUnendedBlock(index);
      return;
    }
    if (open !== undefined) {
      const isSame =
        open.type === (BLOCK_KINDS.get(type) ?? 'unknown') && open.id === asText(block['id']);
      // The server sent the same start event twice.
      if (isSame && (!open.hasDeltas || open.id !== undefined)) {
        return this.answer.repair('repeated_part');
      }
      this.closeUnendedBlock(index);
    }
    this.startBlock(index, { ...block, type });
  }

  private startBlock(
    index: number,
    block: JsonObject,
    { isComplete = false }: { readonly isComplete?: boolean } = {},
  ): void {
    const key = `${this.blockCount}`;
    this.blockCount += 1;
    this.lastIndex = index;
    switch (findBlockType(block)) {
      case 'text':
        this.open.set(index, { type: 'text', key, hasDeltas: false });
        this.answer.openBlock('text', key);
        this.startText(asText(block['text']), { isComplete }, (text) =>
          this.answer.addText(text, key),
        );
        return;
      case 'thinking': {
        this.open.set(index, { type: 'reasoning', key, hasDeltas: false });
        this.answer.openBlock('reasoning', key);
        const thought = asText(block['thinking']);
        this.startText(thought, { isComplete }, (text) => this.answer.addReasoning(text, key));
        this.addSignature(key, block['signature']);
        return;
      }
      case 'redacted_thinking':
        this.open.set(index, { type: 'reasoning', key, hasDeltas: false });
        this.answer.openBlock('reasoning', key, { redactedData: block['data'] ?? '' });
        return;
      case 'tool_use':
        return this.startCall(index, key, block);
      default:
        this.answer.repair('unknown_block');
        this.open.set(index, { type: 'unknown', key, hasDeltas: false });
    }
  }

  private startText(
    text: string | undefined,
    { isComplete }: { readonly isComplete: boolean },
    add: (text: string) => void,
  ): void {
    if (text === undefined) return;
    if (!isComplete) this.answer.repair('text_in_block_start');
    add(text);
  }

  private startCall(index: number, key: string, block: JsonObject): void {
    const { input } = block;
    const id = asText(block['id']);
    this.answer.startCall(key, { id, name: asText(block['name']) ?? '' });
    const args = asObject(input);
    const hasInput = args !== undefined && Object.keys(args).length > 0;
    const open: OpenBlock = { type: 'call', key, id, hasDeltas: false };
    this.open.set(index, hasInput ? { ...open, input: args } : open);
    if (typeof input === 'string') this.answer.appendArguments(key, input);
  }

  private takeDelta(index: number, delta: JsonObject): void {
    const block = this.open.get(index) ?? this.inferBlock(index, delta);
    if (block === undefined) return;
    block.hasDeltas = true;
    if (block.type === 'unknown') return;
    switch (findDeltaType(delta)) {
      case 'text_delta':
        return this.addText(block, 'text', asText(delta['text']) ?? '');
      case 'thinking_delta':
        return this.addText(block, 'reasoning', asText(delta['thinking']) ?? '');
      case 'signature_delta':
        return this.addSignature(block.key, delta['signature']);
      case 'input_json_delta':
        if (block.type === 'call') this.appendArguments(block.key, delta['partial_json']);
        return;
      case 'citations_delta':
        return;
      default:
        this.answer.repair('unknown_delta');
    }
  }

  /** Adds text to a block, or to another block after it if the delta has another type. */
  private addText(block: OpenBlock, type: 'text' | 'reasoning', piece: string): void {
    const key = block.type === type ? block.key : undefined;
    if (key === undefined) this.answer.repair('missing_block_start');
    if (type === 'text') this.answer.addText(piece, key);
    else this.answer.addReasoning(piece, key);
  }

  /** Begins the block of a delta that has no start event, because some servers leave out this event. */
  private inferBlock(index: number, delta: JsonObject): OpenBlock | undefined {
    const type = findDeltaType(delta);
    if (type !== 'text_delta' && type !== 'thinking_delta') {
      if (type !== 'citations_delta') this.answer.repair('unknown_delta');
      return undefined;
    }
    this.answer.repair('missing_block_start');
    this.startBlock(index, { type: type === 'text_delta' ? 'text' : 'thinking' });
    return this.open.get(index);
  }

  private appendArguments(key: string, piece: JsonValue | undefined): void {
    if (typeof piece === 'string') return this.answer.appendArguments(key, piece);
    if (piece === undefined || piece === null) return;
    this.answer.repair('arguments_as_object');
    this.answer.appendArguments(key, JSON.stringify(piece));
  }

  private addSignature(key: string, signature: JsonValue | undefined): void {
    const text = asText(signature);
    if (text !== undefined) this.answer.addReasoning('', key, { signature: text });
  }

  private stopBlock(index: number): void {
    const block = this.open.get(index);
    if (block === undefined) return;
    this.open.delete(index);
    const { type, key, input } = block;
    if (type === 'text' || type === 'reasoning') return this.answer.closeBlock(type, key);
    if (type === 'unknown') return;
    const hasDeltas = (this.answer.getArguments(key) ?? '') !== '';
    const isComplete = input !== undefined && !hasDeltas;
    this.answer.endCall(key, isComplete ? { raw: JSON.stringify(input) } : {});
  }

  private endMessage(delta: JsonObject, usage: JsonObject | undefined): void {
    this.takeUsage(usage);
    this.hasMessageDelta = true;
    const reason = asText(delta['stop_reason']);
    if (reason === undefined) return;
    this.closeOpenBlocks();
    finishAnswer(this.answer, reason);
  }

  private stopMessage(): void {
    this.closeOpenBlocks();
    if (this.answer.finishReason === null && this.answer.failure === null) {
      this.answer.repair('missing_finish_reason');
      this.answer.finish('stop');
    }
    this.answer.end();
  }

  private closeOpenBlocks(): void {
    for (const index of this.open.keys()) this.closeUnendedBlock(index);
  }

  private closeUnendedBlock(index: number): void {
    this.answer.repair('missing_block_end');
    this.stopBlock(index);
  }

  private findIndex(event: JsonObject): number {
    const index = asNumber(event['index']);
    if (index !== undefined) return index;
    this.answer.repair('missing_index');
    if (event['type'] !== 'content_block_start') return this.lastIndex;
    return this.lastIndex + 1;
  }

  private takeUsage(usage: JsonObject | undefined): void {
    if (usage !== undefined) this.answer.setUsage(readUsage(usage));
  }
}

type BlockKind = 'text' | 'reasoning' | 'call' | 'unknown';

/** Finds the type of a block, which follows from other fields if the type is missing; undefined: the type is not known. */
function findBlockType(block: JsonObject): string | undefined {
  const type = asText(block['type']);
  if (type !== undefined) return type;
  if (asText(block['name']) !== undefined) return 'tool_use';
  if (typeof block['thinking'] === 'string') return 'thinking';
  return typeof block['text'] === 'string' ? 'text' : undefined;
}

/** The kinds of blocks in an answer by their type in the protocol. */
const BLOCK_KINDS: ReadonlyMap<string, BlockKind> = new Map<string, BlockKind>([
  ['text', 'text'],
  ['thinking', 'reasoning'],
  ['redacted_thinking', 'reasoning'],
  ['tool_use', 'call'],
]);

/** Finds the type of a delta, which follows from other fields if the type is missing; undefined: the type is not known. */
function findDeltaType(delta: JsonObject): string | undefined {
  const type = asText(delta['type']);
  if (type !== undefined) return type;
  if (delta['text'] !== undefined) return 'text_delta';
  if (delta['thinking'] !== undefined) return 'thinking_delta';
  return delta['partial_json'] === undefined ? undefined : 'input_json_delta';
}

/** Reads a usage object of the protocol. Some servers use the field names of OpenAI's Chat Completions. */
function readUsage(usage: JsonObject): ReportedUsage {
  return {
    uncached: asNumber(usage['input_tokens'] ?? usage['prompt_tokens']),
    cacheRead: asNumber(usage['cache_read_input_tokens']),
    cacheWrite: asNumber(usage['cache_creation_input_tokens']),
    output: asNumber(usage['output_tokens'] ?? usage['completion_tokens']),
    reasoning: asNumber(asObject(usage['output_tokens_details'])?.['thinking_tokens']),
  };
}
