import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Attachment } from './attachment.ts';

/**
 * Data that a provider needs back with a part in the next request (a thinking signature, an item id), by
 * provider. Only the adapter that wrote it can interpret it.
 */
export type ProviderMeta = JsonObject;

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  /** Images and documents that a user's message shows with the text. Default: none. */
  readonly attachments?: readonly Attachment[];
  readonly meta?: ProviderMeta;
}

export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
  readonly meta?: ProviderMeta;
}

export interface ToolCallPart {
  readonly type: 'tool_call';
  /** Unique within the task; the provider's own id if it is usable. */
  readonly id: string;
  /** The name as the model wrote it. It is resolved to a canonical name only when the call is executed. */
  readonly name: string;
  /** The parsed arguments; the raw text if it is not valid JSON (`malformed` is then set). */
  readonly input: JsonValue;
  readonly malformed?: string;
  /**
   * Set if a person made the call and not the model: the person named an agent type that the answer left out.
   */
  readonly by?: 'user';
  /** Set if the model gave it the id of another call of its answer, so that `id` was assigned by Muster. */
  readonly renamed?: true;
  readonly meta?: ProviderMeta;
}

export interface ToolResultPart {
  readonly type: 'tool_result';
  readonly callId: string;
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
  /** Set if the text came from outside. It is sent between boundaries of this nonce. */
  readonly nonce?: string;
  /** Images and documents that are shown with the text. Default: none. */
  readonly attachments?: readonly Attachment[];
}

export type AssistantPart = TextPart | ReasoningPart | ToolCallPart;

export interface UserMessage {
  readonly role: 'user';
  readonly content: readonly TextPart[];
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: readonly AssistantPart[];
  /** The model that was asked, as `provider/id`. Set if a part of the message is meant for that model only. */
  readonly model?: string;
}

export interface ToolMessage {
  readonly role: 'tool';
  readonly content: readonly ToolResultPart[];
}

export type Message = UserMessage | AssistantMessage | ToolMessage;

export function userMessage(text: string): UserMessage {
  return { role: 'user', content: [{ type: 'text', text }] };
}

/** Returns the visible text of an answer, without reasoning. */
export function messageText(message: AssistantMessage): string {
  return message.content
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('');
}

export function toolCalls(message: AssistantMessage): readonly ToolCallPart[] {
  return message.content.filter((part) => part.type === 'tool_call');
}

/** The maximum length of an ordinary call id. A longer one may contain data that the server needs back. */
const MAX_PLAIN_ID_LENGTH = 40;

/**
 * Tells whether a message contains data that only the model that wrote it can take back: thoughts, signatures,
 * ids.
 */
export function isBoundToModel({ content }: AssistantMessage): boolean {
  return content.some(
    (part) =>
      part.type === 'reasoning' ||
      part.meta !== undefined ||
      (part.type === 'tool_call' && part.id.length > MAX_PLAIN_ID_LENGTH),
  );
}

/** Returns the images and documents of these messages. */
export function attachmentsOf(messages: readonly Message[]): readonly Attachment[] {
  return messages.flatMap((message) =>
    message.role === 'assistant'
      ? []
      : message.content.flatMap(({ attachments = [] }) => attachments),
  );
}
