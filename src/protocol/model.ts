import type { JsonObject } from '../base/json.ts';
import type { AssistantMessage, Message } from './message.ts';
import type { RemoteTask } from './remote-agent.ts';
import type { Repairs } from './repair.ts';
import type { CitedPage, SearchDomains } from './web.ts';

/** The amounts of thinking before an answer, from the least to the most. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
/** An amount of thinking before an answer, from the least to the most. */
export type Effort = (typeof EFFORTS)[number];

/** The tiers of models, from the fastest to the most capable. `TIER_ALIASES` maps other names to these. */
export const TIERS = ['fast', 'balanced', 'powerful'] as const;
/** The tiers of models, from the fastest to the most capable. */
export type Tier = (typeof TIERS)[number];

/** The names that agent files of any format may use for a tier, and the tier that each name means. */
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

/** A selected model. The log contains all of these fields, so that a later run can use the same model again. */
export interface ResolvedModel {
  /** The name of the provider in the configuration: `anthropic`, `openai`, or a name that the user chose. */
  readonly provider: string;
  /** The id that the provider expects for the model. */
  readonly id: string;
  /** The requested tier, if a tier was requested. */
  readonly tier?: Tier;
  /** The steps of the selection as text, beginning with the requested model. `explain` displays these steps. */
  readonly chain: readonly string[];
  /** A warning that the requested model was not usable. The result of the task repeats the warning. */
  readonly warning?: string;
}

/** Returns the name of a model for output and flags: `provider/id`. */
export function modelName(model: Pick<ResolvedModel, 'provider' | 'id'>): string {
  return `${model.provider}/${model.id}`;
}

/** The description of a tool for the model. The fields are always in the same order, so that providers can cache requests. */
export interface ToolSpec {
  /** The canonical name of the tool. */
  readonly name: string;
  /** The description for the model. */
  readonly description: string;
  /** The JSON Schema of the arguments. */
  readonly inputSchema: JsonObject;
  /** The grammar of the only argument (see `Tool.grammar`). Default: none. */
  readonly grammar?: string;
}

/** The system prompt and tools, which are the same in all requests of a task and in those of tasks with the same agent. */
export interface RequestPrefix {
  /** The texts of the system prompt. Texts that more tasks have in common come first; the last text is for this task alone. */
  readonly system: readonly string[];
  /** The descriptions of the tools that the model may call. */
  readonly tools: readonly ToolSpec[];
  /**
   * The names and lengths of the parts of `system[0]`, which an empty line separates. They are used to display a
   * request and are never sent. Absent in older logs.
   */
  readonly parts?: readonly PromptPartLength[];
}

/** One part of the first text of the system prompt. */
export interface PromptPartLength {
  /** The name of the part. */
  readonly name: string;
  /** The length in UTF-16 units. */
  readonly length: number;
}

/** A request to a model: the conversation so far, the system prompt and the tools. */
export interface ModelRequest {
  /** The model that answers. */
  readonly model: ResolvedModel;
  /** The system prompt and the tools. */
  readonly prefix: RequestPrefix;
  /** The conversation, the oldest message first. */
  readonly messages: readonly Message[];
  /** `none` forbids calls. The request still contains the tools, because the prefix must not change. */
  readonly toolChoice: 'auto' | 'none';
  /** The maximum number of tokens of the answer, including thinking. Default: the limit of the server. */
  readonly maxOutputTokens?: number;
  /** The amount of thinking before the answer. Default: that of the model. */
  readonly effort?: Effort;
  /**
   * Adds the provider's own tool for searching the web, limited to these domains. Only requests apart from the
   * conversation of a task have it.
   */
  readonly webSearch?: SearchDomains;
  /** A text that is the same for all requests with one prefix. OpenAI sends requests with the same key to the same cache. */
  readonly cacheKey?: string;
  /** The priority of the request in the queue of the limiter. Default: in the foreground, and part of no tree. */
  readonly priority?: RequestPriority;
  /**
   * Returns the bytes of an attachment of `messages`; null: the bytes are no longer stored. `hash`: the SHA-256 of the
   * bytes. Absent if no message has attachments.
   */
  readBlob?(hash: string): Uint8Array | null;
  /** The task, if a program or server does its work instead of a model. Default: a model answers. */
  readonly remote?: RemoteTask;
}

/** The properties by which the limiter decides which of the waiting requests it sends next. */
export interface RequestPriority {
  /** The id of the root task of the tree to which the request belongs. The trees take turns. */
  readonly tree: string;
  /** True if nobody waits for the answer. Requests in the foreground are sent before such requests. */
  readonly background: boolean;
}

