import { expect, test } from 'vitest';
import { createAdapter } from '../../../../src/model/adapters/adapter.ts';
import { isJsonObject } from '../../../../src/base/json.ts';
import { userMessage, type Message } from '../../../../src/protocol/message.ts';
import type { ModelRequest } from '../../../../src/protocol/model.ts';
import { PromptCache } from '../../../../src/testing/prompt-cache.ts';
import { CODECS } from '../../../../src/testing/wire/codecs.ts';
import { adapterDeps, collect, READ_SCHEMA, refuseWith, request, serve } from '../support.ts';
import { WIRES } from '../wires.ts';

const GLOB_SCHEMA = { type: 'object', properties: {} };

/** Everything that can stand in a history, some of it another provider's. */
const HISTORY: readonly Message[] = [
  userMessage('Where?'),
  {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'own', meta: { anthropic: { signature: 'sig' } } },
      { type: 'reasoning', text: '', meta: { anthropic: { redactedData: 'redacted' } } },
      {
        type: 'reasoning',
        text: 'other',
        meta: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'enc' } },
      },
      { type: 'reasoning', text: 'plain' },
      { type: 'text', text: '' },
      { type: 'text', text: 'Looking.' },
      { type: 'tool_call', id: 'functions.Read:0', name: 'Read', input: { path: 'a' } },
      { type: 'tool_call', id: 'c2', name: 'Read', input: '{"pa', malformed: '{"pa' },
      { type: 'tool_call', id: 'c3', name: 'Glob', input: ['x'] },
    ],
  },
  {
    role: 'tool',
    content: [
      { type: 'tool_result', callId: 'functions.Read:0', name: 'Read', text: 'A', isError: false },
      { type: 'tool_result', callId: 'c2', name: 'Read', text: 'no JSON', isError: true },
    ],
  },
  {
    role: 'tool',
    content: [{ type: 'tool_result', callId: 'c3', name: 'Glob', text: '', isError: false }],
  },
  userMessage('A notice.'),
  userMessage('Go on.'),
];

async function bodyOf(name: string, overrides: Partial<ModelRequest>): Promise<unknown> {
  const wire = WIRES.find((one) => one.name === name)!;
  await using server = await serve(refuseWith(400, { error: { message: 'enough' } }));
  const endpoint = { name: 'test', baseUrl: server.url, apiKey: 'k' };
  const model = { provider: 'test', id: wire.model, chain: [] };
  const asked = request(HISTORY, { model, ...overrides });
  await collect(createAdapter(wire.dialect, endpoint, adapterDeps()), asked);
  return JSON.parse(server.requests[0]!.body);
}

const MARK = { cache_control: { type: 'ephemeral' } };

test('anthropic: writes a request', async () => {
  expect(await bodyOf('anthropic', { maxOutputTokens: 2000, toolChoice: 'none' })).toEqual({
    model: 'claude-sonnet-5',
    max_tokens: 2000,
    stream: true,
    system: [
      { type: 'text', text: 'You are Muster.', ...MARK },
      { type: 'text', text: 'Task: look around' },
    ],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Where?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'own', signature: 'sig' },
          { type: 'redacted_thinking', data: 'redacted' },
          { type: 'text', text: 'Looking.' },
          { type: 'tool_use', id: 'functions_Read_0', name: 'Read', input: { path: 'a' } },
          { type: 'tool_use', id: 'c2', name: 'Read', input: { invalid_json: '{"pa' } },
          { type: 'tool_use', id: 'c3', name: 'Glob', input: { not_an_object: ['x'] } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'functions_Read_0', content: 'A' },
          { type: 'tool_result', tool_use_id: 'c2', content: 'no JSON', is_error: true },
          { type: 'tool_result', tool_use_id: 'c3', content: '' },
          { type: 'text', text: 'A notice.' },
          { type: 'text', text: 'Go on.', ...MARK },
        ],
      },
    ],
    tools: [
      { name: 'Read', description: 'Reads.', input_schema: READ_SCHEMA },
      { name: 'Glob', description: 'Finds.', input_schema: GLOB_SCHEMA, ...MARK },
    ],
    tool_choice: { type: 'none' },
  });
});

