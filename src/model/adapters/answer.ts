import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { AssistantPart, Message, ProviderMeta } from '../../protocol/message.ts';
import {
  counted,
  type FinishReason,
  type ModelPart,
  type ProgressPart,
  type Usage,
} from '../../protocol/model.ts';
import { byteLength } from '../../base/text.ts';
import { AnswerTooLarge, type AnswerCaps } from './answer-caps.ts';
import { finishedPart, type CallBlock, type TextBlock } from './answer-parts.ts';
import { BrokenOff, MalformedAnswer } from './failure.ts';
import { isModelId } from './model-id.ts';

type Finished = Extract<ModelPart, { type: 'finished' }>;

/** What one stream part means for the reader. */
type Taken =
  | { readonly type: 'part'; readonly part: ProgressPart | typeof PING_PART }
  | { readonly type: 'nothing' }
  /** More of a call's arguments. */
  | { readonly type: 'arguments' }
  | { readonly type: 'end'; readonly finished: Finished }
  /** `usage`: what it has used all the same, where the server said so. */
  | { readonly type: 'error'; readonly error: unknown; readonly usage?: Usage };

/** What a block takes beside its text, roughly: many empty ones are kept, too. */
const BLOCK_BYTES = 64;

export const BROKE_OFF = 'the answer broke off before its end';
const NOTHING: Taken = { type: 'nothing' };
const ARGUMENTS: Taken = { type: 'arguments' };
const PING_PART = { type: 'ping' } as const;
const PING: Taken = { type: 'part', part: PING_PART };

/** Puts an answer together from the parts of its stream. */
export class Answer {
  private readonly blocks: (TextBlock | CallBlock)[] = [];
  /** By the stream's own ids, which may come again after a block has ended. */
  private readonly texts = new Map<string, TextBlock>();
  private readonly calls = new Map<string, CallBlock>();
  /** As the stream gave them to calls of this answer. */
  private readonly ids = new Set<string>();
  private readonly history: readonly Message[];
  private taken: Set<string> | null = null;
  private servedBy: string | undefined;
  private readonly caps: AnswerCaps;
  /** Bytes of what is kept. */
  private size = 0;

  constructor(history: readonly Message[], caps: AnswerCaps) {
    this.history = history;
    this.caps = caps;
  }

  /** Throws AnswerTooLarge when more would have to be kept than is taken of one answer. */
  take(part: LanguageModelV4StreamPart): Taken {
    switch (part.type) {
      case 'stream-start':
        return NOTHING;
      case 'text-start':
        this.open('text', part.id, part.providerMetadata);
        return PING;
      case 'reasoning-start':
        this.open('reasoning', part.id, part.providerMetadata);
        return PING;
      case 'text-delta':
        return this.append('text', part.id, part.delta, part.providerMetadata);
      case 'reasoning-delta':
        return this.append('reasoning', part.id, part.delta, part.providerMetadata);
      case 'text-end':
      case 'reasoning-end':
        this.close(part.id, part.type, part.providerMetadata);
        return PING;
      case 'tool-input-start':
        return this.startCall(part.id, part.toolName, part.providerMetadata);
      case 'tool-input-delta':
        this.growCall(part.id, part.delta);
        return ARGUMENTS;
      case 'tool-call':
        return this.endCall(part);
      case 'response-metadata':
        if (part.modelId !== undefined && isModelId(part.modelId)) this.servedBy = part.modelId;
        return PING;
      case 'finish':
        return this.finish(part.finishReason, part.usage);
      case 'error':
        return { type: 'error', error: part.error };
      default:
        return PING;
    }
  }

  /** What has come of the arguments of calls. */
  get argumentCharacters(): number {
    return this.blocks.reduce(
      (sum, block) => (block.type === 'call' ? sum + block.raw.length : sum),
      0,
    );
  }

  private open(
    type: TextBlock['type'],
    id: string,
    metadata: SharedV4ProviderMetadata | undefined,
  ): TextBlock {
    this.keep(BLOCK_BYTES);
    const block: TextBlock = { type, text: '', meta: mergeMeta(undefined, metadata) };
    this.texts.set(`${type} ${id}`, block);
    this.blocks.push(block);
    return block;
  }

  private append(
    type: TextBlock['type'],
    id: string,
    text: string,
    metadata: SharedV4ProviderMetadata | undefined,
  ): Taken {
    const block = this.texts.get(`${type} ${id}`) ?? this.open(type, id, undefined);
    this.keep(byteLength(text));
    block.text += text;
    block.meta = mergeMeta(block.meta, metadata);
    if (text === '') return PING;
    return { type: 'part', part: { type: `${type}_delta`, text } };
  }

  private close(
    id: string,
    type: 'text-end' | 'reasoning-end',
    metadata: SharedV4ProviderMetadata | undefined,
  ): void {
    const block = this.texts.get(`${type === 'text-end' ? 'text' : 'reasoning'} ${id}`);
    if (block !== undefined) block.meta = mergeMeta(block.meta, metadata);
  }

  private startCall(
    streamId: string,
    name: string,
    metadata: SharedV4ProviderMetadata | undefined,
  ): Taken {
    this.keep(BLOCK_BYTES + byteLength(streamId) + byteLength(name));
    const id = this.uniqueId(streamId);
    const call: CallBlock = {
      type: 'call',
      id,
      name,
      raw: '',
      isWhole: false,
      isRenamed: this.ids.has(streamId),
      meta: mergeMeta(undefined, metadata),
    };
    this.ids.add(streamId);
    this.calls.set(streamId, call);
    this.blocks.push(call);
    return { type: 'part', part: { type: 'tool_call_started', id, name } };
  }

