import { MockLanguageModelV3, MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startFakeModel, toolResultRounds } from '../../src/testing/index.ts';
import type { ModelPort } from '../../src/protocol/model.ts';
import { createScriptedModel } from '../scripted-model.ts';
import { open } from './support.ts';

describe('a model object of the AI SDK', () => {
  it('of a provider package does the whole work of a tree, with tools and usage', async () => {
    const server = await startFakeModel({
      script: (request) =>
        toolResultRounds(request) === 0 && request.tools.some(({ name }) => name === 'Task')
          ? {
              text: 'I delegate.',
              toolCalls: [
                {
                  name: 'Task',
                  input: { description: 'look', prompt: 'Look.', subagent_type: 'Explore' },
                },
              ],
            }
          : { thinking: 'hm', text: 'done', usage: { input: 7, output: 3 } },
    });
    const { ANTHROPIC_BASE_URL: baseURL = '', ANTHROPIC_API_KEY: apiKey = '' } =
      server.env('anthropic');
    const anthropic = createAnthropic({
      baseURL: `${baseURL}/v1`.replace('/v1/v1', '/v1'),
      apiKey,
    });
    const muster = await open({ model: anthropic('claude-sonnet-4-5') });
    const { output, data } = await muster.run('Go.');
    await server.close();
    expect({
      output,
      model: data.model_used,
      status: data.status,
      children: data.receipt.children.length,
    }).toEqual({
      output: 'done',
      model: 'own/claude-sonnet-4-5',
      status: 'completed',
      children: 1,
    });
    expect(server.requests).toHaveLength(3);
  });

  it.each([
    [
      'version 4',
      new MockLanguageModelV4({
        doStream: async () => ({
          stream: simulateReadableStream({
            chunks: [
              { type: 'stream-start', warnings: [] },
              { type: 'text-start', id: '1' },
              { type: 'text-delta', id: '1', delta: 'fo' },
              { type: 'text-delta', id: '1', delta: 'ur' },
              { type: 'text-end', id: '1' },
              {
                type: 'finish',
                finishReason: { unified: 'stop', raw: 'end' },
                usage: {
                  inputTokens: { total: 10, noCache: 6, cacheRead: 4, cacheWrite: undefined },
                  outputTokens: { total: 5, text: 5, reasoning: undefined },
                },
              },
            ],
          }),
        }),
      }),
    ],
    [
      'version 3',
      new MockLanguageModelV3({
        doStream: async () => ({
          stream: simulateReadableStream({
            chunks: [
              { type: 'text-start', id: '1' },
              { type: 'text-delta', id: '1', delta: 'four' },
              { type: 'text-end', id: '1' },
              {
                type: 'finish',
                finishReason: { unified: 'stop', raw: 'end' },
                usage: {
                  inputTokens: { total: 10, noCache: 6, cacheRead: 4, cacheWrite: undefined },
                  outputTokens: { total: 5, text: 5, reasoning: undefined },
                },
              },
            ],
          }),
        }),
      }),
    ],
  ])('in %s gives its answer and its usage', async (_version, model) => {
    const muster = await open({ model });
    const { output, data } = await muster.run('How many?');
    expect([output, data.usage]).toEqual([
      'four',
      { input: 6, output: 5, cache_read: 4, cache_write: 0 },
    ]);
  });

  it('that fails gives a failed run with the reason, and a transient failure is tried again', async () => {
    let attempts = 0;
    const flaky = new MockLanguageModelV4({
      doStream: async () => {
        attempts += 1;
        if (attempts === 1)
          throw Object.assign(new Error('overloaded'), {
            statusCode: 529,
            responseHeaders: { 'retry-after': '0' },
          });
        throw Object.assign(new Error('no such model'), { statusCode: 404 });
      },
    });
    const muster = await open({ model: flaky });
    const result = await muster.run('Go.');

    expect([result.status, result.error?.code, attempts]).toEqual(['error', 'PROVIDER_ERROR', 2]);
    expect(result.error?.message).toContain('no such model');
  });
});