/**
 * The numbers of tokens that the provider reports for a request. Each token of the prompt is counted once: in `input`, in
 * `cacheRead` or in `cacheWrite`. `output` includes `reasoning`.
 */
export interface Usage {
  /** The tokens of the prompt, without those of `cacheRead` and `cacheWrite`. */
  readonly input: number;
  /** The tokens of the answer, including thinking. */
  readonly output: number;
  /** The tokens of the prompt that were read from a cache. */
  readonly cacheRead: number;
  /** The tokens of the prompt that were written to a cache. */
  readonly cacheWrite: number;
  /** The tokens of thinking. */
  readonly reasoning: number;
}

/** The numbers that the server did not report in the usage of an answer. */
export type UsageMissing = 'all' | 'input' | 'output';

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

/** Builds a usage. `count` returns the number for a field. */
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

/** Reads a count from a log, which may contain any value. Returns 0 for a negative number and for anything else. */
export function toCount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;
}

/** Reads a usage from a log, in which each field may have any value. */
export function toUsageCounts(usage: Usage): Usage {
  return buildUsage((field) => toCount(usage[field]));
}

/** The paid tokens (see `paidTokens`) of one or more requests, and their cost in USD as far as prices are known. */
export interface Amount {
  /** The number of paid tokens. */
  readonly tokens: number;
  /** The cost in USD, as far as prices are known. */
  readonly costUsd: number;
}

export const NO_AMOUNT: Amount = { tokens: 0, costUsd: 0 };

export function addAmounts(a: Amount, b: Amount): Amount {
  return { tokens: a.tokens + b.tokens, costUsd: a.costUsd + b.costUsd };
}

/** The work that budgets limit in addition to `Amount`. */
export interface Work {
  /** The number of complete answers. */
  readonly turns: number;
  /** The total size of the results of calls in bytes. */
  readonly toolBytes: number;
}

export const NO_WORK: Work = { turns: 0, toolBytes: 0 };

export function addWork(a: Work, b: Work): Work {
  return { turns: a.turns + b.turns, toolBytes: a.toolBytes + b.toolBytes };
}

/** Returns the number of tokens that budgets count: all but those read from a cache, which cost little. */
export function paidTokens(usage: Usage): number {
  return usage.input + usage.cacheWrite + usage.output;
}

/** The reason why an answer ended. */
export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'other';

/** The kinds of failures of a model request. */
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
  /** The answer exceeds a limit on its size. The answer is not used, and the request is not repeated. */
  | 'too_large'
  | 'timeout'
  | 'cancelled';

/** A model that another one replaces, because its request has failed for good. */
export interface ReplacedModel {
  /** The model that failed, as `provider/id`. */
  readonly from: string;
  /** The kind of its failure. */
  readonly failure: FailureKind;
}

/** The failure of a model request. It is a value and is never thrown, so that the loop can decide what to do. */
export interface ModelFailure {
  /** The kind of the failure. */
  readonly kind: FailureKind;
  /** A message for people: the model and the error text of the server, without API keys and headers. */
  readonly message: string;
  /** True if the same request may succeed later. */
  readonly retryable: boolean;
  /** The HTTP status. */
  readonly status?: number;
  /** The wait that the server asks for before the next request, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The time limit that was exceeded, for `timeout`. */
  readonly limit?: 'connect' | 'first_token' | 'stream_idle';
}

/** One part of the stream of an answer. */
export type ModelPart =
  /**
   * The request waits for a rate limit. (A wait for one of the configured slots is not reported.) `because`: the limit,
   * as a noun phrase for messages ("the rate limit of …"). `untilMs`: the end of the wait in milliseconds since the
   * epoch; null: the end is not known.
   */
  | { readonly type: 'held'; readonly because: string; readonly untilMs: number | null }
  /** The wait after `held` is over. The request is sent when the reader asks for the next part, which may be `held` again. */
  | { readonly type: 'admitted' }
  /** The first byte of the answer has arrived. This part comes exactly once, before all parts of the types below. */
  | { readonly type: 'accepted' }
  /** A piece of the text of the answer. */
  | { readonly type: 'text_delta'; readonly text: string }
  /** A piece of the thinking. */
  | { readonly type: 'reasoning_delta'; readonly text: string }
  /** A tool call has begun. Its arguments are not complete, so the call must not run yet. */
  | { readonly type: 'tool_call_started'; readonly id: string; readonly name: string }
  /** The server sent an event without content (a ping, or an unknown event), so the connection works. */
  | { readonly type: 'ping' }
  /** The complete answer: the last part if the request succeeds. */
  | {
      readonly type: 'finished';
      readonly message: AssistantMessage;
      readonly usage: Usage;
      /** The numbers in `usage` that are 0 because the server did not report them. Default: all were reported. */
      readonly usageMissing?: UsageMissing;
      readonly reason: FinishReason;
      /** The id of the model that answered, if the provider reports it. */
      readonly servedBy?: string;
      /** The repairs of the answer, with their counts. Default: nothing was repaired. */
      readonly repairs?: Repairs;
      /** The pages that the provider's own search found. Default: none. */
      readonly sources?: readonly CitedPage[];
      /** The number of searches that the provider charges. Default: 0. */
      readonly searches?: number;
    }
  /** The failure: the last part if the request fails. The parts before the failure remain valid. */
  | {
      readonly type: 'failed';
      readonly failure: ModelFailure;
      readonly usage?: Usage;
      /** The number of characters of call arguments that arrived before the failure. No other part reports them. */
      readonly argumentCharacters?: number;
      /** The repairs of the incomplete answer. Default: nothing was repaired. */
      readonly repairs?: Repairs;
    };

