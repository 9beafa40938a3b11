import { describe, expect, it } from 'vitest';
import { dialect as anthropicDialect } from '../../../src/model/adapters/anthropic.ts';
import { dialect as googleDialect } from '../../../src/model/adapters/google.ts';
import { dialect as chatDialect } from '../../../src/model/adapters/openai-chat.ts';
import { dialect as responsesDialect } from '../../../src/model/adapters/openai-responses.ts';
import { userMessage } from '../../../src/protocol/message.ts';
import { createAdapter } from '../../../src/model/adapters/adapter.ts';
import { adapterDeps, collect, request, serve } from '../support.ts';
import { readQuirk, type Read } from './read.ts';

// Servers that send errors, ends and parts of answers in forms that lose or repeat something if they are
// taken literally. The forms are those of public reports.

const CHAT = { dialect: chatDialect, model: 'qwen3-coder' };
const ANTHROPIC = { dialect: anthropicDialect, model: 'claude-sonnet-5' };
const RESPONSES = { dialect: responsesDialect, model: 'gpt-5' };
const GOOGLE = { dialect: googleDialect, model: 'gemini-3-pro' };

function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function delta(fields: object, more: object = {}) {
  return { choices: [{ index: 0, delta: fields, finish_reason: null, ...more }] };
}

function message(fields: object, more: object = {}) {
  return { choices: [{ index: 0, message: fields, finish_reason: null, ...more }] };
}

function finish(reason: string) {
  const usage = { prompt_tokens: 9, completion_tokens: 3 };
  return { ...delta({}, { finish_reason: reason }), usage };
}

/** A piece of a call over Chat. */
function piece(name: string | undefined, args: unknown, more: object = {}) {
  return { ...more, function: { ...(name === undefined ? {} : { name }), arguments: args } };
}

function calls(...pieces: readonly object[]) {
  return delta({ tool_calls: pieces });
}

const SAID = delta({ content: 'half' });

describe('an error inside a Chat stream ends the answer', () => {
  it.each([
    'error: {"code":500,"message":"slot failed"}\n\n',
    'event: error\ndata: {"message":"CUDA out of memory","code":500}\n\n',
    'data: {"code":500,"message":"Internal error"}\n\n',
    'data: {"code":"InternalError","message":"try later"}\n\n',
    'data: {"detail":"the worker is gone"}\n\n',
    'data: {"base_resp":{"status_code":1002,"status_msg":"rate limit"}}\n\n',
  ])('%j', async (tail) => {
    const { failed } = await readQuirk(CHAT, { body: data(SAID) + tail + data(finish('stop')) });
    expect(failed).toMatch(/slot failed|out of memory|Internal error|later|is gone|rate limit/);
  });

  it.each([
    { code: 0, message: 'ok' },
    { message: 'warming up' },
    { base_resp: { status_code: 0 } },
  ])('%j is none', async (event) => {
    expect(await readQuirk(CHAT, [event, SAID, finish('stop')])).toMatchObject({ text: 'half' });
  });
});

describe('a finish reason', () => {
  it.each<[reason: string, read: Read]>([
    ['model_length', { reason: 'length' }],
    ['SAFETY', { reason: 'content_filter' }],
    ['insufficient_system_resource', { failed: expect.stringMatching(/ended with insuff/) }],
    [
      'function_call_filter: MALFORMED_FUNCTION_CALL',
      { failed: expect.stringMatching(/MALFORMED/) },
    ],
    ['abort', { failed: expect.stringMatching(/ended with abort/) }],
    ['timeout', { failed: expect.stringMatching(/ended with timeout/) }],
    ['brand_new', { reason: 'other' }],
  ])('%s over Chat', async (reason, read) => {
    expect(await readQuirk(CHAT, [SAID, finish(reason)])).toMatchObject(read);
  });

  it('TOO_MANY_TOOL_CALLS over Google is no normal end', async () => {
    const candidate = {
      content: { parts: [{ text: 'half' }] },
      finishReason: 'TOO_MANY_TOOL_CALLS',
    };
    const { failed } = await readQuirk(GOOGLE, [{ candidates: [candidate] }]);
    expect(failed).toMatch(/TOO_MANY_TOOL_CALLS/);
  });

  it('model_context_window_exceeded over Responses means that the conversation is too long', async () => {
    await using server = await serve((response) => {
      const ended = { incomplete_details: { reason: 'model_context_window_exceeded' }, output: [] };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(data({ type: 'response.incomplete', response: ended }));
    });
    const endpoint = { name: 'test', baseUrl: server.url, apiKey: 'key' };
    const port = createAdapter(responsesDialect, endpoint, adapterDeps());
    const last = (await collect(port, request([userMessage('Hi')]))).at(-1);
    expect(last).toMatchObject({ failure: { kind: 'context_overflow' } });
  });

  it('with each piece does not end a slow answer', async () => {
    await using server = await serve(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let n = 0; n < 5; n += 1) {
        const candidate = { content: { parts: [{ text: `w${n} ` }] }, finishReason: 'STOP' };
        response.write(data({ candidates: [candidate] }));
        await new Promise((resolve) => setTimeout(resolve, 700));
      }
      response.end();
    });
    const endpoint = { name: 'test', baseUrl: server.url, apiKey: 'key' };
    const port = createAdapter(googleDialect, endpoint, adapterDeps());
    const last = (await collect(port, request([userMessage('Hi')]))).at(-1);
    expect(last).toMatchObject({
      message: { content: [{ text: 'w0 w1 w2 w3 w4 ' }] },
      repairs: { content_after_end: 1 },
    });
  });
});

