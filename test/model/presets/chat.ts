import type { JsonObject, JsonValue } from '../../../src/base/json.ts';
import {
  OUTPUT_LIMIT,
  PARAMETERS,
  PATHS,
  QUESTION,
  RESULTS,
  SYSTEM,
  type CallIds,
  type Turn,
} from './wire.ts';

// The bodies of requests in OpenAI's Chat Completions.

/** The fields by which the requests of a provider differ. `undefined` removes a field of the protocol. */
type Fields = Readonly<Record<string, JsonValue | undefined>>;

function chatBody(model: string, messages: readonly JsonObject[], fields: Fields): JsonObject {
  const usual: Fields = {
    model,
    max_tokens: OUTPUT_LIMIT,
    messages,
    tools: [
      {
        type: 'function',
        function: { name: 'Read', description: 'Reads.', parameters: PARAMETERS },
      },
      {
        type: 'function',
        function: {
          name: 'Glob',
          description: 'Finds.',
          parameters: { type: 'object', properties: {} },
        },
      },
    ],
    tool_choice: 'auto',
    stream: true,
    stream_options: { include_usage: true },
    ...fields,
  };
  return Object.fromEntries(
    Object.entries(usual).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

interface ChatTurns {
  readonly model: string;
  /** The fields of both requests that differ from the protocol. */
  readonly fields: Fields;
  readonly ids: CallIds;
  /** True if the system prompt and the last message are marked for the cache. */
  readonly isMarked?: true;
  /** The fields of the message with the calls that contain thoughts. */
  readonly thoughts: JsonObject;
  readonly answers: readonly [Turn['answer'], Turn['answer']];
}

/** The two turns of a provider with this protocol. */
export function chatTurns(turns: ChatTurns): [Turn, Turn] {
  const { model, fields, ids, isMarked = false, thoughts, answers } = turns;
  const marked = (text: string): JsonValue =>
    isMarked ? [{ type: 'text', text, cache_control: { type: 'ephemeral' } }] : text;
  const system = isMarked
    ? SYSTEM.split('\n\n').map((text, index) =>
        index === 0
          ? { type: 'text', text, cache_control: { type: 'ephemeral' } }
          : { type: 'text', text },
      )
    : SYSTEM;
  const first = [
    { role: 'system', content: system },
    { role: 'user', content: marked(QUESTION) },
  ];
  const calls = PATHS.map((path, index) => ({
    id: ids[index] ?? '',
    type: 'function',
    function: { name: 'Read', arguments: JSON.stringify({ path }) },
  }));
  const second = [
    { role: 'system', content: system },
    { role: 'user', content: QUESTION },
    { role: 'assistant', content: null, tool_calls: calls, ...thoughts },
    ...RESULTS.map((content, index) => ({
      role: 'tool',
      tool_call_id: ids[index] ?? '',
      content: index === RESULTS.length - 1 ? marked(content) : content,
    })),
  ];
  return [
    { body: chatBody(model, first, fields), answer: answers[0] },
    { body: chatBody(model, second, fields), answer: answers[1] },
  ];
}

/** The chunks of a chat answer, from their deltas. `shape`: the other fields of each chunk. */
export function chunks(shape: JsonObject, choices: readonly JsonObject[]): readonly JsonObject[] {
  return choices.map((choice) => ({ ...shape, choices: [{ index: 0, ...choice }] }));
}

/** The piece of a call as OpenAI sends it. */
export function callPiece(index: number, id: string, args: string): JsonObject {
  return { index, id, type: 'function', function: { name: 'Read', arguments: args } };
}

/** A function that tells if a message of the request has a field. */
export function hasMessageField(field: string): (body: JsonObject) => boolean {
  return ({ messages }) =>
    Array.isArray(messages) &&
    messages.some((message) => JSON.stringify(message).includes(`"${field}":`));
}

/** A function that tells if the request has a field. */
export function hasField(field: string): (body: JsonObject) => boolean {
  return (body) => body[field] !== undefined;
}

/** A function that tells if a message with calls lacks a field. */
export function hasCallsWithout(field: string): (body: JsonObject) => boolean {
  return ({ messages }) =>
    Array.isArray(messages) &&
    messages.some((message) => {
      const fields = message as JsonObject;
      return fields['tool_calls'] !== undefined && fields[field] === undefined;
    });
}
