import { type JsonObject, type JsonValue, isJsonObject } from '../../../base/json.ts';
import { byteLength } from '../../../base/text.ts';
import type { AssistantPart, Message, ProviderMeta } from '../../../protocol/message.ts';
import type { FinishReason, ModelPart, ProgressPart, Usage } from '../../../protocol/model.ts';
import type { Repair, Repairs } from '../../../protocol/repair.ts';
import { type AnswerCaps, AnswerTooLargeError } from './answer-caps.ts';
import { ReportedError } from '../errors/answer-errors.ts';
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

type Finished = Extract<ModelPart, { type: 'finished' }>;

interface BuilderOptions {
  /** The messages of the request: ids of calls are unique among them. */
  readonly history: readonly Message[];
  readonly caps: AnswerCaps;
  /** The key under which the provider package takes back the metadata of a part. */
  readonly metaKey: string;
}

/**
 * Builds one answer from the parts that a reader finds in its stream. Throws AnswerTooLarge when more would
 * have to be kept than is accepted of one answer.
 */
export class AnswerBuilder {
  private readonly options: BuilderOptions;
  private readonly blocks: AnswerBlock[] = [];
  private readonly texts: TextBlocks;
  private readonly calls = new Map<string, ToolCallBlock>();
  private readonly ids: CallIds;
  private size = 0;
  private servedBy: string | undefined;
  private readonly usage: { -readonly [field in keyof ReportedUsage]: ReportedUsage[field] } = {};
  private readonly repairCounts = new Map<Repair, number>();
  private progress: ProgressPart[] = [];
  private argumentsGrew = false;
  private reason: FinishReason | null = null;
  /** Number of parts that came after a finish reason, which therefore did not mean the end. */
  private lateContent = 0;
  private ended = false;
  private error: unknown = null;

  constructor(options: BuilderOptions) {
    this.options = options;
    this.ids = new CallIds(options.history);
    this.texts = new TextBlocks({
      blocks: this.blocks,
      keep: (bytes) => this.keep(bytes),
      merge: (before, meta) => this.merge(before, meta),
      show: (part) => this.progress.push(part),
      repair: (kind) => this.repair(kind),
    });
  }

  /** Appends to the text block of that key; without a key, to the last block if it is text. */
  text(piece: string, key?: string, meta?: JsonObject): void {
    if (piece !== '') this.noteContent();
    this.texts.addText(piece, key, meta);
  }

  /** Appends to the reasoning block of that key; without a key, to the last block if it is reasoning. */
  reasoning(piece: string, key?: string, meta?: JsonObject): void {
    if (piece !== '') this.noteContent();
    this.texts.addReasoning(piece, key, meta);
  }

  /** Begins a block that its protocol will close. */
  openBlock(type: TextBlock['type'], key: string, meta?: JsonObject): void {
    this.texts.openBlock(type, key, meta);
  }

  closeBlock(type: TextBlock['type'], key: string, meta?: JsonObject): void {
    this.texts.closeBlock(type, key, meta);
  }

