import type { CitedPage } from '../../../protocol/web.ts';
import { type JsonObject, type JsonValue, isJsonObject } from '../../../base/json.ts';
import { byteLength } from '../../../base/text.ts';
import type { AssistantPart, Message, ProviderMeta } from '../../../protocol/message.ts';
import type { FinishReason, ModelPart, ProgressPart, Usage } from '../../../protocol/model.ts';
import type { Repair, Repairs } from '../../../protocol/repair.ts';
import { type AnswerCaps } from './answer-caps.ts';
import { ReportedError, AnswerTooLargeError } from '../errors/answer-errors.ts';
import {
  BLOCK_BYTES,
  type AnswerBlock,
  type ToolCallBlock,
  type TextBlock,
  areBlocksComplete,
  toAssistantParts,
} from './answer-blocks.ts';
import { TextBlocks } from './text-blocks.ts';
import { separateThoughts } from './separate-thoughts.ts';
import { type ReportedUsage, toUsage } from './reported-usage.ts';
import { lazy } from '../../../base/lazy.ts';

/** The maximum number of pages that are kept of a provider's search. */
const MAX_SOURCES = 200;
/** The maximum number of searches that are counted. */
const MAX_SEARCHES = 100;

type Finished = Extract<ModelPart, { type: 'finished' }>;

interface BuilderOptions {
  /** The messages of the request. The ids of new calls must differ from the call ids in these messages. */
  readonly history: readonly Message[];
  readonly caps: AnswerCaps;
  /** The key under which the provider package keeps its metadata of a part. */
  readonly metaKey: string;
}

/**
 * Builds one answer from the parts that a reader finds in the stream. The methods throw AnswerTooLargeError when the
 * answer exceeds the limit on its size.
 */
export class AnswerBuilder {
  private readonly options: BuilderOptions;
  private readonly blocks: AnswerBlock[] = [];
  private readonly texts: TextBlocks;
  /** The calls that have not ended, by key. */
  private readonly calls = new Map<string, ToolCallBlock>();
  private readonly ids: CallIds;
  private contentBytes = 0;
  private servedBy: string | undefined;
  /** The pages that the provider's search has found, by URL. */
  private readonly sources = new Map<string, CitedPage>();
  private readonly searches = new Set<string>();
  private readonly usage: { -readonly [field in keyof ReportedUsage]: ReportedUsage[field] } = {};
  private readonly repairCounts = new Map<Repair, number>();
  private progress: ProgressPart[] = [];
  private argumentsGrew = false;
  private reason: FinishReason | null = null;
  /** The number of parts after the finish reason. If there are any, the finish reason was not the end of the answer. */
  private lateParts = 0;
  private hasEnded = false;
  private error: unknown = null;

  constructor(options: BuilderOptions) {
    this.options = options;
    this.ids = new CallIds(options.history);
    this.texts = new TextBlocks({
      blocks: this.blocks,
      countBytes: (bytes) => this.countBytes(bytes),
      addMeta: (before, meta) => this.addMeta(before, meta),
      addProgress: (part) => this.progress.push(part),
      repair: (kind) => this.repair(kind),
    });
  }

  /** Appends to the open text block with this key; without a key, to the last block if it is text. Begins one if needed. */
  addText(piece: string, key?: string, meta?: JsonObject): void {
    if (piece !== '') this.recordContent();
    this.texts.addText(piece, key, meta);
  }

  /** Appends to the open reasoning block with this key; without a key, to the last block if it is reasoning. Begins one if needed. */
  addReasoning(piece: string, key?: string, meta?: JsonObject): void {
    if (piece !== '') this.recordContent();
    this.texts.addReasoning(piece, key, meta);
  }

  /** Begins a block that `closeBlock` ends. */
  openBlock(type: TextBlock['type'], key: string, meta?: JsonObject): void {
    this.texts.openBlock(type, key, meta);
  }

  closeBlock(type: TextBlock['type'], key: string, meta?: JsonObject): void {
    this.texts.closeBlock(type, key, meta);
  }

  /** Begins a call. `id`: the id from the server; undefined: the server sent no id. */
  startCall(key: string, call: { readonly id?: string | undefined; readonly name: string }): void {
    this.recordContent();
    this.texts.endThinking();
    if (call.id === undefined) this.repair('missing_call_id');
    const serverId = this.ids.completeServerId(call.id);
    this.countBytes(BLOCK_BYTES + byteLength(serverId) + byteLength(call.name));
    const { id, isRenamed } = this.ids.reserve(serverId);
    const block: ToolCallBlock = {
      type: 'call',
      id,
      name: call.name,
      raw: '',
      hasEnded: false,
      isRenamed,
      meta: undefined,
    };
    this.calls.set(key, block);
    this.blocks.push(block);
    this.progress.push({ type: 'tool_call_started', id, name: call.name });
  }

