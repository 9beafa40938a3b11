import type { JsonObject } from '../base/json.ts';
import type { Effort } from './agent.ts';
import type { AssistantMessage, Message } from './message.ts';
import type { Repairs } from './repair.ts';

/** The tiers; each has the aliases of `TIER_ALIASES`. */
export const TIERS = ['fast', 'balanced', 'powerful'] as const;
export type Tier = (typeof TIERS)[number];

/** Every word that names a tier, in any agent format. */
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

/** A model that was decided on: enough to reach it again from the log alone. */
export interface ResolvedModel {
  /** The configured provider's name (`anthropic`, `openai`, `google`, `ollama`, or a user's own). */
  readonly provider: string;
  /** The provider's own id of the model. */
  readonly id: string;
  /** The tier asked for, where it was one. */
  readonly tier?: Tier;
  /** How it was chosen, one step an entry, first the wish: shown by `explain` and logged. */
  readonly chain: readonly string[];
  /** A wish that could not be met, for the result to repeat. */
  readonly warning?: string;
}

/** `provider/id`: how a model is printed and named in flags. */
export function modelName(model: Pick<ResolvedModel, 'provider' | 'id'>): string {
  return `${model.provider}/${model.id}`;
}

/** A tool as it stands in a request. Serialised once per view, always in the same order. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** The part of a request that all requests of one view share: it never changes while a task runs. */
export interface RequestPrefix {
  /** System prompt, stable part first; the last one is particular to the task. */
  readonly system: readonly string[];
  readonly tools: readonly ToolSpec[];
  /**
   * What the first text of the system prompt is joined from with an empty line between them, for whoever
   * looks at what a request held; never sent. Absent in older logs.
   */
  readonly parts?: readonly PromptPartLength[];
}

export interface PromptPartLength {
  readonly name: string;
  /** UTF-16 units. */
  readonly length: number;
}

export interface ModelRequest {
  readonly model: ResolvedModel;
  readonly prefix: RequestPrefix;
  readonly messages: readonly Message[];
  /** `none` keeps the tools in the request (the prefix stays the same) and forbids calls. */
  readonly toolChoice: 'auto' | 'none';
  /** The most tokens that the answer may have, thinking included; absent: the server's own limit. */
  readonly maxOutputTokens?: number;
  readonly effort?: Effort;
  /** Groups requests that share a prefix, for providers that route by it (OpenAI). */
  readonly cacheKey?: string;
  /** Where it stands when requests have to wait. Absent: in the foreground, of no tree. */
  readonly lane?: Lane;
  /** The bytes of an attachment of its messages, by their sha256; null: they are kept no more. Absent: of none. */
  readBlob?(hash: string): Uint8Array | null;
}

export interface Lane {
  /** The id of the task at the top of its tree: trees take turns. */
  readonly tree: string;
  /** Nobody waits for its answer: the foreground goes first. */
  readonly background: boolean;
}

/** Tokens as the provider reports them; `input` is what was not read from cache. */
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

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    reasoning: a.reasoning + b.reasoning,
  };
}

/** A log that was brought here may say anything: what is no number from 0 up counts as none. */
export function toCount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;
}

export function toUsageCounts(usage: Usage): Usage {
  return {
    input: toCount(usage.input),
    output: toCount(usage.output),
    cacheRead: toCount(usage.cacheRead),
    cacheWrite: toCount(usage.cacheWrite),
    reasoning: toCount(usage.reasoning),
  };
}

/** Paid tokens, and USD where a price is known. */
export interface Amount {
  readonly tokens: number;
  readonly costUsd: number;
}

export const NOTHING: Amount = { tokens: 0, costUsd: 0 };

export function addAmounts(a: Amount, b: Amount): Amount {
  return { tokens: a.tokens + b.tokens, costUsd: a.costUsd + b.costUsd };
}

/** What budgets count beside what is paid. */
export interface Work {
  /** Answers that ended. */
  readonly turns: number;
  /** Bytes of the results of calls. */
  readonly toolBytes: number;
}

export const NO_WORK: Work = { turns: 0, toolBytes: 0 };

export function addWork(a: Work, b: Work): Work {
  return { turns: a.turns + b.turns, toolBytes: a.toolBytes + b.toolBytes };
}

/** Tokens paid for, the measure of every budget: input not read from cache, plus output. */
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
  /** The answer is over a limit on its size: no answer, and no other one is asked for. */
  | 'too_large'
  | 'timeout'
  | 'cancelled';

