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
  /** Empty where the protocol sent none (older Gemini models). */
  readonly id: string;
  readonly name: string;
  /** Parsed; the raw text where it is not valid JSON. */
  readonly input: JsonValue;
}

/** An image or a document, as the wire holds it. */
export interface WireAttachment {
  readonly mediaType: string;
  readonly base64: string;
}

export interface WireToolResult {
  readonly callId: string;
  /** As the tool gave it: of outside text without the boundary and the marks, which `body` holds. */
  readonly text: string;
  /** As the wire says it. OpenAI's protocols have no such field: there always false. */
  readonly isError: boolean;
  /** Where it holds any. */
  readonly attachments?: readonly WireAttachment[];
}

/** One message, alike for all protocols. Results of one answer's calls are one `tool` message. */
export interface WireMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly toolCalls: readonly WireToolCall[];
  readonly toolResults: readonly WireToolResult[];
  /** Of a user message that holds any. */
  readonly attachments?: readonly WireAttachment[];
}

/** What a request's body says, alike for all protocols. */
export interface ParsedBody {
  readonly model: string;
  /** The parts of the system prompt, joined by a blank line. */
  readonly system: string;
  readonly systemParts: readonly string[];
  readonly tools: readonly WireTool[];
  readonly messages: readonly WireMessage[];
  /** The output limit sent, in tokens. */
  readonly maxOutputTokens: number | null;
  /** `auto`, `none`, … in the provider's word, lower case. */
  readonly toolChoice: string | null;
  /** False: one JSON body is wanted, no events. */
  readonly stream: boolean;
  /** Whether a stream ends with usage: always, but in Chat, which has to ask for it. */
  readonly streamUsage: boolean;
}

/** How a request ended; filled in while it is answered. Times are as in `receivedAt`. */
export interface RequestOutcome {
  /** HTTP status sent. Null: none was. */
  status: number | null;
  fault: FaultKind | null;
  /** What the answer's final usage said. Null where none was sent: a fault, an abort, not asked for. */
  usage: Usage | null;
  firstByteAt: number | null;
  /** When the last byte was handed to the operating system. */
  lastByteAt: number | null;
  endedAt: number | null;
  /** The client went away before the answer was whole. */
  abortedByClient: boolean;
  /** Why the server itself refused: no rule matched, the handler threw, or the vendor would refuse it. */
  problem: string | null;
  /** The rules of the vendor that the request breaks; empty where the server does not check them. */
  violations: readonly Violation[];
}

/** A request as it arrived, and what became of it. */
export interface RecordedRequest extends ParsedBody {
  /** 1 for the first that arrived. */
  readonly id: number;
  readonly protocol: WireProtocol;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly rawBody: string;
  readonly body: JsonObject;
  /** Milliseconds since the epoch with fractions, comparable between processes of one machine. */
  readonly receivedAt: number;
  /** The same for all requests of one conversation: a hash of system prompt and first message. */
  readonly taskKey: string;
  /** 1 the first time that this very body arrives, 2 when it is sent again, … */
  readonly attempt: number;
  /** Requests being answered when this one arrived, itself counted. */
  readonly inFlight: number;
  readonly outcome: RequestOutcome;
  /** Resolves when the exchange is over, however it ended. */
  readonly ended: Promise<void>;
}

/** How many of the model's answers with calls have had their results sent back. */
export function toolResultRounds(request: Pick<ParsedBody, 'messages'>): number {
  return request.messages.filter((message) => message.role === 'tool').length;
}

/** The text of the last user message, tool results left out. Empty when there is none. */
export function lastUserText(request: Pick<ParsedBody, 'messages'>): string {
  return request.messages.findLast((message) => message.role === 'user')?.text ?? '';
}

/** The text of the first user message: a task's prompt. */
export function firstUserText(request: Pick<ParsedBody, 'messages'>): string {
  return request.messages.find((message) => message.role === 'user')?.text ?? '';
}
