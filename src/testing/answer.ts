import type { JsonValue } from '../base/json.ts';
import type { FinishReason, Usage } from '../protocol/model.ts';

/** A call of a tool in an answer. */
export interface AnswerToolCall {
  /** The name of the tool. */
  readonly name: string;
  /** The arguments. */
  readonly input: JsonValue;
  /**
   * The id of the call. Default: an id that is unique in the conversation, and the same when the request is repeated.
   */
  readonly id?: string;
}

/** A search of the provider's own search tool, which the answer rests on. */
export interface AnswerSearch {
  /** The words that were searched for. */
  readonly query: string;
  /** The pages that the search has found. */
  readonly pages: readonly { readonly url: string; readonly title: string }[];
}

/**
 * An answer of the model: thinking, then text, then calls. It is plain data, so that a script file can contain it.
 */
export interface ScriptedAnswer {
  /** The thinking before the text. Default: none. */
  readonly thinking?: string;
  /** The text. Default: none. */
  readonly text?: string;
  /** The calls after the text. Default: none. */
  readonly toolCalls?: readonly AnswerToolCall[];
  /** The search by the provider before the text. The protocol of Chat Completions has none. Default: none. */
  readonly search?: AnswerSearch;
  /**
   * The reported usage. Missing fields are computed from sizes, and from the prompt cache if one is simulated. Default: all fields are missing.
   */
  readonly usage?: Partial<Usage>;
  /** The finish reason. Default: `tool_calls` if there are calls, otherwise `stop`. */
  readonly stop?: Exclude<FinishReason, 'other'>;
  /** The time before the headers are sent, in milliseconds. Default: 0. */
  readonly delayMs?: number;
  /** The time between the headers and the first piece, in milliseconds. Default: 0. */
  readonly firstTokenMs?: number;
  /** The time between pieces, in milliseconds. An event without a piece is sent together with the next event. Default: 0. */
  readonly chunkMs?: number;
  /** The number of pieces into which thinking, text and arguments are each split. Default: 1. */
  readonly chunks?: number;
  /** The fault of the answer. Default: none. */
  readonly fault?: Fault;
}

/** The number of events after which a stream breaks. Default: the stream breaks in the middle of the content. */
export interface BreakPoint {
  /**
   * The number of events that are sent before the stream breaks. Default: the stream breaks in the middle of the
   * content.
   */
  readonly afterEvents?: number;
}

/** The interval in milliseconds at which an endless answer sends something. Default: 50. */
export interface SendInterval {
  /** The interval in milliseconds. Default: 50. */
  readonly everyMs?: number;
}

/** The faults that an answer can have. */
export type Fault =
  /** The server answers with an HTTP error. `body` replaces the provider's usual error body. */
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
  /** The request is accepted and never answered. */
  | { readonly kind: 'hang' }
  /** The stream stops in the middle, and the connection stays open. */
  | ({ readonly kind: 'hang_after' } & BreakPoint)
  /** The stream ends regularly, but without its final events. */
  | ({ readonly kind: 'truncate' } & BreakPoint)
  /** The stream ends regularly, but in the middle of an event. */
  | ({ readonly kind: 'half_event' } & BreakPoint)
  /** One event is not JSON. The rest of the stream follows as usual. */
  | ({ readonly kind: 'malformed_frame' } & BreakPoint)
  /** The stream ends with the error event that the provider sends when it is overloaded. */
  | ({ readonly kind: 'overloaded' } & BreakPoint)
  /** The stream ends with the provider's error event for this status. */
  | ({
      readonly kind: 'error_event';
      readonly status: number;
      readonly message?: string;
    } & BreakPoint)
  /** The arguments of each call lack their last character. Google sends MALFORMED_FUNCTION_CALL and no call. */
  | { readonly kind: 'broken_tool_json' }
  /** All calls have the id of the first call. */
  | { readonly kind: 'duplicate_tool_ids' }
  /** The answer is complete and has no content. */
  | { readonly kind: 'empty' }
  /**
   * The answer ends because of its length, in the middle of the arguments of the last call. Google sends no call.
   */
  | { readonly kind: 'length_stop' }
  /** The server sends pings without end. */
  | ({ readonly kind: 'ping_forever' } & SendInterval)
  /** The server sends thinking without end. */
  | ({ readonly kind: 'thinking_forever' } & SendInterval)
  /** The server sends header lines without end. */
  | ({ readonly kind: 'slow_headers' } & SendInterval)
  /** The server answers with status 200 and a web page. */
  | { readonly kind: 'wrong_content_type' }
  /** The text has this many megabytes. */
  | { readonly kind: 'huge'; readonly megabytes: number };

/** The kinds of faults. */
export type FaultKind = Fault['kind'];
