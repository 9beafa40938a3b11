import type { JsonObject } from '../../../base/json.ts';
import { readObject, readString } from '../../wire/read-json.ts';
import type { StrictOptions } from '../options.ts';
import { locateObjects, type LocatedObject } from '../read.ts';

export interface ChatCall extends LocatedObject {
  readonly id: string;
  readonly function: JsonObject;
}

export interface ChatMessage extends LocatedObject {
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
  const messages = locateObjects(body['messages'], (index) => `messages[${index}]`);
  return { body, model: readString(body['model']), messages: messages.map(readMessage), options };
}

function readMessage({ path, value }: LocatedObject, index: number): ChatMessage {
  const calls = locateObjects(value['tool_calls'], (at) => `${path}.tool_calls[${at}]`);
  return { path, value, index, role: readString(value['role']), calls: calls.map(readCall) };
}

function readCall({ path, value }: LocatedObject): ChatCall {
  return { path, value, id: readString(value['id']), function: readObject(value['function']) };
}

/** Lists the tool messages that directly follow a message. */
export function listResultsAfter(
  messages: readonly ChatMessage[],
  index: number,
): readonly ChatMessage[] {
  const following = messages.slice(index + 1);
  const end = following.findIndex(({ role }) => role !== 'tool');
  return end === -1 ? following : following.slice(0, end);
}

/** Returns the last message before a tool message that is not a tool message itself. */
export function findMessageBeforeResults(
  messages: readonly ChatMessage[],
  index: number,
): ChatMessage | undefined {
  return messages.slice(0, index).findLast(({ role }) => role !== 'tool');
}
