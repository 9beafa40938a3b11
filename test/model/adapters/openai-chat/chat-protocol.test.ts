import { expect, it } from 'vitest';
import { chatProtocol } from '../../../../src/model/adapters/openai-chat/chat-protocol.ts';
import { readQuirk, stream, type Quirk } from '../read-answer.ts';

const MODEL = { dialect: chatProtocol, model: 'qwen3-coder' };
const USAGE = { prompt_tokens: 9, completion_tokens: 3 };
const INPUT = { path: 'a.ts' };

const chunk = (delta: unknown, more: object = {}) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  model: MODEL.model,
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});
const text = (content: string) => chunk({ content });
const stop = (reason = 'stop') => ({ ...chunk({}, { finish_reason: reason }), usage: USAGE });
const call = (more: object, rawArguments: unknown = JSON.stringify(INPUT)) => ({
  index: 0,
  id: 'call_1',
  type: 'function',
  function: { name: 'Read', arguments: rawArguments },
  ...more,
});
const calls = (...all: readonly object[]) => chunk({ tool_calls: all });
const READ = [['Read', INPUT]] as const;
const CALLED = { calls: READ, reason: 'tool_calls' } as const;
const DONE = '[DONE]';

const QUIRKS: readonly Quirk[] = [
  ['nothing odd', [text('hi'), stop(), DONE], { text: 'hi' }],
  [
    'a first chunk without choices',
    [{ id: 'c', object: 'chat.completion.chunk' }, text('hi'), stop(), DONE],
    { text: 'hi', repairs: { missing_choices: 1 } },
  ],
  [
    'choices that are null',
    [{ id: 'c', choices: null }, text('hi'), stop(), DONE],
    { text: 'hi', repairs: { missing_choices: 1 } },
  ],
  [
    'an empty chunk',
    [{}, text('hi'), stop(), DONE],
    { text: 'hi', repairs: { missing_choices: 1 } },
  ],
  [
    'no choices, but usage',
    [
      text('hi'),
      chunk({}, { finish_reason: 'stop' }),
      { id: 'c', choices: [], usage: USAGE },
      DONE,
    ],
    { text: 'hi' },
  ],
  ['a choice without a delta', [chunk(undefined), text('hi'), stop(), DONE], { text: 'hi' }],
  ['a delta that is null', [chunk(null), text('hi'), stop(), DONE], { text: 'hi' }],
  [
    'content that is null',
    [chunk({ role: 'assistant', content: null }), text('hi'), stop(), DONE],
    { text: 'hi' },
  ],
  [
    'content in parts',
    [chunk({ content: [{ type: 'text', text: 'hi' }] }), stop(), DONE],
    { text: 'hi' },
  ],
  [
    'usage that is null',
    [
      { ...text('hi'), usage: null },
      { ...chunk({}, { finish_reason: 'stop' }), usage: null },
      DONE,
    ],
    { text: 'hi', usageMissing: 'all', repairs: { missing_usage: 1 } },
  ],
  [
    'usage in part',
    [
      text('hi'),
      {
        ...chunk({}, { finish_reason: 'stop' }),
        usage: { total_tokens: 12, completion_tokens: 3 },
      },
      DONE,
    ],
    { text: 'hi' },
  ],
  [
    'usage without the answer',
    [text('hi'), { ...chunk({}, { finish_reason: 'stop' }), usage: { prompt_tokens: 9 } }, DONE],
    { text: 'hi', usageMissing: 'output', repairs: { partial_usage: 1 } },
  ],
  [
    'an end without a finish reason',
    [text('hi'), DONE],
    { text: 'hi', usageMissing: 'all', repairs: { missing_finish_reason: 1, missing_usage: 1 } },
  ],
  [
    'a clean end without any end mark',
    [text('hi'), { ...chunk({}), usage: USAGE }],
    { text: 'hi', repairs: { missing_finish_reason: 1 } },
  ],
  [
    'a call, and [DONE] without a finish reason',
    [calls(call({})), { ...chunk({}), usage: USAGE }, DONE],
    { ...CALLED, repairs: { missing_finish_reason: 1 } },
  ],
  ['a call that finishes as stop', [calls(call({})), stop(), DONE], CALLED],
  [
    'an empty finish reason before the true one',
    [chunk({ content: 'hi' }, { finish_reason: '' }), stop(), DONE],
    { text: 'hi' },
  ],
  [
    'arguments as an object',
    [calls(call({}, INPUT)), stop('tool_calls'), DONE],
    { ...CALLED, repairs: { arguments_as_object: 1 } },
  ],
  [
    'arguments encoded twice',
    [calls(call({}, JSON.stringify(JSON.stringify(INPUT)))), stop('tool_calls'), DONE],
    { ...CALLED, repairs: { arguments_encoded_twice: 1 } },
  ],
  [
    'raw line breaks in arguments',
    [calls(call({}, '{"text":"a\nb\tc"}')), stop('tool_calls'), DONE],
    {
      calls: [['Read', { text: 'a\nb\tc' }]],
      reason: 'tool_calls',
      repairs: { raw_line_break: 1 },
    },
  ],
  [
    'arguments that are null or empty, for a tool without any',
    [calls(call({}, null)), calls(call({ index: 1, id: 'call_2' }, '')), stop('tool_calls'), DONE],
    {
      calls: [
        ['Read', {}],
        ['Read', {}],
      ],
      reason: 'tool_calls',
    },
  ],
  [
    'arguments in pieces without index and id',
    [
      calls({ ...call({}, '{"path":'), index: undefined }),
      calls({ function: { arguments: '"a.ts"}' } }),
      stop('tool_calls'),
      DONE,
    ],
    { ...CALLED, repairs: { missing_index: 1 } },
  ],
  [
    'two whole calls without index',
    [
      calls({ ...call({}), index: undefined }),
      calls({ ...call({ id: 'call_2' }, '{"path":"b"}'), index: undefined }),
      stop('tool_calls'),
      DONE,
    ],
    {
      calls: [...READ, ['Read', { path: 'b' }]],
      reason: 'tool_calls',
      repairs: { missing_index: 2 },
    },
  ],
  [
    'two calls with the same index',
    [calls(call({})), calls(call({ id: 'call_2' }, '{"path":"b"}')), stop('tool_calls'), DONE],
    {
      calls: [...READ, ['Read', { path: 'b' }]],
      reason: 'tool_calls',
    },
  ],
  [
    'a call without an id',
    [calls({ ...call({}), id: undefined }), stop('tool_calls'), DONE],
    { ...CALLED, repairs: { missing_call_id: 1 } },
  ],
  [
    'id and name in each piece',
    [calls(call({}, '{"path":')), calls(call({}, '"a.ts"}')), stop('tool_calls'), DONE],
    CALLED,
  ],
  [
    'a name that comes after the id',
    [
      calls({ index: 0, id: 'call_1', type: 'function', function: { arguments: '' } }),
      calls(call({ id: undefined })),
      stop('tool_calls'),
      DONE,
    ],
    CALLED,
  ],
  [
    'a call whose type is missing or empty',
    [calls({ ...call({}), type: '' }), stop('tool_calls'), DONE],
    CALLED,
  ],
  [
    'the old function_call',
    [
      chunk({ function_call: { name: 'Read', arguments: '{"path":' } }),
      chunk({ function_call: { arguments: '"a.ts"}' } }),
      stop('function_call'),
      DONE,
    ],
    { ...CALLED, repairs: { missing_call_id: 1 } },
  ],
  [
    'a message in place of deltas',
    [
      {
        id: 'c',
        choices: [
          { index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' },
        ],
        usage: USAGE,
      },
      DONE,
    ],
    { text: 'hi', repairs: { message_instead_of_delta: 1 } },
  ],
  [
    'the whole message again behind its deltas',
    [
      text('h'),
      text('i'),
      {
        id: 'c',
        choices: [
          { index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' },
        ],
        usage: USAGE,
      },
      DONE,
    ],
    { text: 'hi', repairs: { message_instead_of_delta: 1 } },
  ],
  [
    'plain JSON in place of a stream',
    {
      contentType: 'application/json',
      body: JSON.stringify(
        {
          id: 'c',
          object: 'chat.completion',
          choices: [
            {
              index: 0,
              message: { role: 'assistant', content: 'hi', tool_calls: [call({})] },
              finish_reason: 'tool_calls',
            },
          ],
          usage: USAGE,
        },
        null,
        2,
      ),
    },
    { text: 'hi', ...CALLED, repairs: { json_instead_of_stream: 1 } },
  ],
  [
    'plain JSON that calls itself a stream',
    {
      body: JSON.stringify({
        id: 'c',
        choices: [
          { index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' },
        ],
        usage: USAGE,
      }),
    },
    { text: 'hi', repairs: { json_instead_of_stream: 1 } },
  ],
  [
    'comments, empty data lines and other fields',
    {
      body: `: OPENROUTER PROCESSING\n\nretry: 3\nid: 7\ndata:\n\ndata: \n\n${stream([text('hi'), stop(), DONE]).body}`,
    },
    { text: 'hi' },
  ],
  ['carriage returns', stream([text('hi'), stop(), DONE], '\r'), { text: 'hi' }],
  ['both', stream([text('hi'), stop(), DONE], '\r\n'), { text: 'hi' }],
  [
    'one line end behind each event',
    {
      body:
        [text('hi'), stop()].map((event) => `data: ${JSON.stringify(event)}\n`).join('') +
        'data: [DONE]\n',
    },
    { text: 'hi' },
  ],
  [
    'no blank behind the colon, and none behind the last line',
    {
      body:
        [text('hi'), stop()].map((event) => `data:${JSON.stringify(event)}\n\n`).join('') +
        'data:[DONE]',
    },
    { text: 'hi' },
  ],
  [
    'JSON lines',
    {
      contentType: 'application/x-ndjson',
      body: [text('hi'), stop()].map((event) => `${JSON.stringify(event)}\n`).join(''),
    },
    { text: 'hi', repairs: { json_instead_of_stream: 1 } },
  ],
  [
    'a complete answer, then a reset',
    { ...stream([text('hi'), stop(), DONE]), reset: true },
    { text: 'hi' },
  ],
  [
    'a finish reason, then a reset',
    { ...stream([text('hi'), stop()]), reset: true },
    { text: 'hi', repairs: { broken_connection_after_end: 1 } },
  ],
  [
    'thinking as reasoning_content',
    [chunk({ reasoning_content: 'Hm.' }), text('hi'), stop(), DONE],
    { text: 'hi', thinking: 'Hm.' },
  ],
  [
    'thinking as reasoning',
    [chunk({ reasoning: 'Hm.' }), text('hi'), stop(), DONE],
    { text: 'hi', thinking: 'Hm.' },
  ],
  [
    'thinking in the text',
    [text('<thi'), text('nk>Hm.</th'), text('ink>\n\nhi'), stop(), DONE],
    { text: 'hi', thinking: 'Hm.', repairs: { thinking_in_text: 1 } },
  ],
  [
    'only the closing tag of thinking in the text',
    [text('Hm.\n</think>\n\nhi'), stop(), DONE],
    { text: 'hi', thinking: 'Hm.\n', repairs: { thinking_in_text: 1 } },
  ],
  [
    'only the closing tag, in the middle of a line',
    [text('Hm.</think>hi'), stop(), DONE],
    { text: 'hi', thinking: 'Hm.', repairs: { thinking_in_text: 1 } },
  ],
  [
    'a closing tag that the text only speaks of',
    [text('Models end a thought with </think> or "</think>".'), stop(), DONE],
    { text: 'Models end a thought with </think> or "</think>".' },
  ],
  [
    'thinking in the text before a call',
    [text('<think>Hm.</think>'), calls(call({})), stop('tool_calls'), DONE],
    { ...CALLED, thinking: 'Hm.', repairs: { thinking_in_text: 1 } },
  ],
  [
    'a tag that the text only speaks of',
    [text('Write `<think>` and `</think>` around it.'), stop(), DONE],
    { text: 'Write `<think>` and `</think>` around it.' },
  ],
  [
    'a last message that repeats a call with other blanks',
    [
      calls(call({}, '{"path": "a.ts"}')),
      chunk(undefined, { message: { tool_calls: [call({})] }, finish_reason: 'tool_calls' }),
      { choices: [], usage: USAGE },
      DONE,
    ],
    { ...CALLED, repairs: { message_instead_of_delta: 1, repeated_part: 1 } },
  ],
  [
    'a last message that repeats text, thought and calls without ids',
    [
      chunk({ reasoning_content: 'Hm.' }),
      text(' hi'),
      calls(call({ id: undefined, index: 0 }), call({ id: undefined, index: 1 })),
      chunk(undefined, {
        message: {
          reasoning_content: 'Hm.',
          content: 'hi',
          tool_calls: [call({ id: undefined }), call({ id: undefined })],
        },
        finish_reason: 'tool_calls',
      }),
      { choices: [], usage: USAGE },
      DONE,
    ],
    {
      text: ' hi',
      thinking: 'Hm.',
      calls: [...READ, ...READ],
      reason: 'tool_calls',
      repairs: { missing_call_id: 2, message_instead_of_delta: 1, repeated_part: 2 },
    },
  ],
  [
    'a whole call repeated in pieces under its id',
    [
      calls(call({}, '')),
      calls({ index: 0, function: { arguments: '{"path":"a.ts"}' } }),
      calls(call({}, '')),
      calls({ index: 0, function: { arguments: '{"path":' } }),
      calls({ index: 0, function: { arguments: '"a.ts"}' } }),
      stop('tool_calls'),
      DONE,
    ],
    { ...CALLED, repairs: { repeated_part: 2 } },
  ],
  [
    'text and calls in two choices',
    [
      {
        choices: [
          { index: 0, delta: { content: 'hi' }, finish_reason: 'tool_calls' },
          { index: 1, delta: { tool_calls: [call({})] }, finish_reason: 'tool_calls' },
        ],
        usage: USAGE,
      },
      DONE,
    ],
    { ...CALLED, text: 'hi' },
  ],
  [
    'two calls without ids under one index, in pieces',
    [
      calls({ index: 0, function: { name: 'Read', arguments: '' } }),
      calls({ index: 0, function: { name: '', arguments: '{"path":' } }),
      calls({ index: 0, function: { name: '', arguments: '"a.ts"}' } }),
      calls({ index: 0, function: { name: 'Read', arguments: '' } }),
      calls({ index: 0, function: { name: '', arguments: '{"path":' } }),
      calls({ index: 0, function: { name: '', arguments: '"b.ts"}' } }),
      stop('tool_calls'),
      DONE,
    ],
    {
      calls: [...READ, ['Read', { path: 'b.ts' }]],
      reason: 'tool_calls',
      repairs: { missing_call_id: 2 },
    },
  ],
  [
    'a name once more behind the arguments',
    [calls(call({ id: undefined })), calls(call({ id: undefined }, '')), stop('tool_calls'), DONE],
    { ...CALLED, repairs: { missing_call_id: 1 } },
  ],
  [
    'a name in pieces',
    [
      calls({ index: 0, id: 'call_1', function: { name: 'Re', arguments: '' } }),
      calls({ index: 0, function: { name: 'ad', arguments: '' } }),
      calls({ index: 0, function: { arguments: '{"path":"a.ts"}' } }),
      stop('tool_calls'),
      DONE,
    ],
    CALLED,
  ],
  [
    'a name that grows',
    [
      calls({ index: 0, id: 'call_1', function: { name: 'Re' } }),
      calls({ index: 0, id: 'call_1', function: { name: 'Read' } }),
      calls({ index: 0, function: { arguments: '{"path":"a.ts"}' } }),
      stop('tool_calls'),
      DONE,
    ],
    CALLED,
  ],
  [
    'a new id and the name in each piece',
    [
      calls(call({ id: 'a' }, '')),
      calls(call({ id: 'b' }, '{"path":')),
      calls(call({ id: 'c' }, '"a.ts"}')),
      stop('tool_calls'),
      DONE,
    ],
    CALLED,
  ],
  [
    'two equal calls without ids in one list',
    [
      calls(call({ id: undefined, index: undefined }), call({ id: undefined, index: undefined })),
      stop('tool_calls'),
      DONE,
    ],
    {
      calls: [...READ, ...READ],
      reason: 'tool_calls',
      repairs: { missing_call_id: 2, missing_index: 2 },
    },
  ],
  [
    'messages in pieces',
    [
      chunk(undefined, { message: { content: 'Hel' } }),
      chunk(undefined, { message: { content: 'lo' } }),
      stop(),
      DONE,
    ],
    { text: 'Hello', repairs: { message_instead_of_delta: 2 } },
  ],
  [
    'a trimmed message that repeats the text before the end',
    [text('hi '), chunk(undefined, { message: { content: 'hi' } }), stop(), DONE],
    { text: 'hi ', repairs: { message_instead_of_delta: 1 } },
  ],
  [
    'messages that grow',
    [
      chunk(undefined, { message: { reasoning_content: 'Hm', content: 'Hel' } }),
      chunk(undefined, { message: { reasoning_content: 'Hm', content: 'Hello' } }),
      stop(),
      DONE,
    ],
    { text: 'Hello', thinking: 'Hm', repairs: { message_instead_of_delta: 2 } },
  ],
  [
    'a refusal as text',
    [chunk({ refusal: 'No.' }), stop(), DONE],
    { text: 'No.', reason: 'content_filter' },
  ],
  ['a name of another case for the reason', [calls(call({})), stop('TOOL_CALLS'), DONE], CALLED],
  [
    'an end at the limit, named otherwise',
    [text('hi'), stop('MAX_TOKENS'), DONE],
    { text: 'hi', reason: 'length' },
  ],
  ['an unknown reason', [text('hi'), stop('eos'), DONE], { text: 'hi' }],
  [
    'an error in place of a chunk',
    [text('hi'), { error: { message: 'the GPU is on fire', code: 500 } }],
    { failed: expect.stringContaining('the GPU is on fire') as unknown as string },
  ],
];

it.each(QUIRKS)('%s', async (_name, sent, read) => {
  expect(await readQuirk(MODEL, sent)).toEqual(read);
});
