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
}

export interface WireToolCall {
  /** The id of the call. Empty if the protocol sent none, as for older Gemini models. */
  readonly id: string;
  readonly name: string;
  /** The parsed arguments, or the raw text if it is not valid JSON. */
  readonly input: JsonValue;
}

/** An image or a document as it was sent. */
export interface WireAttachment {
  readonly mediaType: string;
  readonly base64: string;
}

export interface WireToolResult {
  readonly callId: string;
  /** The text as the tool returned it. The boundary and marks around outside text are only in `body`. */
  readonly text: string;
  /**
   * True if the request marks the result as an error. Always false for OpenAI's protocols, which have no such
   * field.
   */
  readonly isError: boolean;
  /** The images and documents of the result. Default: there are none. */
  readonly attachments?: readonly WireAttachment[];
}

/**
 * One message in a form that is the same for all protocols. The results of one answer's calls are one `tool`
 * message.
 */
export interface WireMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly toolCalls: readonly WireToolCall[];
  readonly toolResults: readonly WireToolResult[];
  /** The images and documents of a user message. Default: there are none. */
  readonly attachments?: readonly WireAttachment[];
}

/** The content of a request's body in a form that is the same for all protocols. */
export interface ParsedBody {
  readonly model: string;
  /** The parts of the system prompt, joined by a blank line. */
  readonly system: string;
  readonly systemParts: readonly string[];
  readonly tools: readonly WireTool[];
  readonly messages: readonly WireMessage[];
  /** The sent limit on the answer in tokens; null if none was sent. */
  readonly maxOutputTokens: number | null;
  /** The provider's value in lower case, such as `auto` or `none`; null if none was sent. */
  readonly toolChoice: string | null;
  /** True if the answer should be a stream of events, and false if it should be one JSON body. */
  readonly stream: boolean;
  /**
   * True if a stream ends with usage. This is always so, except in Chat, where the request has to ask for it.
   */
  readonly streamUsage: boolean;
}

/** The outcome of a request, which is filled in while it is answered. Times are as in `receivedAt`. */
export interface RequestOutcome {
  /** The HTTP status that was sent; null if none was. */
  status: number | null;
  fault: FaultKind | null;
  /**
   * The usage that was sent at the end of the answer; null if none was sent because of a fault, an abort, or
   * since the request did not ask for it.
   */
  usage: Usage | null;
  firstByteAt: number | null;
  /** The time at which the last byte was passed to the operating system. */
  lastByteAt: number | null;
  endedAt: number | null;
  /** True if the client went away before the answer was complete. */
  abortedByClient: boolean;
  /**
   * The reason why the server refused the request: no rule fits, the handler threw, or the vendor would refuse
   * it. Null if it did not.
   */
  problem: string | null;
  /** The rules of the vendor that the request breaks. Empty if the server does not check them. */
  violations: readonly Violation[];
}

/** A request as it arrived, with its outcome. */
export interface RecordedRequest extends ParsedBody {
  /** The number of the request in order of arrival, from 1. */
  readonly id: number;
  readonly protocol: WireProtocol;
  /** The path and the query of the address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly rawBody: string;
  readonly body: JsonObject;
  /**
   * The time in milliseconds since the epoch, with fractions. It can be compared between processes of one
   * machine.
   */
  readonly receivedAt: number;
  /**
   * A hash of the system prompt and the first message, which is the same for all requests of one conversation.
   */
  readonly taskKey: string;
  /** The number of times that this body has arrived: 1 at first, 2 when it is sent again, and so on. */
  readonly attempt: number;
  /** The number of requests that were being answered when this one arrived, itself included. */
  readonly inFlight: number;
  readonly outcome: RequestOutcome;
  /** Resolves when the exchange is over, however it ended. */
  readonly ended: Promise<void>;
}

/** Counts the answers with calls of which the results were sent back. */
export function toolResultRounds(request: Pick<ParsedBody, 'messages'>): number {
  return request.messages.filter((message) => message.role === 'tool').length;
}

/** Returns the text of the last user message without tool results. Empty if there is none. */
export function lastUserText(request: Pick<ParsedBody, 'messages'>): string {
  return request.messages.findLast((message) => message.role === 'user')?.text ?? '';
}

/** Returns the text of the first user message, which is a task's prompt. */
export function firstUserText(request: Pick<ParsedBody, 'messages'>): string {
  return request.messages.find((message) => message.role === 'user')?.text ?? '';
}
