import type { JsonObject } from '../base/json.ts';
import type { AssistantMessage, Message } from './message.ts';
import type { Repairs } from './repair.ts';

/** The amounts of thinking before an answer, least first. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

/** The tiers of models, from the fastest to the most capable. `TIER_ALIASES` has other names for them. */
export const TIERS = ['fast', 'balanced', 'powerful'] as const;
export type Tier = (typeof TIERS)[number];

/** All names of tiers in agent files of any format. */
export const TIER_ALIASES: Readonly<Record<string, Tier>> = {
  fast: 'fast',
  light: 'fast',
  haiku: 'fast',
  balanced: 'balanced',
  main: 'balanced',
  sonnet: 'balanced',
  powerful: 'powerful',
  opus: 'powerful',
};

/** A selected model, with everything that is needed to use it again from the log alone. */
export interface ResolvedModel {
  /** The configured provider's name (`anthropic`, `openai`, `google`, `ollama`, or a user's own). */
  readonly provider: string;
  /** The provider's own id of the model. */
  readonly id: string;
  /** The requested tier, if a tier was requested. */
  readonly tier?: Tier;
  /** The steps by which it was selected, beginning with the request. They are logged, and shown by `explain`. */
  readonly chain: readonly string[];
  /** A warning about a request that could not be met, which is repeated in the result. */
  readonly warning?: string;
}

/** Returns the name of a model for output and flags: `provider/id`. */
export function modelName(model: Pick<ResolvedModel, 'provider' | 'id'>): string {
  return `${model.provider}/${model.id}`;
}

/** A tool as a request describes it. Its fields are always serialized in the same order. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** The system prompt and tools, which are the same in all requests of a task and in those of tasks with the same agent. */
export interface RequestPrefix {
  /** The texts of the system prompt, the most stable first. The last one is specific to the task. */
  readonly system: readonly string[];
  readonly tools: readonly ToolSpec[];
  /**
   * The parts of the first text of the system prompt, which are joined with an empty line between them. They are only
   * used to display a request and are never sent. Absent in older logs.
   */
  readonly parts?: readonly PromptPartLength[];
}

export interface PromptPartLength {
  readonly name: string;
  /** The length in UTF-16 units. */
  readonly length: number;
}

export interface ModelRequest {
  readonly model: ResolvedModel;
  readonly prefix: RequestPrefix;
  readonly messages: readonly Message[];
  /** `none` keeps the tools in the request (the prefix stays the same) and forbids calls. */
  readonly toolChoice: 'auto' | 'none';
  /** The maximum number of tokens of the answer, including thinking. Default: the server's own limit. */
  readonly maxOutputTokens?: number;
  readonly effort?: Effort;
  /** Groups requests that share a prefix, for providers that route by it (OpenAI). */
  readonly cacheKey?: string;
  /** The priority of the request while it waits for its turn. Default: in the foreground, and part of no tree. */
  readonly priority?: RequestPriority;
  /**
   * Returns the bytes of an attachment of its messages by their SHA-256; null if they are no longer stored. Absent
   * if no message has attachments.
   */
  readBlob?(hash: string): Uint8Array | null;
}

/** Decides when a request gets its turn among the requests that wait for the same provider. */
export interface RequestPriority {
  /** The id of the root task. Trees take turns. */
  readonly tree: string;
  /** True if nobody waits for the answer. Requests in the foreground go first. */
  readonly background: boolean;
}

/**
 * Tokens as the provider reports them. `input` excludes tokens that were read from or written to a cache; `output`
 * includes `reasoning`.
 */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
}

/** The part of the usage of an answer that its server did not report. */
export type UsageMissing = 'all' | 'input' | 'output';

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

/** Builds a usage from a function that gives the number of each field. */
function buildUsage(count: (field: keyof Usage) => number): Usage {
  return {
    input: count('input'),
    output: count('output'),
    cacheRead: count('cacheRead'),
    cacheWrite: count('cacheWrite'),
    reasoning: count('reasoning'),
  };
}

export function addUsage(a: Usage, b: Usage): Usage {
  return buildUsage((field) => a[field] + b[field]);
}

/** Reads a number from a log, which may contain anything. Anything but a number from 0 counts as 0. */
export function toCount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;
}

/** Reads a usage from a log, which may contain anything. */
export function toUsageCounts(usage: Usage): Usage {
  return buildUsage((field) => toCount(usage[field]));
}

/** An amount of paid tokens, and its cost in USD as far as prices are known. */
export interface Amount {
  readonly tokens: number;
  readonly costUsd: number;
}

export const NO_AMOUNT: Amount = { tokens: 0, costUsd: 0 };

export function addAmounts(a: Amount, b: Amount): Amount {
  return { tokens: a.tokens + b.tokens, costUsd: a.costUsd + b.costUsd };
}

/** The work that budgets count in addition to the cost. */
export interface Work {
  /** The number of complete answers. */
  readonly turns: number;
  /** The number of bytes of the results of calls. */
  readonly toolBytes: number;
}

export const NO_WORK: Work = { turns: 0, toolBytes: 0 };

export function addWork(a: Work, b: Work): Work {
  return { turns: a.turns + b.turns, toolBytes: a.toolBytes + b.toolBytes };
}

/** Returns the tokens that budgets count: input, cache writes and output. Cache reads cost little and do not count. */
export function paidTokens(usage: Usage): number {
  return usage.input + usage.cacheWrite + usage.output;
}

export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'other';