  /** Sets the name of a call whose first piece arrived without its full name. */
  nameCall(key: string, name: string): void {
    const call = this.calls.get(key);
    if (call !== undefined) call.name = name;
  }

  /** Returns the raw arguments of a call so far; undefined: there is no such call. */
  getArguments(key: string): string | undefined {
    return this.calls.get(key)?.raw;
  }

  appendArguments(key: string, piece: string): void {
    const call = this.calls.get(key);
    if (call === undefined || piece === '') return;
    this.recordContent();
    this.countBytes(byteLength(piece));
    call.raw += piece;
    this.argumentsGrew = true;
  }

  /** Ends a call. `raw`: the complete arguments, if the protocol repeats them at the end. */
  endCall(
    key: string,
    { raw, meta }: { readonly raw?: string; readonly meta?: JsonObject } = {},
  ): void {
    const call = this.calls.get(key);
    if (call === undefined) return;
    if (raw !== undefined) {
      this.countBytes(Math.max(0, byteLength(raw) - byteLength(call.raw)));
      call.raw = raw;
    }
    call.hasEnded = true;
    call.meta = this.addMeta(call.meta, meta);
    // The key is released, because a server may use it again for another call.
    this.calls.delete(key);
  }

  /** Adds metadata to the last block of any type. */
  addMetaToLastBlock(meta: JsonObject): void {
    const last = this.blocks.at(-1);
    if (last !== undefined) last.meta = this.addMeta(last.meta, meta);
  }

  setServedBy(model: JsonValue | undefined): void {
    if (typeof model === 'string' && isModelId(model)) this.servedBy = model;
  }

  /** Merges a usage report into earlier reports. A later number replaces an earlier one, but a zero replaces nothing. */
  setUsage(usage: ReportedUsage): void {
    const fields = Object.entries(usage) as [keyof ReportedUsage, number | undefined][];
    for (const [field, value] of fields) {
      if (value !== undefined) this.usage[field] = value === 0 ? (this.usage[field] ?? 0) : value;
    }
  }

  /** Sets the finish reason. The usage and other events may still follow. */
  finish(reason: FinishReason): void {
    this.reason = reason;
  }

  /** Ends the answer: nothing relevant follows. */
  end(): void {
    this.hasEnded = true;
  }

  /**
   * Ends the answer with an error. Only the first error counts. An error event after the finish reason does not
   * invalidate a complete answer, unless content arrived in between: the finish reason was not the end then.
   */
  fail(error: unknown): void {
    const isComplete = this.reason !== null && this.lateParts === 0 && this.error === null;
    if (isComplete && error instanceof ReportedError) this.repair('error_after_end');
    else this.error ??= error;
  }

  repair(kind: Repair, count = 1): void {
    this.repairCounts.set(kind, (this.repairCounts.get(kind) ?? 0) + count);
  }

  get finishReason(): FinishReason | null {
    return this.reason;
  }

  /** The number of parts of content after a finish reason. */
  get partsAfterReason(): number {
    return this.lateParts;
  }

  get isEnded(): boolean {
    return this.hasEnded;
  }

  get failure(): unknown {
    return this.error;
  }

  /** Adds a page that the provider's search has found. */
  addSource(source: CitedPage): void {
    const known = this.sources.get(source.url);
    if (known === undefined ? this.sources.size < MAX_SOURCES : known.title === '') {
      this.sources.set(source.url, source);
    }
  }

  /** Counts a search that the provider charges. An answer may name the same search several times. */
  addSearch(search: string): void {
    if (this.searches.size < MAX_SEARCHES) this.searches.add(search);
  }

  get hasContent(): boolean {
    return this.blocks.length > 0;
  }

  /** True if the answer can be regarded as complete although its server gave no finish reason. */
  get isComplete(): boolean {
    return areBlocksComplete(this.blocks);
  }

  get repairs(): Repairs | undefined {
    return this.repairCounts.size === 0 ? undefined : Object.fromEntries(this.repairCounts);
  }

  /** The usage that the server has reported; undefined: the usage is incomplete and has to be estimated. */
  get usageSoFar(): Usage | undefined {
    const { usage, missing } = toUsage(this.usage);
    return missing === null ? usage : undefined;
  }

  /** The number of characters in the arguments of all calls. */
  get argumentCharacters(): number {
    return this.blocks.reduce(
      (sum, block) => (block.type === 'call' ? sum + block.raw.length : sum),
      0,
    );
  }