test('anthropic: sends the effort and the output limits of its own and of other models', async () => {
  expect(await bodyOf('anthropic', { effort: 'low' })).toMatchObject({
    max_tokens: 128_000,
    thinking: { type: 'adaptive' },
    output_config: { effort: 'low' },
    tool_choice: { type: 'auto' },
  });
  const model = { provider: 'test', id: 'kimi-k3', chain: [] };
  expect(await bodyOf('anthropic', { model })).toMatchObject({ max_tokens: 32_000 });
});

test('openai-responses: writes a request', async () => {
  const overrides = { maxOutputTokens: 2000, toolChoice: 'none', cacheKey: 'tree-1' } as const;
  expect(await bodyOf('openai-responses', { ...overrides, effort: 'high' })).toEqual({
    model: 'gpt-6-sol',
    stream: true,
    store: false,
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'high' },
    prompt_cache_key: 'tree-1',
    max_output_tokens: 2000,
    input: [
      { role: 'developer', content: 'You are Muster.' },
      { role: 'developer', content: 'Task: look around' },
      { role: 'user', content: [{ type: 'input_text', text: 'Where?' }] },
      {
        type: 'reasoning',
        id: 'rs_1',
        encrypted_content: 'enc',
        summary: [{ type: 'summary_text', text: 'other' }],
      },
      { role: 'assistant', content: 'Looking.' },
      {
        type: 'function_call',
        call_id: 'functions.Read:0',
        name: 'Read',
        arguments: '{"path":"a"}',
      },
      {
        type: 'function_call',
        call_id: 'c2',
        name: 'Read',
        arguments: '{"invalid_json":"{\\"pa"}',
      },
      { type: 'function_call', call_id: 'c3', name: 'Glob', arguments: '{"not_an_object":["x"]}' },
      { type: 'function_call_output', call_id: 'functions.Read:0', output: 'A' },
      { type: 'function_call_output', call_id: 'c2', output: '{"error":"no JSON"}' },
      { type: 'function_call_output', call_id: 'c3', output: '' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'A notice.' },
          { type: 'input_text', text: 'Go on.' },
        ],
      },
    ],
    tools: [
      {
        type: 'function',
        name: 'Read',
        description: 'Reads.',
        parameters: READ_SCHEMA,
        strict: false,
      },
      {
        type: 'function',
        name: 'Glob',
        description: 'Finds.',
        parameters: GLOB_SCHEMA,
        strict: false,
      },
    ],
    tool_choice: 'none',
  });
});

