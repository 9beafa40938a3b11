import { expect, it } from 'vitest';
import { anthropicProtocol } from '../../../../src/model/adapters/anthropic/anthropic-protocol.ts';
import { readQuirk, stream, type Quirk } from '../read-answer.ts';

const MODEL = { dialect: anthropicProtocol, model: 'claude-sonnet-5' };
const INPUT = { path: 'a.ts' };
const READ = [['Read', INPUT]] as const;
const CALLED = { calls: READ, reason: 'tool_calls' } as const;

const message = (more: object = {}) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: MODEL.model,
  content: [],
  stop_reason: null,
  usage: { input_tokens: 9, output_tokens: 1 },
  ...more,
});
const start = (more: object = {}) => ({ type: 'message_start', message: message(more) });
const begin = (block: object, index: number | undefined = 0) => ({
  type: 'content_block_start',
  index,
  content_block: block,
});
const delta = (given: object, index: number | undefined = 0) => ({
  type: 'content_block_delta',
  index,
  delta: given,
});
const close = (index: number | undefined = 0) => ({ type: 'content_block_stop', index });
const text = (said: string, index = 0) => [
  begin({ type: 'text', text: '' }, index),
  delta({ type: 'text_delta', text: said }, index),
  close(index),
];
const tool = (more: object = {}) => ({
  type: 'tool_use',
  id: 'toolu_1',
  name: 'Read',
  input: {},
  ...more,
});
const json = (raw: unknown) => delta({ type: 'input_json_delta', partial_json: raw });
const end = (reason: string | null = 'end_turn', more: object = {}) => [
  {
    type: 'message_delta',
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: 3 },
    ...more,
  },
  { type: 'message_stop' },
];

