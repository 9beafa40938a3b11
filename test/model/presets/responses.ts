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

// The bodies of requests in OpenAI's Responses protocol.

interface ResponsesTurns {
  readonly model: string;
  /** The role of the system prompt. */
  readonly systemRole: 'system' | 'developer';
  /** The fields of both requests that differ from the protocol. */
  readonly fields: JsonObject;
  readonly ids: CallIds;
  /** The item with the thoughts before the calls; null: it is not sent back. */
  readonly thought: JsonObject | null;
  /** The further fields of each call. */
  readonly callFields?: readonly [JsonObject, JsonObject];
  readonly answers: readonly [Turn['answer'], Turn['answer']];
}

/** The two turns of a provider with this protocol. */
export function responsesTurns(turns: ResponsesTurns): [Turn, Turn] {
  const { model, systemRole, fields, ids, thought, callFields = [{}, {}], answers } = turns;
  const first = [
    { role: systemRole, content: 'You are Muster.' },
    { role: systemRole, content: 'Task: look around' },
    { role: 'user', content: [{ type: 'input_text', text: QUESTION }] },
  ];
  const toCall = (path: string, index: number) => ({
    type: 'function_call',
    call_id: ids[index] ?? '',
    name: 'Read',
    arguments: JSON.stringify({ path }),
    ...callFields[index],
  });
  const second = [
    ...first,
    ...(thought === null ? [] : [thought]),
    ...PATHS.map(toCall),
    ...RESULTS.map((output, index) => ({
      type: 'function_call_output',
      call_id: ids[index] ?? '',
      output,
    })),
  ];
  const body = (input: readonly JsonObject[]): JsonObject => ({
    model,
    input,
    max_output_tokens: OUTPUT_LIMIT,
    store: false,
    stream: true,
    tool_choice: 'auto',
    tools: [
      {
        type: 'function',
        name: 'Read',
        description: 'Reads.',
        parameters: PARAMETERS,
        strict: false,
      },
      {
        type: 'function',
        name: 'Glob',
        description: 'Finds.',
        parameters: { type: 'object', properties: {} },
        strict: false,
      },
    ],
    ...fields,
  });
  return [
    { body: body(first), answer: answers[0] },
    { body: body(second), answer: answers[1] },
  ];
}