test('openai-chat: writes a request', async () => {
  expect(await bodyOf('openai-chat', { maxOutputTokens: 2000, toolChoice: 'none' })).toEqual({
    model: 'qwen3:8b',
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 2000,
    messages: [
      { role: 'system', content: 'You are Muster.\n\nTask: look around' },
      { role: 'user', content: 'Where?' },
      {
        role: 'assistant',
        content: 'Looking.',
        reasoning_content: 'plain',
        tool_calls: [
          {
            id: 'functions.Read:0',
            type: 'function',
            function: { name: 'Read', arguments: '{"path":"a"}' },
          },
          {
            id: 'c2',
            type: 'function',
            function: { name: 'Read', arguments: '{"invalid_json":"{\\"pa"}' },
          },
          {
            id: 'c3',
            type: 'function',
            function: { name: 'Glob', arguments: '{"not_an_object":["x"]}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'functions.Read:0', content: 'A' },
      { role: 'tool', tool_call_id: 'c2', content: 'no JSON' },
      { role: 'tool', tool_call_id: 'c3', content: '' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'A notice.' },
          { type: 'text', text: 'Go on.' },
        ],
      },
    ],
    tools: [
      {
        type: 'function',
        function: { name: 'Read', description: 'Reads.', parameters: READ_SCHEMA },
      },
      {
        type: 'function',
        function: { name: 'Glob', description: 'Finds.', parameters: GLOB_SCHEMA },
      },
    ],
    tool_choice: 'none',
  });
});

test('google: writes a request', async () => {
  expect(await bodyOf('google', { maxOutputTokens: 2000, toolChoice: 'none' })).toEqual({
    generationConfig: { maxOutputTokens: 2000 },
    systemInstruction: { parts: [{ text: 'You are Muster.' }, { text: 'Task: look around' }] },
    contents: [
      { role: 'user', parts: [{ text: 'Where?' }] },
      {
        role: 'model',
        parts: [
          { text: 'Looking.' },
          {
            functionCall: { id: 'functions.Read:0', name: 'Read', args: { path: 'a' } },
            thoughtSignature: 'skip_thought_signature_validator',
          },
          {
            functionCall: { id: 'c2', name: 'Read', args: { invalid_json: '{"pa' } },
            thoughtSignature: 'skip_thought_signature_validator',
          },
          {
            functionCall: { id: 'c3', name: 'Glob', args: { not_an_object: ['x'] } },
            thoughtSignature: 'skip_thought_signature_validator',
          },
        ],
      },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: 'functions.Read:0',
              name: 'Read',
              response: { name: 'Read', content: 'A' },
            },
          },
          {
            functionResponse: {
              id: 'c2',
              name: 'Read',
              response: { name: 'Read', error: 'no JSON' },
            },
          },
          { functionResponse: { id: 'c3', name: 'Glob', response: { name: 'Glob', content: '' } } },
        ],
      },
      { role: 'user', parts: [{ text: 'A notice.' }, { text: 'Go on.' }] },
    ],
    tools: [
      {
        functionDeclarations: [
          { name: 'Read', description: 'Reads.', parametersJsonSchema: READ_SCHEMA },
          { name: 'Glob', description: 'Finds.', parametersJsonSchema: GLOB_SCHEMA },
        ],
      },
    ],
    toolConfig: { functionCallingConfig: { mode: 'NONE' } },
  });
});

test.each(WIRES)(
  '$name: without tools, neither tools nor a tool choice is sent',
  async ({ name }) => {
    const body = await bodyOf(name, { prefix: { system: [], tools: [] } });
    expect(Object.keys(body as object)).not.toContain('tools');
    expect(Object.keys(body as object)).not.toContain('tool_choice');
    expect(Object.keys(body as object)).not.toContain('toolConfig');
    expect(Object.keys(body as object)).not.toContain('system');
  },
);

test.each(WIRES)('$name: siblings share every byte up to the last system line', async (wire) => {
  await using server = await serve(refuseWith(400, { error: { message: 'enough' } }));
  const endpoint = { name: 'test', baseUrl: server.url, apiKey: 'k' };
  const port = createAdapter(wire.dialect, endpoint, adapterDeps());
  for (const task of ['alpha', 'beta']) {
    const asked = request([userMessage(task)], {
      model: { provider: 'test', id: wire.model, chain: [] },
    });
    const system = ['You are Muster.', `Task: ${task}`];
    await collect(port, { ...asked, prefix: { ...asked.prefix, system } });
  }
  const [one, two] = server.requests.map(({ body }) => body.replaceAll(/alpha|beta/g, 'X'));
  expect(one).toBe(two);
});

test("openai-chat: the signature of an own call is sent back once, in Google's field", async () => {
  const meta = { openaiCompatible: { thoughtSignature: 'sig' } };
  const messages: readonly Message[] = [
    userMessage('Where?'),
    {
      role: 'assistant',
      model: `test/${WIRES.find(({ name }) => name === 'openai-chat')?.model}`,
      content: [{ type: 'tool_call', id: 'c1', name: 'Glob', input: {}, meta }],
    },
    {
      role: 'tool',
      content: [{ type: 'tool_result', callId: 'c1', name: 'Glob', text: 'x', isError: false }],
    },
  ];
  expect(await bodyOf('openai-chat', { messages })).toMatchObject({
    messages: [
      {},
      {},
      {
        tool_calls: [
          {
            id: 'c1',
            type: 'function',
            function: { name: 'Glob', arguments: '{}' },
            extra_content: { google: { thought_signature: 'sig' } },
          },
        ],
      },
      {},
    ],
  });
  expect(JSON.stringify(await bodyOf('openai-chat', { messages }))).not.toContain(
    'thoughtSignature',
  );
});

