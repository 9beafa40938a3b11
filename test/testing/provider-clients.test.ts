import { createOpenAI } from '@ai-sdk/openai';
import { describe, expect, it } from 'vitest';
import { WIRE_PROTOCOLS, type Answer } from '../../src/testing/index.ts';
import { clientOf, fakeModel, listen, TOOL, userPrompt } from './support.ts';

const USAGE = { input: 100, output: 50, cacheRead: 20, cacheWrite: 0, reasoning: 10 };
const FULL: Answer = {
  thinking: 'Let me think about ö and 🙂.',
  text: 'Here is the answer with ä and 🦊.',
  toolCalls: [
    { name: 'Read', input: { path: 'a "quoted" name.ts' } },
    { name: 'Read', input: { path: 'b.ts' } },
  ],
  usage: USAGE,
  chunks: 5,
};

describe.each(WIRE_PROTOCOLS)('%s, read by the installed provider package', (protocol) => {
  it('streams thinking, text, parallel calls and usage', async () => {
    const fake = await fakeModel({ script: () => FULL });
    const heard = await listen(clientOf(protocol, fake), { tools: [TOOL] });
    expect(heard).toMatchObject({
      text: FULL.text,
      reasoning: FULL.thinking,
      calls: [
        {
          name: 'Read',
          input: String.raw`{"path":"a \"quoted\" name.ts"}`,
        },
        { name: 'Read', input: '{"path":"b.ts"}' },
      ],
      finish: {
        finishReason: { unified: 'tool-calls' },
        usage: {
          inputTokens: { total: 120, noCache: 100, cacheRead: 20 },
          outputTokens: { total: 50, reasoning: 10 },
        },
      },
      errors: [],
    });
    expect(new Set(heard.calls.map((call) => call.id)).size).toBe(2);
    expect(fake.requests[0]?.outcome).toMatchObject({ status: 200, usage: USAGE });
  });

  it('gives the same without streaming', async () => {
    const fake = await fakeModel({ script: () => FULL });
    const result = await clientOf(protocol, fake).doGenerate({
      prompt: userPrompt('hello'),
      tools: [TOOL],
    });
    const types = result.content.map((part) => part.type);
    expect(types).toEqual(['reasoning', 'text', 'tool-call', 'tool-call']);
    expect(result.finishReason.unified).toBe('tool-calls');
    expect(result.usage.inputTokens.total).toBe(120);
    expect(result.usage.outputTokens.total).toBe(50);
    expect(fake.requests[0]?.stream).toBe(false);
  });

  it('ends a plain answer with stop, a limited one with length', async () => {
    const fake = await fakeModel({
      script: [
        { when: { nth: 1 }, answer: { text: 'all' } },
        { answer: { text: 'par', stop: 'length' } },
      ],
    });
    const model = clientOf(protocol, fake);
    expect((await listen(model)).finish?.finishReason.unified).toBe('stop');
    expect((await listen(model)).finish?.finishReason.unified).toBe('length');
  });

  it('works out usage from sizes when the script says nothing', async () => {
    const fake = await fakeModel({ script: () => ({ text: 'x'.repeat(400) }) });
    const heard = await listen(clientOf(protocol, fake));
    const bytes = Buffer.byteLength(fake.requests[0]?.rawBody ?? '');
    expect(heard.finish?.usage).toMatchObject({
      inputTokens: { total: Math.ceil(bytes / 4) },
      outputTokens: { total: 100 },
    });
  });

  it('reads a conversation with results back as it was meant', async () => {
    const fake = await fakeModel();
    await listen(clientOf(protocol, fake), {
      tools: [TOOL],
      maxOutputTokens: 777,
      prompt: [
        { role: 'system', content: 'part one' },
        { role: 'user', content: [{ type: 'text', text: 'the prompt' }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'looking' },
            { type: 'tool-call', toolCallId: 'c1', toolName: 'Read', input: { path: 'a' } },
            { type: 'tool-call', toolCallId: 'c2', toolName: 'Read', input: { path: 'b' } },
          ],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'c1',
              toolName: 'Read',
              output: { type: 'text', value: 'content of a' },
            },
            {
              type: 'tool-result',
              toolCallId: 'c2',
              toolName: 'Read',
              output: { type: 'text', value: 'content of b' },
            },
          ],
        },
        { role: 'user', content: [{ type: 'text', text: 'go on' }] },
      ],
    });
    const [request] = fake.requests;
    expect({
      system: request?.systemParts,
      tools: request?.tools.map((tool) => [tool.name, tool.description, tool.schema['type']]),
      messages: request?.messages,
      limit: request?.maxOutputTokens,
      stream: request?.stream,
    }).toEqual({
      system: ['part one'],
      tools: [['Read', 'Reads a file', 'object']],
      limit: 777,
      stream: true,
      messages: [
        { role: 'user', text: 'the prompt', toolCalls: [], toolResults: [] },
        {
          role: 'assistant',
          text: 'looking',
          toolCalls: [
            { id: 'c1', name: 'Read', input: { path: 'a' } },
            { id: 'c2', name: 'Read', input: { path: 'b' } },
          ],
          toolResults: [],
        },
        {
          role: 'tool',
          text: '',
          toolCalls: [],
          toolResults: [
            { callId: 'c1', text: 'content of a', isError: false },
            { callId: 'c2', text: 'content of b', isError: false },
          ],
        },
        { role: 'user', text: 'go on', toolCalls: [], toolResults: [] },
      ],
    });
  });
});

it('serves the official chat client, without reasoning, which that client does not read', async () => {
  const fake = await fakeModel({ script: () => FULL });
  const model = createOpenAI({ apiKey: 'test', baseURL: fake.baseUrls.openai }).chat('gpt-4.1');
  const heard = await listen(model, { tools: [TOOL] });
  expect(heard).toMatchObject({
    text: FULL.text,
    finish: { finishReason: { unified: 'tool-calls' }, usage: { outputTokens: { total: 50 } } },
    errors: [],
  });
  expect(heard.calls).toHaveLength(2);
});