const QUIRKS: readonly Quirk[] = [
  ['nothing odd', [start(), ...text('hi'), ...end()], { text: 'hi' }],
  [
    'an event of unknown type',
    [start(), { type: 'vertex_event', usage: {} }, ...text('hi'), ...end()],
    { text: 'hi', repairs: { unknown_event: 1 } },
  ],
  [
    'a block of unknown type, with deltas',
    [
      start(),
      begin({ type: 'new_block', x: 1 }),
      delta({ type: 'text_delta', text: 'not for anybody' }),
      close(),
      ...text('hi', 1),
      ...end(),
    ],
    { text: 'hi', repairs: { unknown_block: 1 } },
  ],
  [
    'a delta of unknown type',
    [
      start(),
      begin({ type: 'text', text: '' }),
      delta({ type: 'new_delta' }),
      delta({ type: 'text_delta', text: 'hi' }),
      close(),
      ...end(),
    ],
    { text: 'hi', repairs: { unknown_delta: 1 } },
  ],
  [
    'an applied edit of unknown type',
    [
      start(),
      ...text('hi'),
      ...end('end_turn', { context_management: { applied_edits: [{ type: 'new_edit' }] } }),
    ],
    { text: 'hi' },
  ],
  [
    'text in the start of a block',
    [
      start(),
      begin({ type: 'text', text: 'h' }),
      delta({ type: 'text_delta', text: 'i' }),
      close(),
      ...end(),
    ],
    { text: 'hi', repairs: { text_in_block_start: 1 } },
  ],
  [
    'text in the start of a block alone',
    [start(), begin({ type: 'text', text: 'hi' }), close(), ...end()],
    { text: 'hi', repairs: { text_in_block_start: 1 } },
  ],
  [
    'arguments in the start of a block',
    [start(), begin(tool({ input: INPUT })), close(), ...end('tool_use')],
    CALLED,
  ],
  [
    'arguments in the start and in a delta',
    [
      start(),
      begin(tool({ input: INPUT })),
      json(JSON.stringify(INPUT)),
      close(),
      ...end('tool_use'),
    ],
    CALLED,
  ],
  [
    'arguments as an object in a delta',
    [start(), begin(tool()), json(INPUT), close(), ...end('tool_use')],
    { ...CALLED, repairs: { arguments_as_object: 1 } },
  ],
  [
    'arguments encoded twice',
    [
      start(),
      begin(tool()),
      json(JSON.stringify(JSON.stringify(INPUT))),
      close(),
      ...end('tool_use'),
    ],
    { ...CALLED, repairs: { arguments_encoded_twice: 1 } },
  ],
  [
    'raw line breaks in arguments',
    [start(), begin(tool()), json('{"text":"a\nb"}'), close(), ...end('tool_use')],
    { calls: [['Read', { text: 'a\nb' }]], reason: 'tool_calls', repairs: { raw_line_break: 1 } },
  ],
  [
    'no arguments at all',
    [start(), begin({ ...tool(), input: undefined }), close(), ...end('tool_use')],
    { calls: [['Read', {}]], reason: 'tool_calls' },
  ],
  [
    'a call without an id',
    [
      start(),
      begin(tool({ id: undefined })),
      json(JSON.stringify(INPUT)),
      close(),
      ...end('tool_use'),
    ],
    { ...CALLED, repairs: { missing_call_id: 1 } },
  ],
  [
    'a call that ends as end_turn',
    [start(), begin(tool()), json(JSON.stringify(INPUT)), close(), ...end('end_turn')],
    CALLED,
  ],
  [
    'blocks without index',
    [
      start(),
      { type: 'content_block_start', content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', delta: { type: 'text_delta', text: 'hi' } },
      { type: 'content_block_stop' },
      ...end(),
    ],
    { text: 'hi', repairs: { missing_index: expect.any(Number) as unknown as number } },
  ],
  [
    'a block that is never closed',
    [
      start(),
      begin({ type: 'text', text: '' }),
      delta({ type: 'text_delta', text: 'hi' }),
      ...end(),
    ],
    { text: 'hi', repairs: { missing_block_end: 1 } },
  ],
  [
    'a delta without the start of its block',
    [start(), delta({ type: 'text_delta', text: 'hi' }), close(), ...end()],
    { text: 'hi', repairs: { missing_block_start: 1 } },
  ],
  [
    'no message_start',
    [...text('hi'), ...end()],
    { text: 'hi', usageMissing: 'input', repairs: { partial_usage: 1 } },
  ],
  [
    'a message_start without usage',
    [
      start({ usage: undefined }),
      ...text('hi'),
      ...end('end_turn', { usage: { input_tokens: 9, output_tokens: 3 } }),
    ],
    { text: 'hi' },
  ],
  [
    'usage that is null everywhere',
    [start({ usage: null }), ...text('hi'), ...end('end_turn', { usage: null })],
    { text: 'hi', usageMissing: 'all', repairs: { missing_usage: 1 } },
  ],
  [
    'message_stop without a stop reason',
    [start(), ...text('hi'), { type: 'message_stop' }],
    { text: 'hi', usageMissing: 'output', repairs: { missing_finish_reason: 1, partial_usage: 1 } },
  ],
  [
    'a stop reason without message_stop',
    [start(), ...text('hi'), ...end().slice(0, 1)],
    { text: 'hi' },
  ],
  [
    'a clean end behind the blocks',
    [
      start(),
      ...text('hi'),
      begin(tool(), 1),
      delta({ type: 'input_json_delta', partial_json: '{"path":"a.ts"}' }, 1),
      close(1),
    ],
    { failed: expect.stringMatching(/broke off/) },
  ],
  [
    'a clean end inside a text',
    [start(), ...text('hi').slice(0, -1)],
    { failed: expect.stringContaining('broke off') as unknown as string },
  ],
  [
    'a clean end inside a call whose arguments can be read',
    [start(), begin(tool()), json('{}')],
    { failed: expect.stringContaining('broke off') as unknown as string },
  ],
  [
    'a clean end inside a block of unknown type',
    [start(), ...text('hi'), begin({ type: 'new_tool_use' }, 1)],
    { failed: expect.stringContaining('broke off') as unknown as string },
  ],
  [
    'a clean end before any block',
    [start()],
    { failed: expect.stringContaining('broke off') as unknown as string },
  ],
  ...[undefined, null, {}].map((block): Quirk => [
    `a block that begins with ${JSON.stringify(block)}`,
    [
      start(),
      { ...begin({}), content_block: block },
      delta({ type: 'text_delta', text: 'hi' }),
      close(),
      ...end(),
    ],
    { text: 'hi', repairs: { missing_block_start: 2 } },
  ]),
  [
    'blocks without a type',
    [
      start(),
      begin({ thinking: '' }),
      delta({ type: 'thinking_delta', thinking: 'Hm.' }),
      close(),
      begin({ text: '' }, 1),
      delta({ type: 'text_delta', text: 'hi' }, 1),
      close(1),
      begin({ id: 'toolu_1', name: 'Read', input: INPUT }, 2),
      close(2),
      ...end('tool_use'),
    ],
    { ...CALLED, text: 'hi', thinking: 'Hm.' },
  ],
  [
    'another block under an index that is open',
    [
      start(),
      begin({ type: 'text', text: '' }),
      delta({ type: 'text_delta', text: 'hi' }),
      begin(tool()),
      json('{"path":"a.ts"}'),
      begin(tool({ id: 'toolu_2' })),
      json('{"path":"b.ts"}'),
      ...end('tool_use'),
    ],
    {
      text: 'hi',
      calls: [...READ, ['Read', { path: 'b.ts' }]],
      reason: 'tool_calls',
      repairs: { missing_block_end: 3 },
    },
  ],
  [
    'the start of an open call once more',
    [
      start(),
      begin(tool()),
      json('{"path":'),
      begin(tool()),
      json('"a.ts"}'),
      close(),
      ...end('tool_use'),
    ],
    { ...CALLED, repairs: { repeated_part: 1 } },
  ],
  [
    'text in a block of thinking',
    [
      start(),
      begin({ type: 'thinking', thinking: '' }),
      delta({ type: 'thinking_delta', thinking: 'Hm.' }),
      delta({ type: 'text_delta', text: 'h' }),
      delta({ type: 'text_delta', text: 'i' }),
      close(),
      ...end(),
    ],
    { text: 'hi', thinking: 'Hm.', repairs: { missing_block_start: 2 } },
  ],
  [
    'thinking in a block of text',
    [
      start(),
      begin({ type: 'text', text: '' }),
      delta({ type: 'thinking_delta', thinking: 'Hm.' }),
      delta({ type: 'text_delta', text: 'hi' }),
      close(),
      ...end(),
    ],
    { text: 'hi', thinking: 'Hm.', repairs: { missing_block_start: 1 } },
  ],
  ['[DONE] behind the end', [start(), ...text('hi'), ...end(), '[DONE]'], { text: 'hi' }],
  [
    'the answer in message_start',
    [
      start({
        content: [{ type: 'text', text: 'hi' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 9, output_tokens: 3 },
      }),
      { type: 'message_stop' },
    ],
    { text: 'hi', repairs: { message_instead_of_delta: 1 } },
  ],
  [
    'plain JSON in place of a stream',
    {
      contentType: 'application/json',
      body: JSON.stringify(
        message({
          content: [{ type: 'text', text: 'hi' }, tool({ input: INPUT })],
          stop_reason: 'tool_use',
        }),
      ),
    },
    { text: 'hi', ...CALLED, repairs: { json_instead_of_stream: 1 } },
  ],
  ['carriage returns', stream([start(), ...text('hi'), ...end()], '\r'), { text: 'hi' }],
  [
    'one line end, comments and empty data',
    {
      body: `: hello\ndata:\n\n${[start(), ...text('hi'), ...end()].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n`).join('')}`,
    },
    { text: 'hi' },
  ],
  [
    'a complete answer, then a reset',
    { ...stream([start(), ...text('hi'), ...end()]), reset: true },
    { text: 'hi' },
  ],
  [
    'a stop reason, then a reset',
    { ...stream([start(), ...text('hi'), ...end().slice(0, 1)]), reset: true },
    { text: 'hi', repairs: { broken_connection_after_end: 1 } },
  ],
  [
    'thinking in the text',
    [start(), ...text('<think>Hm.</think>\nhi'), ...end()],
    { text: 'hi', thinking: 'Hm.', repairs: { thinking_in_text: 1 } },
  ],
  [
    'thinking without a signature',
    [
      start(),
      begin({ type: 'thinking', thinking: '' }),
      delta({ type: 'thinking_delta', thinking: 'Hm.' }),
      close(),
      ...text('hi', 1),
      ...end(),
    ],
    { text: 'hi', thinking: 'Hm.' },
  ],
  [
    'an unknown stop reason',
    [start(), ...text('hi'), ...end('new_reason')],
    { text: 'hi', reason: 'other' },
  ],
  [
    'an answer that outgrew the context window',
    [start(), ...text('hi'), ...end('model_context_window_exceeded')],
    { failed: expect.stringContaining('model_context_window_exceeded') as unknown as string },
  ],
];

it.each(QUIRKS)('%s', async (_name, sent, read) => {
  expect(await readQuirk(MODEL, sent)).toEqual(read);
});
