import type { JsonObject } from '../../../base/json.ts';
import { readObject, readString } from '../../wire/read-json.ts';
import type { StrictOptions } from '../options.ts';
import { placedObjects, type Placed } from '../read.ts';

export interface ChatCall extends Placed {
  readonly id: string;
  readonly function: JsonObject;
}

export interface ChatMessage extends Placed {
  readonly index: number;
  readonly role: string;
  readonly calls: readonly ChatCall[];
}

/** The parsed body of a request to a Chat Completions server. */
export interface ChatRequest {
  readonly body: JsonObject;
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly options: StrictOptions;
}

export function readChat(body: JsonObject, options: StrictOptions): ChatRequest {
  const messages = placedObjects(body['messages'], (index) => `messages[${index}]`);
  return { body, model: readString(body['model']), messages: messages.map(readMessage), options };
}

function readMessage({ path, value }: Placed, index: number): ChatMessage {
  const calls = placedObjects(value['tool_calls'], (at) => `${path}.tool_calls[${at}]`);
  return { path, value, index, role: readString(value['role']), calls: calls.map(readCall) };
}

function readCall({ path, value }: Placed): ChatCall {
  return { path, value, id: readString(value['id']), function: readObject(value['function']) };
}

/** Returns the tool messages that directly follow a message. */
export function resultsAfter(
  messages: readonly ChatMessage[],
  index: number,
): readonly ChatMessage[] {
  const following = messages.slice(index + 1);
  const end = following.findIndex(({ role }) => role !== 'tool');
  return end === -1 ? following : following.slice(0, end);
}

/** Returns the last message before a tool message that is no tool message itself. */
export function beforeResults(
  messages: readonly ChatMessage[],
  index: number,
): ChatMessage | undefined {
  return messages.slice(0, index).findLast(({ role }) => role !== 'tool');
}
