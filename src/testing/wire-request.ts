import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Usage } from '../protocol/model.ts';
import type { FaultKind } from './answer.ts';
import type { Violation } from './strict/rule.ts';

/** The four wire protocols: Anthropic Messages, OpenAI Responses, OpenAI Chat, Google Gemini. */
export const WIRE_PROTOCOLS = ['anthropic', 'responses', 'chat', 'google'] as const;
/** A wire protocol: Anthropic Messages, OpenAI Responses, OpenAI Chat or Google Gemini. */
export type WireProtocol = (typeof WIRE_PROTOCOLS)[number];

/** A tool in a request. */
export interface WireTool {
  /** The name for the model. */
  readonly name: string;
  /** The description for the model. */
  readonly description: string;
  /** The JSON Schema of the arguments. */
  readonly schema: JsonObject;
  /** The grammar of a tool whose calls contain free text. Default: the calls contain JSON. */
  readonly grammar?: string;
}

/** A call of a tool in a request. */
export interface WireToolCall {
  /** The id of the call. Empty if the request contains none, as for older Gemini models. */
  readonly id: string;
  /** The name of the tool. */
  readonly name: string;
  /** The parsed arguments, or the raw text if it is not valid JSON. */
  readonly input: JsonValue;
}

/** An image or a document in a request. */
export interface WireAttachment {
  /** The media type, such as `image/png`. */
  readonly mediaType: string;
  /** The bytes in base64. */
  readonly base64: string;
}

/** The result of a call in a request. */
export interface WireToolResult {
  /** The id of the call. */
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
  /** The texts of the message, without thinking and calls. */
  readonly text: string;
  /** The calls of an answer; otherwise empty. */
  readonly toolCalls: readonly WireToolCall[];
  /** The results in a message with the role `tool`; otherwise empty. */
  readonly toolResults: readonly WireToolResult[];
  /** The images and documents of a user message. Default: there are none. */
  readonly attachments?: readonly WireAttachment[];
}

/** The content of a request, in a form that is the same for all protocols. */
export interface ParsedBody {
  /** The id of the requested model. */
  readonly model: string;
  /** The parts of the system prompt, joined by a blank line. */
  readonly system: string;
  /** The parts of the system prompt. */
  readonly systemParts: readonly string[];
  /** The tools that the model may call. */
  readonly tools: readonly WireTool[];
  /** The conversation, the oldest message first. */
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
  /** The kind of the fault that the answer had; null: it had none. */
  fault: FaultKind | null;
  /**
   * The usage that was sent at the end of the answer; null: no usage was sent, because of a fault or an abort, or because
   * the request did not ask for it.
   */
  usage: Usage | null;
  /** The time at which the first byte was sent; null: none was sent. */
  firstByteAt: number | null;
  /** The time at which the last byte was passed to the operating system. */
  lastByteAt: number | null;
  /** The time at which the exchange was over; null: it is not over. */
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
  /** The protocol of the request. */
  readonly protocol: WireProtocol;
  /** The path and the query of the URL. */
  readonly path: string;
  /** The headers, by their names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as it arrived. */
  readonly rawBody: string;
  /** The body as JSON. */
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
  /** The outcome so far. */
  readonly outcome: RequestOutcome;
  /** Resolves when the exchange is over, with or without an error. */
  readonly ended: Promise<void>;
}

/**
 * Counts the answers whose calls have results in the request.
 *
 * @example
 * import { startFakeModel, toolResultRounds } from 'muster-agent/testing';
 *
 * const server = await startFakeModel({
 *   script: (request) => (toolResultRounds(request) === 0 ? { text: 'first' } : { text: 'later' }),
 * });
 * console.log(server.url);
 * await server.close();
 */
export function toolResultRounds(request: Pick<ParsedBody, 'messages'>): number {
  return request.messages.filter((message) => message.role === 'tool').length;
}

/**
 * Returns the text of the last user message, without tool results. Empty if there is no user message.
 *
 * @example
 * import { startFakeModel, lastUserText } from 'muster-agent/testing';
 *
 * const server = await startFakeModel({
 *   script: (request) => ({ text: `You said: ${lastUserText(request)}` }),
 * });
 * console.log(server.url);
 * await server.close();
 */
export function lastUserText(request: Pick<ParsedBody, 'messages'>): string {
  return request.messages.findLast((message) => message.role === 'user')?.text ?? '';
}

/**
 * Returns the text of the first user message, which is the prompt of the task. Empty if there is no user message.
 *
 * @example
 * import { startFakeModel, firstUserText } from 'muster-agent/testing';
 *
 * const server = await startFakeModel({
 *   script: (request) => ({ text: `The task is: ${firstUserText(request)}` }),
 * });
 * console.log(server.url);
 * await server.close();
 */
export function firstUserText(request: Pick<ParsedBody, 'messages'>): string {
  return request.messages.find((message) => message.role === 'user')?.text ?? '';
}