export type FailureKind =
  | 'connect'
  | 'rate_limit'
  | 'overloaded'
  | 'server'
  | 'auth'
  | 'bad_request'
  | 'not_found'
  | 'context_overflow'
  | 'malformed'
  /** The answer exceeds a limit on its size. It is not used, and the request is not repeated. */
  | 'too_large'
  | 'timeout'
  | 'cancelled';

/** The failure of a model request, as a value. It is never thrown, so that the loop can decide what to do. */
export interface ModelFailure {
  readonly kind: FailureKind;
  /** A message for people with the provider, the model and its error text, but without keys and headers. */
  readonly message: string;
  readonly retryable: boolean;
  readonly status?: number;
  /** The value of Retry-After in milliseconds. */
  readonly retryAfterMs?: number;
  /** The time limit that was exceeded, for `timeout`. */
  readonly limit?: 'connect' | 'first_token' | 'stream_idle';
}

/** One part of an answer, as it is streamed. */
export type ModelPart =
  /**
   * The request waits for a rate limit. A wait for the limit on simultaneous requests is not reported. `because`: the
   * limit that it waits for ("the rate limit of …"). `untilMs`: the end of the wait in milliseconds since the epoch;
   * null if it is not known.
   */
  | { readonly type: 'held'; readonly because: string; readonly untilMs: number | null }
  /** The wait after `held` is over. The request is sent when the next part is read, and may be held again. */
  | { readonly type: 'admitted' }
  /** The first byte of the answer has arrived. This part comes exactly once, before all parts that follow in this list. */
  | { readonly type: 'accepted' }
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'reasoning_delta'; readonly text: string }
  /** A call has begun. Its arguments are not complete, so it must not run yet. */
  | { readonly type: 'tool_call_started'; readonly id: string; readonly name: string }
  /** An event without content shows that the connection works (a ping, or an unknown event). */
  | { readonly type: 'ping' }
  /** The complete answer: the last part if the request succeeds. */
  | {
      readonly type: 'finished';
      readonly message: AssistantMessage;
      readonly usage: Usage;
      /** The part of `usage` that the server did not report, and that is therefore 0. Default: none. */
      readonly usageMissing?: UsageMissing;
      readonly reason: FinishReason;
      /** The model that answered, if the provider names it. */
      readonly servedBy?: string;
      /** Repairs in the answer, with their counts. Default: none. */
      readonly repairs?: Repairs;
    }
  /** The failure: the last part if the request fails. Parts before it remain valid. */
  | {
      readonly type: 'failed';
      readonly failure: ModelFailure;
      readonly usage?: Usage;
      /** The number of characters of call arguments that had arrived, which no other part reports. */
      readonly argumentCharacters?: number;
      /** Repairs in the part of the answer that had arrived. Default: none. */
      readonly repairs?: Repairs;
    };

/** The next sign of progress that a silent request waits for. */
export type AwaitedProgress = 'connection' | 'first_token' | 'next_event';

/** The state of a request for which no content has arrived for `silentMs`. */
export interface Silence {
  readonly waitsFor: AwaitedProgress;
  readonly silentMs: number;
}

/** The parts of an answer that are shown while it arrives. */
export type ProgressPart = Extract<
  ModelPart,
  { readonly type: 'text_delta' | 'reasoning_delta' | 'tool_call_started' }
>;

/** Is called while a request is under way, in addition to the parts that its stream yields. */
export interface AnswerListener {
  /** Called when nothing has arrived for a while. */
  onSilence(silence: Silence): void;
  /** Called when something arrives after such a silence. */
  onResumed(): void;
  /**
   * Called by a network port instead of yielding the part. There are many of these parts, no decision depends on them,
   * and yielding each of them through several iterators would be slow.
   */
  onProgress(part: ProgressPart): void;
}

/**
 * The only interface to a model. `stream` never throws and never rejects: it ends with `finished` or `failed`. If the
 * signal aborts, it ends soon with `failed` of kind `cancelled`.
 */
export interface ModelPort {
  stream(
    request: ModelRequest,
    signal: AbortSignal,
    listener?: AnswerListener,
  ): AsyncIterable<ModelPart>;
}

/** The details of a model that are known. A field is null if it is not known. */
export interface ModelDetails {
  readonly contextWindow: number | null;
  /** The maximum number of output tokens of the model. Requests set no maximum if it is null. */
  readonly maxOutput: number | null;
  readonly price: ModelPrice | null;
  /** The minimum length, in tokens, of a prefix that the provider caches. Absent if it is not known. */
  readonly cacheMinimum?: number;
}

/** The output limit of a model, for which a request reserves a part of the budget. */
export interface ModelOutputLimit {
  /** The model as `provider/id`. */
  readonly model: string;
  /** Its output limit in tokens. */
  readonly limit: number;
}

/** Prices in USD per million tokens. */
export interface TokenPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** The prices of a complete request whose prompt, cached or not, is longer than a number of tokens. */
export interface LongPromptPrices extends TokenPrices {
  /** The number of tokens. */
  readonly abovePromptTokens: number;
}

export interface ModelPrice extends TokenPrices {
  /** Prices for long prompts, in ascending order of `above`. Default: all prompts have the same prices. */
  readonly longPrompts?: readonly LongPromptPrices[];
  /** The source of the price. */
  readonly source: string;
  /** The date of the price according to the source, `YYYY-MM-DD`; null if it is not known. */
  readonly asOf: string | null;
}
