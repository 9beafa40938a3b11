import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Attachment } from './attachment.ts';

/**
 * Data that a provider requires to be sent back with a part in later requests, such as the signature of a thought or the
 * id of an item, by provider. Only the adapter that wrote the data can interpret it.
 */
export type ProviderMeta = JsonObject;

/** A text in a message. */
export interface TextPart {
  readonly type: 'text';
  /** The text. */
  readonly text: string;
  /** The images and documents that a user's message contains with the text. Default: none. */
  readonly attachments?: readonly Attachment[];
  /** Data that the provider needs to accept the part in later requests. Default: none. */
  readonly meta?: ProviderMeta;
}

/** Thinking of a model in an answer. */
export interface ReasoningPart {
  readonly type: 'reasoning';
  /** The text; empty if the provider hides it. */
  readonly text: string;
  /** Data that the provider needs to accept the part in later requests. Default: none. */
  readonly meta?: ProviderMeta;
}

/** A call of a tool in an answer. */
export interface ToolCallPart {
  readonly type: 'tool_call';
  /** The id, which is unique within the task. It is the id from the provider if that is usable. */
  readonly id: string;
  /** The name as the model wrote it. It is resolved to a canonical name only when the call is executed. */
  readonly name: string;
  /** The parsed arguments; the raw text if it is not valid JSON. */
  readonly input: JsonValue;
  /** The raw text of the arguments. Set if it is not valid JSON. */
  readonly malformed?: string;
  /**
   * Set if the call is not from the model: Muster added it because a person named an agent type that the answer did not
   * call.
   */
  readonly by?: 'user';
  /** Set if two calls of the answer had the same id, so that Muster assigned `id`. */
  readonly renamed?: true;
  /** Data that the provider needs to accept the part in later requests. Default: none. */
  readonly meta?: ProviderMeta;
}

/** The result of one call. */
export interface ToolResultPart {
  readonly type: 'tool_result';
  /** The id of the call. */
  readonly callId: string;
  /** The name of the tool as the model wrote it. */
  readonly name: string;
  /** The text for the model. */
  readonly text: string;
  /** True if the call failed or was refused. */
  readonly isError: boolean;
  /** Set if the text is outside text. Requests quote it between boundaries with this nonce. */
  readonly nonce?: string;
  /** The images and documents that are sent with the text. Default: none. */
  readonly attachments?: readonly Attachment[];
}

/** A part of an answer. */
export type AssistantPart = TextPart | ReasoningPart | ToolCallPart;

/** A message of a person, a task or Muster in a conversation. */
export interface UserMessage {
  readonly role: 'user';
  /** The texts of the message. */
  readonly content: readonly TextPart[];
}

/** An answer of a model in a conversation. */
export interface AssistantMessage {
  readonly role: 'assistant';
  /** The parts of the answer, in the order in which they arrived. */
  readonly content: readonly AssistantPart[];
  /** The model that wrote the message, as `provider/id`. Set if parts of the message can only be sent back to this model. */
  readonly model?: string;
}

/** The results of the calls of one answer. */
export interface ToolMessage {
  readonly role: 'tool';
  /** The results, in the order of the calls. */
  readonly content: readonly ToolResultPart[];
}

/** A message of a conversation. */
export type Message = UserMessage | AssistantMessage | ToolMessage;

/** Creates a user message with one text. */
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

/** Returns the tool calls of an answer. */
export function toolCalls(message: AssistantMessage): readonly ToolCallPart[] {
  return message.content.filter((part) => part.type === 'tool_call');
}

/** The maximum length of an ordinary call id. A longer id may contain data that the server requires to be sent back. */
const MAX_PLAIN_ID_LENGTH = 40;

/**
 * Returns true if a message contains data that can only be sent back to the model that wrote it: thoughts, signatures or
 * long ids.
 */
export function isBoundToModel({ content }: AssistantMessage): boolean {
  return content.some(
    (part) =>
      part.type === 'reasoning' ||
      part.meta !== undefined ||
      (part.type === 'tool_call' && part.id.length > MAX_PLAIN_ID_LENGTH),
  );
}

/** Collects the images and documents of all user and tool messages. */
export function attachmentsOf(messages: readonly Message[]): readonly Attachment[] {
  return messages.flatMap((message) =>
    message.role === 'assistant'
      ? []
      : message.content.flatMap(({ attachments = [] }) => attachments),
  );
}