const OWN_META = {
  anthropic: { anthropic: { signature: 'sig' } },
  'openai-responses': { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'enc' } },
  'openai-chat': undefined,
  google: { google: { thoughtSignature: 'sig' } },
} as const;

test.each(Object.entries(OWN_META))(
  '%s: the thinking of another model of the same protocol stays with that model',
  async (name, meta) => {
    const wire = WIRES.find((one) => one.name === name)!;
    const asWrittenBy = (model: string): readonly Message[] => [
      userMessage('Where?'),
      {
        role: 'assistant',
        model,
        content: [
          { type: 'reasoning', text: 'my thought', ...(meta === undefined ? {} : { meta }) },
          { type: 'tool_call', id: 'c1', name: 'Glob', input: {} },
        ],
      },
      {
        role: 'tool',
        content: [{ type: 'tool_result', callId: 'c1', name: 'Glob', text: 'x', isError: false }],
      },
    ];
    const sent = async (messages: readonly Message[]) =>
      JSON.stringify(await bodyOf(name, { messages }));
    const own = await sent(asWrittenBy(`test/${wire.model}`));
    const others = await sent(asWrittenBy('test/another'));
    const thoughts = /my thought|"sig"|rs_1/;
    expect(own).toMatch(thoughts);
    expect(others).not.toMatch(thoughts);
    // What it did is told all the same.
    expect(others).toContain('Glob');
  },
);

test('openai-responses: a reasoning item is sent once even if the history repeats it', async () => {
  const answer = (model: string): Message => ({
    role: 'assistant',
    model,
    content: [
      { type: 'reasoning', text: 'hm', meta: OWN_META['openai-responses'] },
      { type: 'text', text: 'Said.' },
    ],
  });
  const own = `test/${WIRES.find(({ name }) => name === 'openai-responses')?.model}`;
  const body = await bodyOf('openai-responses', {
    messages: [
      userMessage('a'),
      answer('test/another'),
      answer(own),
      userMessage('b'),
      answer(own),
    ],
  });
  expect(JSON.stringify(body).match(/"rs_1"/g)).toHaveLength(1);
  expect(JSON.stringify(body).match(/Said\./g)).toHaveLength(3);
});

test('openai-responses: a cache key that is too long is replaced by a shorter one', async () => {
  const keyOf = async (cacheKey: string) => {
    const body = await bodyOf('openai-responses', { cacheKey });
    return isJsonObject(body) ? body['prompt_cache_key'] : null;
  };
  const most = 'k'.repeat(64);
  expect(await keyOf(most)).toBe(most);
  const [one, other] = [await keyOf(`${most}a`), await keyOf(`${most}b`)];
  expect(one).toMatch(/^[0-9a-f]{64}$/);
  expect(await keyOf(`${most}a`)).toBe(one);
  expect(other).not.toBe(one);
});

/** An answer with so many calls, and their results. */
function round(name: string, calls: number): readonly Message[] {
  const ids = Array.from({ length: calls }, (_, n) => `${name}${n}`);
  return [
    {
      role: 'assistant',
      content: ids.map((id) => ({ type: 'tool_call', id, name: 'Read', input: {} })),
    },
    {
      role: 'tool',
      content: ids.map((callId) => {
        return { type: 'tool_result', callId, name: 'Read', text: 'A', isError: false };
      }),
    },
  ];
}

test.each([1, 9, 10, 30])(
  'anthropic: after an answer of %i calls a cache mark is close enough to the end of the request before it',
  async (calls) => {
    const earlier = [userMessage('Where?'), ...round('a', 3)];
    const cache = new PromptCache({ minTokens: 1 });
    const ask = async (messages: readonly Message[]) => {
      const body = await bodyOf('anthropic', { messages });
      if (!isJsonObject(body)) throw new Error('no body');
      const blocks = CODECS.anthropic.listBlocks(body);
      expect(blocks.filter(({ breakpoint }) => breakpoint)).toHaveLength(3);
      const { usage, commit } = cache.lookup('', blocks, 'breakpoints');
      commit();
      return usage;
    };
    const { cacheWrite } = await ask(earlier);
    expect((await ask([...earlier, ...round('b', calls)])).cacheRead).toBe(cacheWrite);
  },
);
