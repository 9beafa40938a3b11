import type { JsonObject } from '../../../src/base/json.ts';
import {
  OUTPUT_LIMIT,
  PARAMETERS,
  PATHS,
  QUESTION,
  RESULTS,
  type CallIds,
  type Turn,
} from './wire.ts';

// The bodies of requests and the events of answers in Anthropic's Messages protocol.

const MARK = { cache_control: { type: 'ephemeral' } };

interface MessagesTurns {
  readonly model: string;
  /** The fields of both requests that differ from the protocol. */
  readonly fields: JsonObject;
  readonly ids: CallIds;
  /** The block with the thoughts before the calls. */
  readonly thought: JsonObject;
  readonly answers: readonly [Turn['answer'], Turn['answer']];
}

/** The two turns of a provider with this protocol. */
export function messagesTurns({
  model,
  fields,
  ids,
  thought,
  answers,
}: MessagesTurns): [Turn, Turn] {
  const question = { type: 'text', text: QUESTION };
  const calls = PATHS.map((path, index) => ({
    type: 'tool_use',
    id: ids[index] ?? '',
    name: 'Read',
    input: { path },
  }));
  const toResult = (content: string, index: number) => ({
    type: 'tool_result',
    tool_use_id: ids[index] ?? '',
    content,
    ...(index === RESULTS.length - 1 ? MARK : {}),
  });
  const results = RESULTS.map(toResult);
  const body = (messages: readonly JsonObject[]): JsonObject => ({
    model,
    max_tokens: OUTPUT_LIMIT,
    system: [
      { type: 'text', text: 'You are Muster.', ...MARK },
      { type: 'text', text: 'Task: look around' },
    ],
    messages,
    tools: [
      {
        name: 'Read',
        description: 'Reads.',
        input_schema: PARAMETERS,
      },
      {
        name: 'Glob',
        description: 'Finds.',
        input_schema: { type: 'object', properties: {} },
        ...MARK,
      },
    ],
    tool_choice: { type: 'auto' },
    stream: true,
    ...fields,
  });
  return [
    { body: body([{ role: 'user', content: [{ ...question, ...MARK }] }]), answer: answers[0] },
    {
      body: body([
        { role: 'user', content: [question] },
        { role: 'assistant', content: [thought, ...calls] },
        { role: 'user', content: results },
      ]),
      answer: answers[1],
    },
  ];
}

/** The events of one block. */
export function block(index: number, start: JsonObject, deltas: readonly JsonObject[]) {
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

/** The events of the block of a call. */
export function callBlock(index: number, id: string, path: string) {
  return block(index, { type: 'tool_use', id, name: 'Read', input: {} }, [
    { type: 'input_json_delta', partial_json: '' },
    { type: 'input_json_delta', partial_json: '{"path": "' },
    { type: 'input_json_delta', partial_json: `${path}"}` },
  ]);
}
