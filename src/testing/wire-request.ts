import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Usage } from '../protocol/model.ts';
import type { FaultKind } from './answer.ts';
import type { Violation } from './strict/rule.ts';

/** The four wire protocols: Anthropic Messages, OpenAI Responses, OpenAI Chat, Google Gemini. */
export const WIRE_PROTOCOLS = ['anthropic', 'responses', 'chat', 'google'] as const;
export type WireProtocol = (typeof WIRE_PROTOCOLS)[number];

export interface WireTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  /** The grammar of a tool whose calls contain free text. Default: the calls contain JSON. */
  readonly grammar?: string;
}

export interface WireToolCall {
  /** The id of the call. Empty if the request contains none, as for older Gemini models. */
  readonly id: string;
  readonly name: string;
  /** The parsed arguments, or the raw text if it is not valid JSON. */
  readonly input: JsonValue;
}

/** An image or a document in a request. */
export interface WireAttachment {
  readonly mediaType: string;
  readonly base64: string;
}

export interface WireToolResult {
  readonly callId: string;
  /** The text as the tool returned it. Only `body` contains the boundary around outside text. */
  readonly text: string;
  /**
   * True if the request marks the result as an error. Always false for the protocols of OpenAI, which have no such field.
   */
  readonly isError: boolean;
  /** The images and documents of the result. Default: there are none. */
  readonly attachments?: readonly WireAttachment[];
}

/**
 * One message, in a form that is the same for all protocols. The results of the calls of one answer are one message with
 * the role `tool`.
 */
export interface WireMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly toolCalls: readonly WireToolCall[];
  readonly toolResults: readonly WireToolResult[];
  /** The images and documents of a user message. Default: there are none. */
  readonly attachments?: readonly WireAttachment[];
}

/** The content of a request, in a form that is the same for all protocols. */
export interface ParsedBody {
  readonly model: string;
  /** The parts of the system prompt, joined by a blank line. */
  readonly system: string;
  readonly systemParts: readonly string[];
  readonly tools: readonly WireTool[];
  readonly messages: readonly WireMessage[];
  /** The output limit in tokens; null: the request contains none. */
  readonly maxOutputTokens: number | null;
  /** The tool choice in lower case, such as `auto` or `none`; null: the request contains none. */
  readonly toolChoice: string | null;
  /** True if the client requests a stream of events, and false if it requests one JSON body. */
  readonly stream: boolean;
  /**
   * True if the stream ends with the usage. Always true, except in the Chat protocol, in which the request has to ask for
   * the usage.
   */
  readonly streamUsage: boolean;
}

/** The outcome of a request, which is updated while the request is answered. The times have the form of `receivedAt`. */
export interface RequestOutcome {
  /** The HTTP status that was sent; null: no status was sent. */
  status: number | null;
  fault: FaultKind | null;
  /**
   * The usage that was sent at the end of the answer; null: no usage was sent, because of a fault or an abort, or because
   * the request did not ask for it.
   */
  usage: Usage | null;
  firstByteAt: number | null;
  /** The time at which the last byte was passed to the operating system. */
  lastByteAt: number | null;
  endedAt: number | null;
  /** True if the client closed the connection before the answer was complete. */
  abortedByClient: boolean;
  /**
   * The reason why the server refused the request: no rule matches it, the handler threw, or the vendor would refuse the
   * request. Null if the server did not refuse it.
   */
  problem: string | null;
  /** The violations of the vendor's rules by the request. Empty if the server does not check the rules. */
  violations: readonly Violation[];
}

/** A recorded request with its outcome. */
export interface RecordedRequest extends ParsedBody {
  /** The number of the request in the order of arrival, from 1. */
  readonly id: number;
  readonly protocol: WireProtocol;
  /** The path and the query of the URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly rawBody: string;
  readonly body: JsonObject;
  /**
   * The time of arrival in milliseconds since the epoch, with fractions. The times of different processes of one machine
   * can be compared.
   */
  readonly receivedAt: number;
  /**
   * A hash of the system prompt and the first message, which is the same for all requests of one conversation.
   */
  readonly taskKey: string;
  /** The number of times that this body has arrived: 1 at first, 2 when it is sent again, and so on. */
  readonly attempt: number;
  /** The number of requests that were being answered when this request arrived, including this request. */
  readonly inFlight: number;
  readonly outcome: RequestOutcome;
  /** Resolves when the exchange is over, with or without an error. */
  readonly ended: Promise<void>;
}

/** Counts the answers whose calls have results in the request. */
export function toolResultRounds(request: Pick<ParsedBody, 'messages'>): number {
  return request.messages.filter((message) => message.role === 'tool').length;
}

/** Returns the text of the last user message, without tool results. Empty if there is no user message. */
export function lastUserText(request: Pick<ParsedBody, 'messages'>): string {
  return request.messages.findLast((message) => message.role === 'user')?.text ?? '';
}

/** Returns the text of the first user message, which is the prompt of the task. */
export function firstUserText(request: Pick<ParsedBody, 'messages'>): string {
  return request.messages.find((message) => message.role === 'user')?.text ?? '';
}
