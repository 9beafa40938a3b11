import type { JsonObject } from '../../../base/json.ts';
import { readObject, readString } from '../../wire/read-json.ts';
import { locateObjects, type LocatedObject } from '../read.ts';

/** A content block of a message. */
export interface Block extends LocatedObject {
  readonly type: string;
  /** The index of the message that contains the block. */
  readonly message: number;
}

export interface AnthropicMessage {
  readonly index: number;
  readonly path: string;
  readonly role: string;
  readonly value: JsonObject;
  readonly blocks: readonly Block[];
}

/** Successive messages with the same role, which the API joins: https://platform.claude.com/docs/en/api/messages. */
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
  const messages = locateObjects(body['messages'], (index) => `messages.${index}`).map(readMessage);
  return {
    body,
    model: readString(body['model']),
    messages,
    turns: joinTurns(messages),
    thinking: readString(readObject(body['thinking'])['type']),
  };
}

function readMessage({ path, value }: LocatedObject, index: number): AnthropicMessage {
  const { content } = value;
  const blocks =
    typeof content === 'string'
      ? [{ path: `${path}.content`, value: { type: 'text', text: content } }]
      : locateObjects(content, (at) => `${path}.content.${at}`);
  return {
    index,
    path,
    role: readString(value['role']),
    value,
    blocks: blocks.map((block) => readBlock(block, index)),
  };
}

function readBlock({ path, value }: LocatedObject, message: number): Block {
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

/** Returns the content blocks inside the result of a call. */
function listResultBlocks({ path, type, value, message }: Block): readonly Block[] {
  if (type !== 'tool_result') return [];
  return locateObjects(value['content'], (at) => `${path}.content.${at}`).map((inner) =>
    readBlock(inner, message),
  );
}

/** Returns all content blocks of all messages, including those inside results. */
export function listAllBlocks({ messages }: AnthropicRequest): readonly Block[] {
  return messages.flatMap(({ blocks }) =>
    blocks.flatMap((block) => [block, ...listResultBlocks(block)]),
  );
}

/** Selects the content blocks of a type, without those inside results. */
export function selectBlocks(request: AnthropicRequest, type: string): readonly Block[] {
  return request.messages.flatMap(({ blocks }) => blocks.filter((block) => block.type === type));
}