describe('the calls of a Chat answer', () => {
  const READ = ['Read', { p: 1 }];
  it.each<[name: string, events: readonly unknown[], read: readonly unknown[]]>([
    [
      'repeated by a final message with other blanks',
      [
        calls(piece('Read', '{"p": 1}', { index: 0, id: 'c' })),
        message({ tool_calls: [piece('Read', '{"p":1}', { id: 'c' })] }),
      ],
      [READ],
    ],
    [
      'repeated by a final message as an object',
      [
        calls(piece('Read', '{"p": 1}', { index: 0, id: 'c' })),
        message({ tool_calls: [piece('Read', { p: 1 }, { id: 'c' })] }),
      ],
      [READ],
    ],
    [
      'sent in pieces and then as a whole',
      [
        calls(piece('Read', '{"p":', { index: 0, id: 'c' })),
        calls(piece(undefined, ' 1}', { index: 0 })),
        calls(piece('Read', '{"p":1}', { index: 0, id: 'c' })),
      ],
      [READ],
    ],
    [
      'without ids, one index, names before arguments',
      [
        calls(piece('Read', '', { index: 0 })),
        calls(piece('', '{"p":1}', { index: 0 })),
        calls(piece('Read', '', { index: 0 })),
        calls(piece('', '{"p":2}', { index: 0 })),
      ],
      [READ, ['Read', { p: 2 }]],
    ],
    [
      'whose name is repeated behind its arguments',
      [calls(piece('Read', '{"p":1}', { index: 0 })), calls(piece('Read', '', { index: 0 }))],
      [READ],
    ],
    [
      'whose name comes in pieces',
      [
        calls(piece('Re', '', { index: 0, id: 'c' })),
        calls(piece('ad', '', { index: 0 })),
        calls(piece(undefined, '{"p":1}', { index: 0 })),
      ],
      [READ],
    ],
    [
      'with a new id in each piece',
      [
        calls(piece('Read', '{"p"', { index: 0, id: 'a' })),
        calls(piece('Read', ':1}', { index: 0, id: 'b' })),
      ],
      [READ],
    ],
    [
      'the same twice in one list',
      [calls(piece('Read', '{"p":1}'), piece('Read', '{"p":1}'))],
      [READ, READ],
    ],
    [
      'in a choice of their own',
      [
        {
          choices: [
            { message: { content: 'I read.' } },
            { message: { tool_calls: [piece('Read', '{"p":1}', { id: 'c' })] } },
          ],
        },
      ],
      [READ],
    ],
  ])('%s', async (_, events, read) => {
    expect((await readQuirk(CHAT, [...events, finish('tool_calls')])).calls).toEqual(read);
  });
});

describe('messages in place of deltas', () => {
  it.each<[events: readonly unknown[], read: Read]>([
    [[message({ content: 'Hel' }), message({ content: 'lo' })], { text: 'Hello' }],
    [[message({ content: 'Hel' }), message({ content: 'Hello' })], { text: 'Hello' }],
    [[delta({ content: 'Hello ' }), message({ content: 'Hello' })], { text: 'Hello ' }],
    [
      [
        message({ reasoning_content: 'th' }),
        message({ reasoning_content: 'think' }),
        message({ reasoning_content: 'think', content: 'hi' }),
      ],
      { text: 'hi', thinking: 'think' },
    ],
  ])('%#', async (events, read) => {
    expect(await readQuirk(CHAT, [...events, finish('stop')])).toMatchObject(read);
  });
});