  /** Begins a call. `id`: the server's own; undefined: it gave none. */
  startCall(key: string, call: { readonly id?: string | undefined; readonly name: string }): void {
    this.noteContent();
    this.texts.endThinking();
    if (call.id === undefined) this.repair('missing_call_id');
    const serverId = this.ids.serverIdOf(call.id);
    this.keep(BLOCK_BYTES + byteLength(serverId) + byteLength(call.name));
    const { id, isRenamed } = this.ids.take(serverId);
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

  /** Names a call whose first piece came without its name. */
  nameCall(key: string, name: string): void {
    const call = this.calls.get(key);
    if (call !== undefined) call.name = name;
  }

  /** The raw arguments that have come of a call; undefined: there is no such call. */
  argumentsOf(key: string): string | undefined {
    return this.calls.get(key)?.raw;
  }

  growArguments(key: string, piece: string): void {
    const call = this.calls.get(key);
    if (call === undefined || piece === '') return;
    this.noteContent();
    this.keep(byteLength(piece));
    call.raw += piece;
    this.argumentsGrew = true;
  }

  /** Ends a call. `raw`: its complete arguments, where the protocol repeats them. */
  endCall(
    key: string,
    { raw, meta }: { readonly raw?: string; readonly meta?: JsonObject } = {},
  ): void {
    const call = this.calls.get(key);
    if (call === undefined) return;
    if (raw !== undefined) {
      this.keep(Math.max(0, byteLength(raw) - byteLength(call.raw)));
      call.raw = raw;
    }
    call.hasEnded = true;
    call.meta = this.merge(call.meta, meta);
    // A later call under the same key is another call.
    this.calls.delete(key);
  }

  /** Puts metadata on the last block, whatever it is. */
  annotateLast(meta: JsonObject): void {
    const last = this.blocks.at(-1);
    if (last !== undefined) last.meta = this.merge(last.meta, meta);
  }

  setServedBy(model: JsonValue | undefined): void {
    if (typeof model === 'string' && isModelId(model)) this.servedBy = model;
  }

  /** Takes a report of usage. A later one wins, field by field, but its zero does not replace a number. */
  setUsage(usage: ReportedUsage): void {
    const fields = Object.entries(usage) as [keyof ReportedUsage, number | undefined][];
    for (const [field, value] of fields) {
      if (value !== undefined) this.usage[field] = value === 0 ? (this.usage[field] ?? 0) : value;
    }
  }

  /** Takes the reason for which the answer ends. More may come, such as its usage. */
  finish(reason: FinishReason): void {
    this.reason = reason;
  }

  /** Ends the answer: nothing that matters comes after this. */
  end(): void {
    this.ended = true;
  }

  /**
   * Ends the answer with an error; the first one stands. An error event after the finish reason takes nothing
   * away from a complete answer, unless content came between them: then that reason was not the end.
   */
  fail(error: unknown): void {
    const isComplete = this.reason !== null && this.lateContent === 0 && this.error === null;
    if (isComplete && error instanceof ReportedError) this.repair('error_after_end');
    else this.error ??= error;
  }

  repair(kind: Repair, count = 1): void {
    this.repairCounts.set(kind, (this.repairCounts.get(kind) ?? 0) + count);
  }

  get finishReason(): FinishReason | null {
    return this.reason;
  }

  /** Number of parts of content that came after a finish reason. */
  get partsAfterReason(): number {
    return this.lateContent;
  }

  get isEnded(): boolean {
    return this.ended;
  }

  get failure(): unknown {
    return this.error;
  }

  get hasContent(): boolean {
    return this.blocks.length > 0;
  }

  /** Whether the answer can be taken as complete although its server gave no finish reason. */
  get isComplete(): boolean {
    return areBlocksComplete(this.blocks);
  }

  get repairs(): Repairs | undefined {
    return this.repairCounts.size === 0 ? undefined : Object.fromEntries(this.repairCounts);
  }

  /** The usage that the server reported; undefined: it has not reported all of it, so it has to be estimated. */
  get usageSoFar(): Usage | undefined {
    const { usage, missing } = toUsage(this.usage);
    return missing === null ? usage : undefined;
  }

  /** Characters of the arguments of calls. */
  get argumentCharacters(): number {
    return this.blocks.reduce(
      (sum, block) => (block.type === 'call' ? sum + block.raw.length : sum),
      0,
    );
  }

  /** Takes the progress since the last call of this. */
  takeProgress(): { readonly parts: readonly ProgressPart[]; readonly argumentsGrew: boolean } {
    const { progress, argumentsGrew } = this;
    if (progress.length > 0) this.progress = [];
    this.argumentsGrew = false;
    return { parts: progress, argumentsGrew };
  }

  build(): Finished {
    this.texts.endThinking();
    // A server that says how the answer ended has sent all of its calls.
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
      reason: finishReason(this.reason ?? 'stop', content),
      ...(this.servedBy === undefined ? {} : { servedBy: this.servedBy }),
      ...(repairs === undefined ? {} : { repairs }),
    };
  }

  /** Adds metadata. A later field wins: a signature comes with the end of a block, an item id with its start. */
  private merge(
    before: ProviderMeta | undefined,
    meta: JsonObject | undefined,
  ): ProviderMeta | undefined {
    if (meta === undefined || Object.keys(meta).length === 0) return before;
    const { metaKey } = this.options;
    const known = before?.[metaKey];
    return { ...before, [metaKey]: { ...(isJsonObject(known) ? known : {}), ...meta } };
  }

  private noteContent(): void {
    if (this.reason === null) return;
    if (this.lateContent === 0) this.repair('content_after_end');
    this.lateContent += 1;
  }

  private keep(bytes: number): void {
    this.size += bytes;
    const { contentBytes } = this.options.caps;
    if (this.size > contentBytes) throw new AnswerTooLargeError('answer_bytes', contentBytes);
  }
}

/** Corrects the reason of an answer that calls tools: many servers say `stop` for it. */
function finishReason(reason: FinishReason, content: readonly AssistantPart[]): FinishReason {
  if (reason !== 'stop') return reason;
  return content.some((part) => part.type === 'tool_call') ? 'tool_calls' : 'stop';
}

const ASCII = /^[!-~][ -~]{0,255}$/;
const PRINTABLE = lazy(() => /^[^\s\p{C}][^\p{C}]{0,255}$/u);

/** What a server may call its model: the name stands in every log, table and result. */
function isModelId(text: string): boolean {
  return ASCII.test(text) || PRINTABLE().test(text);
}

/** Gives each call of an answer an id that neither the answer nor the history has. */
export class CallIds {
  private readonly history: readonly Message[];
  /** The ids that the server gave to the calls of this answer. */
  private readonly given = new Set<string>();
  /** The ids in use in the history and in this answer. */
  private used: Set<string> | null = null;

  constructor(history: readonly Message[]) {
    this.history = history;
  }

  /** Returns the server's id, or one in its form where the server gave none. */
  serverIdOf(id: string | undefined): string {
    return id ?? `call_${this.given.size}`;
  }

  /** Takes an id for a call, with a suffix where it is in use. `isRenamed`: another call of the answer has it. */
  take(serverId: string): { readonly id: string; readonly isRenamed: boolean } {
    this.used ??= callIds(this.history);
    let id = serverId;
    for (let n = 2; this.used.has(id); n += 1) id = `${serverId}_${n}`;
    this.used.add(id);
    const isRenamed = this.given.has(serverId);
    this.given.add(serverId);
    return { id, isRenamed };
  }
}

function callIds(history: readonly Message[]): Set<string> {
  const ids = new Set<string>();
  for (const message of history) {
    if (message.role !== 'assistant') continue;
    for (const part of message.content) if (part.type === 'tool_call') ids.add(part.id);
  }
  return ids;
}