/** A model request that went wrong, as a value: the loop decides, nothing is thrown. */
export interface ModelFailure {
  readonly kind: FailureKind;
  /** For a person: provider, model, what it said. No key, no header. */
  readonly message: string;
  readonly retryable: boolean;
  readonly status?: number;
  /** From Retry-After, in milliseconds. */
  readonly retryAfterMs?: number;
  /** For `timeout`: which limit ran out. */
  readonly limit?: 'connect' | 'first_token' | 'stream_idle';
}

export type ModelPart =
  /**
   * A rate limit holds the request back, and not the plain number of requests in flight. `because` is
   * what is waited for ("the rate limit of …"), `untilMs` until when, since the epoch; null: not known.
   */
  | { readonly type: 'held'; readonly because: string; readonly untilMs: number | null }
  /** After `held`: the request goes out when the next part is asked for. May be held again then. */
  | { readonly type: 'admitted' }
  /** The first byte of the answer: the request is accepted. Exactly once, before the rest. */
  | { readonly type: 'accepted' }
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'reasoning_delta'; readonly text: string }
  /** A call has begun; its arguments are not whole yet and nothing may run. */
  | { readonly type: 'tool_call_started'; readonly id: string; readonly name: string }
  /** A sign of life without content (ping, an unknown event). */
  | { readonly type: 'ping' }
  /** Last on success: the whole answer. */
  | {
      readonly type: 'finished';
      readonly message: AssistantMessage;
      readonly usage: Usage;
      /** The part of `usage` that the server left out; it is 0 there. Absent: none. */
      readonly usageMissing?: UsageMissing;
      readonly reason: FinishReason;
      /** The model that answered, where the provider names one. */
      readonly servedBy?: string;
      /** Repairs in the answer, with their counts. Default: none. */
      readonly repairs?: Repairs;
    }
  /** Last on failure; what was streamed before it stands. */
  | {
      readonly type: 'failed';
      readonly failure: ModelFailure;
      readonly usage?: Usage;
      /** What had come of the arguments of calls, which nobody was told of. */
      readonly argumentCharacters?: number;
      /** Repairs in the part of the answer that came. Default: none. */
      readonly repairs?: Repairs;
    };

/** What a request without news waits for. */
export type Awaited = 'connection' | 'first_token' | 'next_event';

/** No content has come for `silentMs`. */
export interface Silence {
  readonly waitsFor: Awaited;
  readonly silentMs: number;
}

/** What is shown of an answer while it comes. */
export type ProgressPart = Extract<
  ModelPart,
  { readonly type: 'text_delta' | 'reasoning_delta' | 'tool_call_started' }
>;

/** Hears of a request between the parts that its reader waits for. */
export interface AnswerListener {
  /** It is slow. */
  quiet(silence: Silence): void;
  /** It has come after that. */
  flowing(): void;
  /**
   * What a port over the wire tells in place of parts: nothing depends on them, there are many, and each costs
   * with each reader that it passes through.
   */
  progressed(part: ProgressPart): void;
}

/**
 * The one door to a model. `stream` never throws and never rejects: it ends with `finished` or
 * `failed`. Aborting the signal ends it soon with `failed` of kind `cancelled`.
 */
export interface ModelPort {
  stream(
    request: ModelRequest,
    signal: AbortSignal,
    listener?: AnswerListener,
  ): AsyncIterable<ModelPart>;
}

/** What is known of a model; null where it is not. Prices are USD per million. */
export interface ModelDetails {
  readonly contextWindow: number | null;
  /** Tokens that each request asks it for at most; null: none is asked for. */
  readonly maxOutput: number | null;
  readonly price: ModelPrice | null;
  /** Tokens of the shortest prefix that is cached. Absent: nobody knows. */
  readonly cacheMinimum?: number;
}

/** What a request holds back for its answer. */
export interface OutputShare {
  /** `provider/id`. */
  readonly model: string;
  /** Tokens. */
  readonly limit: number;
}

/** USD per million tokens. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** The rates of a whole request whose prompt, cached or not, is longer than this. */
export interface LongPromptRates extends Rates {
  /** Tokens. */
  readonly above: number;
}

export interface ModelPrice extends Rates {
  /** The shortest first. Absent: every prompt costs the same. */
  readonly longPrompts?: readonly LongPromptRates[];
  /** Where it came from, and of what day (`YYYY-MM-DD`), where that is known. */
  readonly source: string;
  readonly asOf: string | null;
}