describe('the blocks of an Anthropic answer', () => {
  const BEGUN = {
    type: 'message_start',
    message: { usage: { input_tokens: 9, output_tokens: 1 } },
  };
  const TEXT = { type: 'text_delta', text: 'hi' };
  const start = (content_block: unknown) => ({
    type: 'content_block_start',
    index: 0,
    content_block,
  });
  const grow = (part: unknown) => ({ type: 'content_block_delta', index: 0, delta: part });
  const STOP = { type: 'content_block_stop', index: 0 };
  const end = (stop_reason: string) => [
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 3 } },
    { type: 'message_stop' },
  ];

  it.each([null, {}, { text: '' }])('with the start %j', async (begun) => {
    const events = [BEGUN, start(begun), grow(TEXT), STOP, ...end('end_turn')];
    expect(await readQuirk(ANTHROPIC, events)).toMatchObject({ text: 'hi' });
  });

  it('without a type', async () => {
    const call = { id: 't', name: 'Read', input: { p: 1 } };
    const events = [BEGUN, start(call), STOP, ...end('tool_use')];
    expect((await readQuirk(ANTHROPIC, events)).calls).toEqual([['Read', { p: 1 }]]);
  });

  it('under one index that was not closed', async () => {
    const call = start({ type: 'tool_use', id: 't', name: 'Read', input: {} });
    const args = grow({ type: 'input_json_delta', partial_json: '{"p":1}' });
    const events = [
      BEGUN,
      start({ type: 'text', text: '' }),
      grow(TEXT),
      call,
      args,
      ...end('tool_use'),
    ];
    expect(await readQuirk(ANTHROPIC, events)).toMatchObject({
      text: 'hi',
      calls: [['Read', { p: 1 }]],
    });
  });

  it('with text under the index of a thought', async () => {
    const thought = start({ type: 'thinking', thinking: 'plan' });
    const events = [BEGUN, thought, grow(TEXT), STOP, ...end('end_turn')];
    expect(await readQuirk(ANTHROPIC, events)).toMatchObject({ text: 'hi', thinking: 'plan' });
  });

  it('with a reason in capitals', async () => {
    const events = [BEGUN, start({ type: 'text', text: 'hi' }), STOP, ...end('MAX_TOKENS')];
    expect(await readQuirk(ANTHROPIC, events)).toMatchObject({ text: 'hi', reason: 'length' });
  });

  it('all closed, and an end without a reason', async () => {
    const read = await readQuirk(ANTHROPIC, [
      BEGUN,
      start({ type: 'text', text: '' }),
      grow(TEXT),
      STOP,
      { type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 3 } },
    ]);
    expect(read).toMatchObject({ text: 'hi', repairs: { missing_finish_reason: 1 } });
  });

  it('all closed, and no end event', async () => {
    const events = [BEGUN, start({ type: 'text', text: '' }), grow(TEXT), STOP];
    expect((await readQuirk(ANTHROPIC, events)).failed).toMatch(/broke off/);
  });
});

describe('the items of a Responses answer', () => {
  const USAGE = { input_tokens: 9, output_tokens: 3 };
  const CALL = { type: 'function_call', id: 'f', call_id: 'c', name: 'Read', arguments: '{"p":1}' };
  const added = (item: object) => ({ type: 'response.output_item.added', output_index: 0, item });
  const done = (item: object) => ({ type: 'response.output_item.done', output_index: 0, item });
  const complete = (...output: readonly object[]) => ({
    type: 'response.completed',
    response: { output, usage: USAGE },
  });
  const THOUGHT = { type: 'reasoning', id: 'r', summary: [] };

  it.each<[name: string, events: readonly unknown[], read: Read]>([
    [
      'at another place of the final response',
      [added({ ...CALL, arguments: '' }), done(CALL), complete(THOUGHT, CALL)],
      { calls: [['Read', { p: 1 }]] },
    ],
    [
      'under another id in the final response',
      [
        done({ type: 'message', id: 'a', content: [{ type: 'output_text', text: 'hi' }] }),
        complete({ type: 'message', id: 'b', content: [{ type: 'output_text', text: 'hi' }] }),
      ],
      { text: 'hi' },
    ],
    [
      'whose text comes with its end alone',
      [
        { type: 'response.output_text.done', output_index: 0, item_id: 'm', text: 'hi' },
        complete(),
      ],
      { text: 'hi' },
    ],
    [
      'whose arguments come with their end alone',
      [
        added({ ...CALL, arguments: '' }),
        { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"p":1}' },
        complete(),
      ],
      { calls: [['Read', { p: 1 }]] },
    ],
    ['without a type', [complete({ ...CALL, type: undefined })], { calls: [['Read', { p: 1 }]] }],
  ])('%s', async (_, events, read) => {
    expect(await readQuirk(RESPONSES, events)).toMatchObject(read);
  });

  it('all ended, and no end event', async () => {
    expect((await readQuirk(RESPONSES, [done(CALL)])).failed).toMatch(/broke/);
  });

  it('as nothing but their text', async () => {
    const body = JSON.stringify({ output_text: 'hi', usage: USAGE });
    const sent = { body, contentType: 'application/json' };
    expect(await readQuirk(RESPONSES, sent)).toMatchObject({ text: 'hi' });
  });
});
