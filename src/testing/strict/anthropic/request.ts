import type { JsonObject } from '../../../base/json.ts';
import { readObject, readString } from '../../wire/read-json.ts';
import { placedObjects, type Placed } from '../read.ts';

/** A content block of a message. */
export interface Block extends Placed {
  readonly type: string;
  /** The index of the message that it is part of. */
  readonly message: number;
}

export interface AnthropicMessage {
  readonly index: number;
  readonly path: string;
  readonly role: string;
  readonly value: JsonObject;
  readonly blocks: readonly Block[];
}

/** Successive messages of one role, which the API joins: https://platform.claude.com/docs/en/api/messages. */
export interface Turn {
  readonly role: string;
  readonly firstMessage: number;
  readonly blocks: readonly Block[];
}

/** The parsed body of a request to the Messages API. */
export interface AnthropicRequest {
  readonly body: JsonObject;
  readonly model: string;
  readonly messages: readonly AnthropicMessage[];
  readonly turns: readonly Turn[];
  /** The kind of thinking: `enabled`, `adaptive` or `disabled`. Empty if the request does not state it. */
  readonly thinking: string;
}

export function readAnthropic(body: JsonObject): AnthropicRequest {
  const messages = placedObjects(body['messages'], (index) => `messages.${index}`).map(readMessage);
  return {
    body,
    model: readString(body['model']),
    messages,
    turns: joinTurns(messages),
    thinking: readString(readObject(body['thinking'])['type']),
  };
}

function readMessage({ path, value }: Placed, index: number): AnthropicMessage {
  const { content } = value;
  const blocks =
    typeof content === 'string'
      ? [{ path: `${path}.content`, value: { type: 'text', text: content } }]
      : placedObjects(content, (at) => `${path}.content.${at}`);
  return {
    index,
    path,
    role: readString(value['role']),
    value,
    blocks: blocks.map((block) => readBlock(block, index)),
  };
}

function readBlock({ path, value }: Placed, message: number): Block {
  return { path, value, type: readString(value['type']), message };
}

function joinTurns(messages: readonly AnthropicMessage[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const { role, index, blocks } of messages) {
    const last = turns.at(-1);
    if (last?.role === role)
      turns[turns.length - 1] = { ...last, blocks: [...last.blocks, ...blocks] };
    else turns.push({ role, firstMessage: index, blocks });
  }
  return turns;
}

/** Returns the content blocks inside a tool's result. */
function resultBlocks({ path, type, value, message }: Block): readonly Block[] {
  if (type !== 'tool_result') return [];
  return placedObjects(value['content'], (at) => `${path}.content.${at}`).map((inner) =>
    readBlock(inner, message),
  );
}

/** Returns all content blocks of all messages, including those inside results. */
export function allBlocks({ messages }: AnthropicRequest): readonly Block[] {
  return messages.flatMap(({ blocks }) =>
    blocks.flatMap((block) => [block, ...resultBlocks(block)]),
  );
}

export function blocksOf(request: AnthropicRequest, type: string): readonly Block[] {
  return request.messages.flatMap(({ blocks }) => blocks.filter((block) => block.type === type));
}