  private growCall(streamId: string, delta: string): void {
    const call = this.calls.get(streamId);
    if (call === undefined) return;
    this.keep(byteLength(delta));
    call.raw += delta;
  }

  private endCall(part: Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>): Taken {
    const taken = this.calls.has(part.toolCallId)
      ? PING
      : this.startCall(part.toolCallId, part.toolName, undefined);
    const call = this.calls.get(part.toolCallId);
    if (call !== undefined) {
      // What came in pieces before is counted already.
      this.keep(Math.max(0, byteLength(part.input) - byteLength(call.raw)));
      call.raw = part.input;
      call.isWhole = true;
      call.meta = mergeMeta(call.meta, part.providerMetadata);
      // A second call under the same id is another call.
      this.calls.delete(part.toolCallId);
    }
    return taken;
  }

  private keep(bytes: number): void {
    this.size += bytes;
    const { contentBytes } = this.caps;
    if (this.size > contentBytes) throw new AnswerTooLarge('answer_bytes', contentBytes);
  }

  /** The provider's id, with a suffix where this answer or the history has it already. */
  private uniqueId(id: string): string {
    this.taken ??= callIds(this.history);
    let unique = id;
    for (let n = 2; this.taken.has(unique); n += 1) unique = `${id}_${n}`;
    this.taken.add(unique);
    return unique;
  }

  private finish(reason: LanguageModelV4FinishReason, usage: LanguageModelV4Usage): Taken {
    if (reason.unified === 'interrupted') {
      return { type: 'error', error: new BrokenOff(BROKE_OFF) };
    }
    if (reason.unified === 'error') {
      const says = `the answer ended with ${reason.raw ?? 'an error'}`;
      const told = isMissing(usage) ? {} : { usage: toUsage(usage) };
      return { type: 'error', error: new MalformedAnswer(says), ...told };
    }
    const last = reason.unified === 'length' ? this.blocks.at(-1) : undefined;
    const content = this.blocks.flatMap((block) => finishedPart(block, { isCut: block === last }));
    const finished: Finished = {
      type: 'finished',
      message: { role: 'assistant', content },
      usage: toUsage(usage),
      ...(isMissing(usage) ? { usageMissing: true } : {}),
      reason: finishReason(reason.unified, content),
      ...(this.servedBy === undefined ? {} : { servedBy: this.servedBy }),
    };
    return { type: 'end', finished };
  }
}

/** What the end of an answer says of its usage, whatever was wrong before; undefined: nothing. */
export function finalUsage(part: LanguageModelV4StreamPart): Usage | undefined {
  if (part.type !== 'finish' || isMissing(part.usage)) return undefined;
  const { unified } = part.finishReason;
  // Then it is the package that ends it, with what little it knows by then.
  return unified === 'error' || unified === 'interrupted' ? undefined : toUsage(part.usage);
}

function callIds(history: readonly Message[]): Set<string> {
  const ids = new Set<string>();
  for (const message of history) {
    if (message.role !== 'assistant') continue;
    for (const part of message.content) if (part.type === 'tool_call') ids.add(part.id);
  }
  return ids;
}

/** Later fields win: a signature comes with the end of a block, an item id with its start. */
function mergeMeta(
  meta: ProviderMeta | undefined,
  metadata: SharedV4ProviderMetadata | undefined,
): ProviderMeta | undefined {
  if (metadata === undefined) return meta;
  const merged: Record<string, JsonValue | undefined> = { ...meta };
  for (const [provider, fields] of Object.entries(metadata)) {
    const before = merged[provider];
    const after: JsonObject = { ...(isJsonObject(before) ? before : {}), ...fields };
    if (Object.keys(after).length > 0) merged[provider] = after;
  }
  return Object.keys(merged).length === 0 ? undefined : merged;
}

function finishReason(
  unified: Exclude<LanguageModelV4FinishReason['unified'], 'error' | 'interrupted'>,
  content: readonly AssistantPart[],
): FinishReason {
  switch (unified) {
    case 'stop':
      // Many servers say `stop` for an answer that calls tools.
      return content.some((part) => part.type === 'tool_call') ? 'tool_calls' : 'stop';
    case 'tool-calls':
      return 'tool_calls';
    case 'content-filter':
      return 'content_filter';
    case 'length':
      return 'length';
    case 'other':
      return 'other';
  }
}

function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  const cacheRead = count(inputTokens.cacheRead);
  const cacheWrite = count(inputTokens.cacheWrite);
  const uncached = inputTokens.noCache ?? count(inputTokens.total) - cacheRead - cacheWrite;
  return {
    input: count(uncached),
    output: count(outputTokens.total),
    cacheRead,
    cacheWrite,
    reasoning: count(outputTokens.reasoning),
  };
}

/** Also where it says that nothing was used, as servers do that can't count: a cap would never act. */
function isMissing({ inputTokens, outputTokens }: LanguageModelV4Usage): boolean {
  return count(inputTokens.total) + count(outputTokens.total) === 0;
}

/** A server says what it likes: less than nothing would lift a budget, and sums have to stay finite. */
function count(tokens: number | undefined): number {
  return Math.min(counted(tokens), Number.MAX_SAFE_INTEGER);
}
