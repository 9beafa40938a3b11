import { expect, it } from 'vitest';
import { responsesProtocol } from '../../../../src/model/adapters/openai-responses/responses-protocol.ts';
import { readQuirk, stream, type Quirk } from '../read-answer.ts';

const MODEL = { dialect: responsesProtocol, model: 'gpt-5' };
const INPUT = { path: 'a.ts' };
const RAW = JSON.stringify(INPUT);
const CALLED = { calls: [['Read', INPUT]], reason: 'tool_calls' } as const;
const USAGE = { input_tokens: 9, output_tokens: 3 };

const created = {
  type: 'response.created',
  response: { id: 'resp_1', model: MODEL.model, status: 'in_progress' },
};
const completed = (more: object = {}) => ({
  type: 'response.completed',
  response: { id: 'resp_1', model: MODEL.model, status: 'completed', usage: USAGE, ...more },
});
const messageItem = (said: string) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: said, annotations: [] }],
});
const callItem = (more: object = {}) => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'Read',
  arguments: RAW,
  status: 'completed',
  ...more,
});
const added = (item: object, index: number | undefined = 0) => ({
  type: 'response.output_item.added',
  output_index: index,
  item,
});
const ended = (item: object, index: number | undefined = 0) => ({
  type: 'response.output_item.done',
  output_index: index,
  item,
});
const textDelta = (delta: string, more: object = {}) => ({
  type: 'response.output_text.delta',
  output_index: 0,
  content_index: 0,
  item_id: 'msg_1',
  delta,
  ...more,
});
const argumentsDelta = (delta: unknown, more: object = {}) => ({
  type: 'response.function_call_arguments.delta',
  output_index: 0,
  item_id: 'fc_1',
  delta,
  ...more,
});
const message = [
  added({ ...messageItem(''), content: [] }),
  textDelta('h'),
  textDelta('i'),
  ended(messageItem('hi')),
];
const call = [added(callItem({ arguments: '' })), argumentsDelta(RAW), ended(callItem())];