  /** Returns the progress since the last call of this method. */
  takeProgress(): { readonly parts: readonly ProgressPart[]; readonly argumentsGrew: boolean } {
    const { progress, argumentsGrew } = this;
    if (progress.length > 0) this.progress = [];
    this.argumentsGrew = false;
    return { parts: progress, argumentsGrew };
  }

  build(): Finished {
    this.texts.endThinking();
    // The answer has a finish reason, so all calls are complete.
    for (const key of this.calls.keys()) this.endCall(key);
    const { blocks, hasTags } = separateThoughts(this.blocks, this.reason ?? 'stop');
    if (!hasTags) this.repairCounts.delete('thinking_in_text');
    else if (!this.repairCounts.has('thinking_in_text')) this.repair('thinking_in_text');
    const last = this.reason === 'length' ? blocks.at(-1) : undefined;
    const repair = (kind: Repair): void => this.repair(kind);
    const content = blocks.flatMap((block) =>
      toAssistantParts(block, { isCut: block === last, repair }),
    );
    const { usage, missing } = toUsage(this.usage);
    if (missing !== null) this.repair(missing === 'all' ? 'missing_usage' : 'partial_usage');
    const { repairs } = this;
    return {
      type: 'finished',
      message: { role: 'assistant', content },
      usage,
      ...(missing === null ? {} : { usageMissing: missing }),
      reason: correctReason(this.reason ?? 'stop', content),
      ...(this.servedBy === undefined ? {} : { servedBy: this.servedBy }),
      ...(repairs === undefined ? {} : { repairs }),
      ...(this.sources.size === 0 ? {} : { sources: [...this.sources.values()] }),
      ...(this.searches.size === 0 ? {} : { searches: this.searches.size }),
    };
  }

  /** Merges metadata into earlier metadata. A later value of a field replaces an earlier value. */
  private addMeta(
    before: ProviderMeta | undefined,
    meta: JsonObject | undefined,
  ): ProviderMeta | undefined {
    if (meta === undefined || Object.keys(meta).length === 0) return before;
    const { metaKey } = this.options;
    const known = before?.[metaKey];
    return { ...before, [metaKey]: { ...(isJsonObject(known) ? known : {}), ...meta } };
  }

  private recordContent(): void {
    if (this.reason === null) return;
    if (this.lateParts === 0) this.repair('content_after_end');
    this.lateParts += 1;
  }

  private countBytes(bytes: number): void {
    this.contentBytes += bytes;
    const { contentBytes } = this.options.caps;
    if (this.contentBytes > contentBytes)
      throw new AnswerTooLargeError('answer_bytes', contentBytes);
  }
}

/** Corrects the finish reason of an answer with tool calls, for which many servers send `stop`. */
function correctReason(reason: FinishReason, content: readonly AssistantPart[]): FinishReason {
  if (reason !== 'stop') return reason;
  return content.some((part) => part.type === 'tool_call') ? 'tool_calls' : 'stop';
}

const ASCII = /^[!-~][ -~]{0,255}$/;
const PRINTABLE = lazy(() => /^[^\s\p{C}][^\p{C}]{0,255}$/u);

/** Returns true for a text that can be the id of a model. Other texts are ignored, because the id is displayed in many places. */
function isModelId(text: string): boolean {
  return ASCII.test(text) || PRINTABLE().test(text);
}

/** Gives each call of an answer an id that is unique in the answer and the history. */
export class CallIds {
  private readonly history: readonly Message[];
  /** The ids that the server sent for the calls of this answer. */
  private readonly serverIds = new Set<string>();
  /** The ids of the calls in the history and in this answer; null: the history has not been read yet. */
  private used: Set<string> | null = null;

  constructor(history: readonly Message[]) {
    this.history = history;
  }

  /** Returns the id from the server, or creates an id if the server sent none. */
  completeServerId(id: string | undefined): string {
    return id ?? `call_${this.serverIds.size}`;
  }

  /**
   * Reserves an id for a call, and adds a suffix if the id is in use. `isRenamed`: true if another call of this answer
   * has the same id from the server.
   */
  reserve(serverId: string): { readonly id: string; readonly isRenamed: boolean } {
    this.used ??= collectCallIds(this.history);
    let id = serverId;
    for (let n = 2; this.used.has(id); n += 1) id = `${serverId}_${n}`;
    this.used.add(id);
    const isRenamed = this.serverIds.has(serverId);
    this.serverIds.add(serverId);
    return { id, isRenamed };
  }
}

function collectCallIds(history: readonly Message[]): Set<string> {
  const ids = new Set<string>();
  for (const message of history) {
    if (message.role !== 'assistant') continue;
    for (const part of message.content) if (part.type === 'tool_call') ids.add(part.id);
  }
  return ids;
}