describe('a ModelPort of the program', () => {
  it.each<[string, ModelPort['stream'], RegExp]>([
    [
      'throws',
      async function* () {
        yield { type: 'accepted' };
        throw new Error('broken pipe');
      },
      /broken pipe/,
    ],
    ['ends without a last part', async function* () {}, /ended without a last part/],
  ])('that %s gives a failed run with the reason', async (_what, stream, message) => {
    const muster = await open({ model: { stream } });
    const result = await muster.run('Go.');
    expect([result.status, result.error?.message]).toEqual([
      'error',
      expect.stringMatching(message),
    ]);
  });

  it('that hangs is ended by the limits on silence', async () => {
    const muster = await open({
      model: {
        async *stream(_request, signal) {
          await new Promise((_, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason)),
          );
          yield { type: 'accepted' };
        },
      },
      config: {
        sandbox: { kind: 'off' },
        liveness: { first_token_seconds: 0.05, silent_retries: 0 },
        provider: { retries: 0 },
      },
    });
    const result = await muster.run('Go.');
    expect(result.error?.message).toMatch(/no first token .*first_token_seconds/);
  });

  it('serves the agents that name it, by its name or as a tier', async () => {
    const named = (name: string) => createScriptedModel(() => ({ text: name }));
    const muster = await open({
      model: named('main'),
      models: { fast: named('fast'), writer: named('writer') },
      agents: {
        quick: { description: 'Quick.', prompt: 'Go.', model: 'fast' },
        author: { description: 'Writes.', prompt: 'Go.', model: 'writer' },
        plain: { description: 'Plain.', prompt: 'Go.' },
      },
    });
    const outputs = [];
    for (const agent of ['quick', 'author', 'plain'])
      outputs.push((await muster.run('Go.', { agent })).output);
    expect(outputs).toEqual(['fast', 'writer', 'main']);
  });
});

describe('an agent as a function', () => {
  it('does the work of a child, whose usage, log and stop are those of any task', async () => {
    const prompts: string[] = [];
    const model = createScriptedModel((_request, index) =>
      index === 0
        ? {
            calls: [
              {
                name: 'Task',
                input: { description: 'ask', prompt: 'What is it?', subagent_type: 'oracle' },
              },
            ],
          }
        : { text: 'asked' },
    );
    const muster = await open({
      model,
      agents: {
        oracle: {
          description: 'Knows.',
          run: async (prompt) => {
            prompts.push(prompt);
            return { text: 'It is 42.', usage: { input: 100, output: 20 } };
          },
        },
      },
    });
    const { data } = await muster.run('Go.');
    const [child] = data.receipt.children;
    const task = muster.listTasks().find(({ id }) => id === child);
    const result = model.requests.at(-1)?.messages.at(-1);
    expect(prompts).toEqual([expect.stringContaining('What is it?')]);
    expect(task).toMatchObject({ agent: 'oracle', status: 'completed', paidTokens: 120, turns: 1 });
    expect(result?.role === 'tool' && result.content[0]?.text).toContain('It is 42.');
  });

  it('ends with its time limit, and when it is stopped', async () => {
    const muster = await open({
      model: createScriptedModel([]),
      agents: {
        slow: {
          description: 'Slow.',
          wallSeconds: 1,
          run: (_prompt, { signal }) =>
            new Promise((_, reject) =>
              signal.addEventListener('abort', () => reject(signal.reason)),
            ),
        },
        deaf: { description: 'Deaf.', run: () => new Promise(() => {}) },
      },
    });
    const slow = await muster.run('Go.', { agent: 'slow' });
    const deaf = muster.run('Go.', { agent: 'deaf' });
    for await (const event of deaf) if (event.type === 'turn.started') void deaf.stop();
    expect([slow.data.status, slow.error?.code, (await deaf).data.status]).toEqual([
      'partial',
      'LIMIT_EXCEEDED',
      'stopped',
    ]);
  });

  it('that throws is a failed task with its message', async () => {
    const muster = await open({
      model: createScriptedModel([]),
      agents: { bad: { description: 'Bad.', run: () => Promise.reject(new Error('no license')) } },
    });
    const result = await muster.run('Go.', { agent: 'bad' });
    expect([result.status, result.error?.message]).toEqual([
      'error',
      expect.stringContaining('no license'),
    ]);
  });
});

it('questions of tasks reach the function of the program, and wrong answers count as no', async () => {
  const script = () =>
    createScriptedModel((_request, index) =>
      index === 0
        ? {
            calls: [
              { name: 'AskUser', input: { question: 'Which?', options: ['red', 'blue'] } },
              { name: 'Bash', input: { command: 'touch made' } },
            ],
          }
        : { text: 'ok' },
    );
  const results = async (answer: (kind: string) => string) => {
    const model = script();
    const muster = await open({ model, onQuestion: ({ kind }) => answer(kind) });
    await muster.run('Go.');
    return model.requests
      .at(-1)
      ?.messages.flatMap((message) => (message.role === 'tool' ? message.content : []))
      .map(({ isError, text }) => [isError, text]);
  };
  expect(await results((kind) => (kind === 'input' ? '2' : 'yes'))).toEqual([
    [false, expect.stringContaining('blue')],
    [false, expect.anything()],
  ]);
  expect(await results(() => 'perhaps')).toEqual([
    [false, expect.stringContaining('perhaps')],
    [true, expect.stringContaining('the program gave no answer')],
  ]);
  expect(z.string().parse('')).toBe('');
});