const QUIRKS: readonly Quirk[] = [
  ['nothing odd', [created, ...message, completed()], { text: 'hi' }],
  ['a call', [created, ...call, completed()], CALLED],
  [
    'an event of unknown type',
    [created, { type: 'response.new_thing' }, ...message, completed()],
    { text: 'hi', repairs: { unknown_event: 1 } },
  ],
  [
    'an item of unknown type',
    [
      created,
      added({ type: 'new_item', id: 'x' }),
      ended({ type: 'new_item', id: 'x' }),
      ...message.map((event) => ({ ...event, output_index: 1 })),
      completed(),
    ],
    { text: 'hi', repairs: { unknown_block: 1 } },
  ],
  [
    'no usage',
    [created, ...message, completed({ usage: undefined })],
    { text: 'hi', usageMissing: 'all', repairs: { missing_usage: 1 } },
  ],
  [
    'usage that is null',
    [created, ...message, completed({ usage: null })],
    { text: 'hi', usageMissing: 'all', repairs: { missing_usage: 1 } },
  ],
  [
    'no output_index and no item_id',
    [
      created,
      { type: 'response.output_item.added', item: { ...messageItem(''), content: [] } },
      { type: 'response.output_text.delta', delta: 'hi' },
      { type: 'response.output_item.done', item: messageItem('hi') },
      completed(),
    ],
    { text: 'hi', repairs: { missing_index: expect.any(Number) as unknown as number } },
  ],
  ['no response.created', [...message, completed()], { text: 'hi' }],
  [
    'a delta without its item',
    [created, textDelta('hi'), completed()],
    { text: 'hi', repairs: { missing_block_start: 1 } },
  ],
  [
    'a clean end behind the items',
    [
      created,
      added(messageItem('')),
      textDelta('hi'),
      ended(messageItem('hi')),
      ended(callItem(), 1),
    ],
    { failed: expect.stringMatching(/broke off/) },
  ],
  [
    'a clean end inside an item',
    [created, added(messageItem('')), textDelta('hi')],
    { failed: expect.stringContaining('broke off') as unknown as string },
  ],
  [
    'a last response that numbers its items otherwise',
    [
      created,
      added(callItem({ arguments: '' })),
      ended(callItem()),
      completed({ output: [{ type: 'reasoning', id: 'rs_1', summary: [] }, callItem()] }),
    ],
    CALLED,
  ],
  [
    'a last response with other ids and blanks',
    [
      created,
      added(messageItem('')),
      textDelta('hi'),
      ended(messageItem('hi')),
      added(callItem({ arguments: '' }), 1),
      ended(callItem({ arguments: '{"path": "a.ts"}' }), 1),
      completed({
        output: [callItem({ id: 'x', call_id: 'y' }), { ...messageItem('hi'), id: 'z' }],
      }),
    ],
    { ...CALLED, text: 'hi' },
  ],
  [
    'a last response with one more call',
    [
      created,
      added(callItem({ arguments: '' })),
      ended(callItem()),
      completed({ output: [callItem(), callItem({ id: 'fc_2', call_id: 'call_2' })] }),
    ],
    {
      calls: [...CALLED.calls, ...CALLED.calls],
      reason: 'tool_calls',
      repairs: { message_instead_of_delta: 1 },
    },
  ],
  [
    'text that comes only with its end',
    [
      created,
      { type: 'response.output_text.done', output_index: 0, item_id: 'msg_1', text: 'hi' },
      completed(),
    ],
    { text: 'hi', repairs: { missing_block_start: 1 } },
  ],
  [
    'text that comes again with each end',
    [
      created,
      added(messageItem('')),
      textDelta('hi'),
      { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'hi' },
      {
        type: 'response.content_part.done',
        output_index: 0,
        content_index: 0,
        part: { type: 'output_text', text: 'hi' },
      },
      ended(messageItem('hi')),
      { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'hi' },
      completed({ output: [messageItem('hi')] }),
    ],
    { text: 'hi' },
  ],
  [
    'arguments that come only with their end',
    [
      created,
      added(callItem({ arguments: '' })),
      { type: 'response.function_call_arguments.done', output_index: 0, arguments: RAW },
      completed(),
    ],
    CALLED,
  ],
  [
    'items without a type',
    [
      created,
      ended({ content: [{ text: 'hi' }] }),
      ended({ call_id: 'call_1', name: 'Read', arguments: RAW }, 1),
      completed(),
    ],
    { ...CALLED, text: 'hi' },
  ],
  [
    'another item under the place of an open one',
    [
      created,
      added(messageItem('')),
      textDelta('hi'),
      added(callItem({ arguments: '' })),
      argumentsDelta(RAW),
      ended(callItem()),
      completed(),
    ],
    { ...CALLED, text: 'hi', repairs: { missing_block_end: 1 } },
  ],
  [
    'a whole response with nothing but its text',
    {
      contentType: 'application/json',
      body: JSON.stringify({ id: 'resp_1', output_text: 'hi', usage: USAGE }),
    },
    { text: 'hi', repairs: { json_instead_of_stream: 1 } },
  ],
  ['items without deltas', [created, ended(messageItem('hi')), completed()], { text: 'hi' }],
  [
    'all of the answer in the last event',
    [created, completed({ output: [messageItem('hi'), callItem()] })],
    { text: 'hi', ...CALLED, repairs: { message_instead_of_delta: 2 } },
  ],
  [
    'the answer again in the last event',
    [created, ...message, completed({ output: [messageItem('hi')] })],
    { text: 'hi' },
  ],
  [
    'arguments as an object',
    [
      created,
      added(callItem({ arguments: '' })),
      ended(callItem({ arguments: INPUT })),
      completed(),
    ],
    { ...CALLED, repairs: { arguments_as_object: 1 } },
  ],
  [
    'arguments encoded twice',
    [
      created,
      added(callItem({ arguments: '' })),
      ended(callItem({ arguments: JSON.stringify(RAW) })),
      completed(),
    ],
    { ...CALLED, repairs: { arguments_encoded_twice: 1 } },
  ],
  [
    'raw line breaks in arguments',
    [
      created,
      added(callItem({ arguments: '' })),
      ended(callItem({ arguments: '{"text":"a\nb"}' })),
      completed(),
    ],
    { calls: [['Read', { text: 'a\nb' }]], reason: 'tool_calls', repairs: { raw_line_break: 1 } },
  ],
  [
    'arguments at the end of the deltas alone',
    [
      created,
      added(callItem({ arguments: '' })),
      argumentsDelta(RAW),
      ended(callItem({ arguments: '' })),
      completed(),
    ],
    CALLED,
  ],
  [
    'a call without call_id',
    [
      created,
      added(callItem({ arguments: '', call_id: undefined })),
      argumentsDelta(RAW),
      ended(callItem({ call_id: undefined })),
      completed(),
    ],
    CALLED,
  ],
  [
    'a call without ids',
    [created, ended(callItem({ call_id: undefined, id: undefined })), completed()],
    { ...CALLED, repairs: { missing_call_id: 1 } },
  ],
  [
    'thinking in the text',
    [created, ended(messageItem('<think>Hm.</think>hi')), completed()],
    { text: 'hi', thinking: 'Hm.', repairs: { thinking_in_text: 1 } },
  ],
  [
    'plain JSON in place of a stream',
    {
      contentType: 'application/json',
      body: JSON.stringify({
        id: 'resp_1',
        object: 'response',
        status: 'completed',
        model: MODEL.model,
        output: [messageItem('hi'), callItem()],
        usage: USAGE,
      }),
    },
    { text: 'hi', ...CALLED, repairs: { json_instead_of_stream: 1 } },
  ],
  ['[DONE] behind the end', [created, ...message, completed(), '[DONE]'], { text: 'hi' }],
  [
    'response.done in place of response.completed',
    [created, ...message, { ...completed(), type: 'response.done' }],
    { text: 'hi' },
  ],
  ['carriage returns', stream([created, ...message, completed()], '\r'), { text: 'hi' }],
  [
    'a complete answer, then a reset',
    { ...stream([created, ...message, completed()]), reset: true },
    { text: 'hi' },
  ],
  [
    'an end at the limit',
    [
      created,
      ...message,
      {
        type: 'response.incomplete',
        response: {
          status: 'incomplete',
          incomplete_details: { reason: 'max_output_tokens' },
          usage: USAGE,
        },
      },
    ],
    { text: 'hi', reason: 'length' },
  ],
  [
    'an incomplete answer that does not say why',
    [
      created,
      ...message,
      { type: 'response.incomplete', response: { status: 'incomplete', usage: USAGE } },
    ],
    { text: 'hi', reason: 'length' },
  ],
];

it.each(QUIRKS)('%s', async (_name, sent, read) => {
  expect(await readQuirk(MODEL, sent)).toEqual(read);
});
