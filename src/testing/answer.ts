import type { JsonValue } from '../base/json.ts';
import type { FinishReason, Usage } from '../protocol/model.ts';

export interface AnswerToolCall {
  readonly name: string;
  readonly input: JsonValue;
  /** Absent: one that is unique in the conversation and the same when the request is sent again. */
  readonly id?: string;
}

/**
 * What the model answers: thinking, then text, then calls. Plain data, so that a script file can
 * hold it. Times are milliseconds, 0 by default.
 */
export interface Answer {
  readonly thinking?: string;
  readonly text?: string;
  readonly toolCalls?: readonly AnswerToolCall[];
  /** What is absent is worked out from sizes (and from the prompt cache, where it is modelled). */
  readonly usage?: Partial<Usage>;
  /** Default: `tool_calls` when there are calls, else `stop`. */
  readonly stop?: Exclude<FinishReason, 'other'>;
  /** Before the headers. */
  readonly delayMs?: number;
  /** Between the headers and the first piece. */
  readonly firstTokenMs?: number;
  /** Between pieces; events that carry none come with the next one. */
  readonly chunkMs?: number;
  /** How many pieces each of thinking, text and arguments comes in. Default 1. */
  readonly chunks?: number;
  readonly fault?: Fault;
}

/** Where a broken stream breaks: after that many events. Default: in the middle of the content. */
interface BreakPoint {
  readonly afterEvents?: number;
}

/** How often something comes that never ends, in milliseconds. Default 50. */
interface Drip {
  readonly everyMs?: number;
}

export type Fault =
  /** An HTTP error. `body` replaces the provider's usual one. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly message?: string;
      readonly body?: string;
      readonly retryAfterSeconds?: number;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** The connection is closed before any header. */
  | { readonly kind: 'refuse' }
  /** The connection is reset in the middle of the stream. */
  | ({ readonly kind: 'reset' } & BreakPoint)
  /** Accepted, never answered. */
  | { readonly kind: 'hang' }
  /** Silent in the middle of the stream, the connection stays open. */
  | ({ readonly kind: 'hang_after' } & BreakPoint)
  /** A clean end without the final events. */
  | ({ readonly kind: 'truncate' } & BreakPoint)
  /** A clean end in the middle of an event. */
  | ({ readonly kind: 'half_event' } & BreakPoint)
  /** An event that is not JSON, then the rest as usual. */
  | ({ readonly kind: 'malformed_frame' } & BreakPoint)
  /** The provider's own error event inside the stream, then the end. */
  | ({ readonly kind: 'overloaded' } & BreakPoint)
  /** The provider's error event for that status inside the stream, then the end. */
  | ({
      readonly kind: 'error_event';
      readonly status: number;
      readonly message?: string;
    } & BreakPoint)
  /** Each call's arguments lack their last character. Google: MALFORMED_FUNCTION_CALL, no call. */
  | { readonly kind: 'broken_tool_json' }
  /** All calls carry the first one's id. */
  | { readonly kind: 'duplicate_tool_ids' }
  /** A whole answer with no content at all. */
  | { readonly kind: 'empty' }
  /** Ends for length in the middle of the last call's arguments. Google: no call. */
  | { readonly kind: 'length_stop' }
  | ({ readonly kind: 'ping_forever' } & Drip)
  | ({ readonly kind: 'thinking_forever' } & Drip)
  /** Header lines without end. */
  | ({ readonly kind: 'slow_headers' } & Drip)
  /** 200 with a page of HTML. */
  | { readonly kind: 'wrong_content_type' }
  /** The text is that many megabytes. */
  | { readonly kind: 'huge'; readonly megabytes: number };

export type FaultKind = Fault['kind'];