/** The event that a request without progress waits for. */
export type AwaitedProgress = 'connection' | 'first_token' | 'next_event';

/** A period in which no content has arrived for a request. */
export interface Silence {
  /** The event that the request waits for. */
  readonly waitsFor: AwaitedProgress;
  /** The milliseconds since the last content, or since the start of the current phase of the request. */
  readonly silentMs: number;
}

/** The parts of an answer that are displayed while the answer arrives. */
export type ProgressPart = Extract<
  ModelPart,
  { readonly type: 'text_delta' | 'reasoning_delta' | 'tool_call_started' }
>;

/** Receives what happens to a request while the reader of the stream waits for the next part. */
export interface AnswerListener {
  /** Called when the request is sent over an established connection. The answer has not begun. */
  onSent?(): void;
  /** Called once for each silence, when no content has arrived for a few seconds. */
  onSilence(silence: Silence): void;
  /** Called when content arrives after `onSilence`. */
  onResumed(): void;
  /**
   * Receives the parts of these types from a port that uses the network. If there is a listener, the stream of such a
   * port does not yield them: an answer has thousands of these parts, no decision depends on them, and yielding each
   * of them through several generators would be slow.
   */
  onProgress(part: ProgressPart): void;
}

/**
 * The only interface to a model, and a model of your own. `stream` never throws and never rejects: its last part is `finished` or `failed`. Soon
 * after the signal aborts, the last part is `failed` of kind `cancelled`.
 *
 * @example
 * import { createMuster, type ModelPort } from 'muster-agent';
 *
 * const echo: ModelPort = {
 *   async *stream({ messages }) {
 *     const last = messages.at(-1);
 *     const text = last?.role === 'user' ? (last.content.at(-1)?.text ?? '') : 'done';
 *     yield { type: 'accepted' };
 *     yield {
 *       type: 'finished',
 *       message: { role: 'assistant', content: [{ type: 'text', text }] },
 *       usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
 *       reason: 'stop',
 *     };
 *   },
 * };
 * await using muster = await createMuster({ model: echo });
 */
export interface ModelPort {
  /** Sends a request and yields the parts of the answer as they arrive. */
  stream(
    request: ModelRequest,
    signal: AbortSignal,
    listener?: AnswerListener,
  ): AsyncIterable<ModelPart>;
}

/** The known details of a model. A field is null if its value is not known. */
export interface ModelDetails {
  readonly contextWindow: number | null;
  /** The maximum number of output tokens. If it is null, requests set no maximum. */
  readonly maxOutput: number | null;
  readonly price: ModelPrice | null;
  /** The minimum length in tokens of a prefix that the provider caches. Absent if the length is not known. */
  readonly cacheMinimum?: number;
}

/** A model and its output limit, for the message that a request needs too much of a budget because of that limit. */
export interface ModelOutputLimit {
  /** The model as `provider/id`. */
  readonly model: string;
  /** The output limit of the model in tokens. */
  readonly limit: number;
}

/** Prices in USD per million tokens. */
export interface TokenPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** The prices for all tokens of a request with a long prompt. */
export interface LongPromptPrices extends TokenPrices {
  /** The prices apply if the prompt, including its cached tokens, has more tokens than this. */
  readonly abovePromptTokens: number;
}

export interface ModelPrice extends TokenPrices {
  /** The prices for long prompts, sorted by `abovePromptTokens`. Default: all prompts have the same prices. */
  readonly longPrompts?: readonly LongPromptPrices[];
  /** The price of one search with the provider's own search tool, in USD. Default: it is not known. */
  readonly search?: number;
  /** The source of the price, for display. */
  readonly source: string;
  /** The day on which the source had this price, `YYYY-MM-DD`; null: the day is not known. */
  readonly asOf: string | null;
}
