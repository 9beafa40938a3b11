import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  defineTool,
  type ModelPort,
  type MusterOptions,
  type StandardSchema,
  type ToolDefinition,
} from '../../src/library.ts';
import { createScriptedModel } from '../scripted-model.ts';
import { open } from './support.ts';

const answer = () => createScriptedModel(() => ({ text: 'x' }));

/** Messages of which the first ones arrive, and the next one never. */
async function* stalled(...texts: readonly string[]) {
  yield* texts;
  await new Promise(() => {});
}

describe('messages that do not come', () => {
  it('do not hold up a stop before the first one', async () => {
    const muster = await open({ model: answer() });
    const run = muster.run(stalled());
    await run.stop();
    await expect(run).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('do not hold up an abort or a close', async () => {
    const muster = await open({ model: answer() });
    const controller = new AbortController();
    const aborted = muster.run(stalled(), { signal: controller.signal });
    const idle = muster.run(stalled('one'));
    for await (const event of idle) if (event.type === 'task.ended') break;
    setTimeout(() => controller.abort(), 10);
    await expect(aborted).rejects.toMatchObject({ code: 'CANCELLED' });
    await muster.close();
    expect((await idle).status).toBe('success');
  });

  it('stop their run if they throw', async () => {
    const muster = await open({
      model: createScriptedModel(() => ({ text: 'x', delayMs: 60_000 })),
    });
    async function* broken() {
      yield 'one';
      throw new Error('the input broke');
    }
    const run = muster.run(broken());
    await expect(run).rejects.toThrow('the input broke');
    await muster.stop(run.id);
    expect(muster.listTasks().map(({ status }) => status)).toEqual(['stopped']);
  });
});

it.each<[string, object, RegExp]>([
  [
    'whose access throws',
    {
      access: {
        reads: () => {
          throw new Error('boom');
        },
      },
    },
    /the access of own failed: boom/,
  ],
  ['whose access is no text', { access: { reads: () => 5 } }, /must return a text or a list/],
  ['that returns nothing', { access: 'none', run: () => undefined }, /run must return a text/],
  ['that returns an object without text', { access: 'none', run: () => ({ a: 1 }) }, /must return/],
])('a tool %s is a failed call, and the task goes on', async (_what, fields, message) => {
  const base = { name: 'own', description: 'Own.', input: { type: 'object' }, run: () => 'x' };
  const tool = defineTool({ ...base, ...fields } as ToolDefinition);
  const model = createScriptedModel((_request, index) =>
    index === 0 ? { calls: [{ name: 'own', input: {} }] } : { text: 'ok' },
  );
  const muster = await open({ model, tools: [tool] });
  const { output } = await muster.run('Go.');
  const last = model.requests.at(-1)?.messages.at(-1);
  const result = last?.role === 'tool' ? last.content[0] : undefined;
  expect([output, result?.isError, result?.text]).toEqual([
    'ok',
    true,
    expect.stringMatching(message),
  ]);
});

it.each<[string, Partial<MusterOptions>, RegExp]>([
  [
    'an agent function that returns no text',
    { agents: { f: { description: 'F.', run: () => Promise.resolve(5 as never) } } },
    /must return a text/,
  ],
  [
    'a model whose last part is incomplete',
    {
      model: {
        async *stream() {
          yield { type: 'accepted' };
          yield { type: 'finished' } as never;
        },
      },
      agents: { f: { description: 'F.', prompt: 'Go.' } },
    },
    /`finished` needs a message/,
  ],
])('%s gives a failed run that says so', async (_what, options, message) => {
  const muster = await open({ model: answer(), ...options });
  const result = await muster.run('Go.', { agent: 'f' });
  expect([result.status, result.error?.message]).toEqual(['error', expect.stringMatching(message)]);
});

/** A value that cannot be read: even `instanceof` throws. */
const unreadable = new Proxy(
  {},
  {
    getPrototypeOf() {
      throw new Error('trap');
    },
  },
);
const fail = (): never => {
  throw unreadable;
};

describe('a thrown value that cannot be read', () => {
  const own = { name: 'own', description: 'Own.', input: { type: 'object' } };
  it.each<[string, Partial<MusterOptions>, string]>([
    ['run of a tool', { tools: [defineTool({ ...own, access: 'none', run: fail })] }, 'own'],
    [
      'access of a tool',
      { tools: [defineTool({ ...own, access: { reads: fail }, run: () => 'x' })] },
      'own',
    ],
    ['a policy', { policy: fail }, 'LS'],
  ])('from %s is a failed call', async (_where, options, name) => {
    const model = createScriptedModel((_request, index) =>
      index === 0 ? { calls: [{ name, input: { path: '.' } }] } : { text: 'ok' },
    );
    const muster = await open({ model, ...options });
    const { output } = await muster.run('Go.');
    const last = model.requests.at(-1)?.messages.at(-1);
    expect([output, last?.role === 'tool' && last.content[0]?.isError]).toEqual(['ok', true]);
  });

  it.each<[string, Partial<MusterOptions>]>([
    ['an agent function', { agents: { f: { description: 'F.', run: fail } } }],
    ['a model', { model: { stream: fail }, agents: { f: { description: 'F.', prompt: 'Go.' } } }],
  ])('from %s gives a failed run', async (_where, options) => {
    const muster = await open({ model: answer(), ...options });
    const result = await muster.run('Go.', { agent: 'f' });
    expect([result.status, result.error?.message]).toEqual([
      'error',
      expect.stringContaining('the thrown value cannot be read'),
    ]);
  });
});

it.each<[string, () => void]>([
  ['throws', fail],
  ['rejects', () => Promise.reject(new Error('no console'))],
])('an onNotice that %s does not end the run, and warns once', async (_how, onNotice) => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onTestFinished(() => warn.mockRestore());
  // A facts function that throws gives a notice in each run.
  const muster = await open({ model: answer(), context: { facts: fail }, onNotice });
  const outputs = [(await muster.run('Go.')).output, (await muster.run('Go.')).output];
  expect([outputs, warn.mock.calls]).toEqual([
    ['x', 'x'],
    [[expect.stringMatching(/^createMuster: onNotice threw an error: /)]],
  ]);
});

it.each<[string, () => unknown, string]>([
  ['answers later', async () => ({ value: {} }), 'validates asynchronously'],
  [
    'answers with a promise of another library',
    // oxlint-disable-next-line unicorn/no-thenable -- that is what is tested
    () => ({ then: (onDone: (result: object) => void) => onDone({ value: {} }) }),
    'validates asynchronously',
  ],
])('a tool whose schema %s is a failed call', async (_how, validate, text) => {
  const jsonSchema = { input: () => ({ type: 'object' }) };
  const input = { '~standard': { version: 1, vendor: 'own', validate, jsonSchema } };
  const tool = defineTool({
    name: 'own',
    description: 'Own.',
    input: input as StandardSchema,
    access: 'none',
    run: () => 'ran',
  });
  const model = createScriptedModel((_request, index) =>
    index === 0 ? { calls: [{ name: 'own', input: {} }] } : { text: 'ok' },
  );
  const muster = await open({ model, tools: [tool] });
  const { output } = await muster.run('Go.');
  const last = model.requests.at(-1)?.messages.at(-1);
  expect([output, last?.role === 'tool' && last.content[0]?.text]).toEqual([
    'ok',
    expect.stringContaining(text),
  ]);
});

it('a model that answers without waiting lets the signal of the program stop the run', async () => {
  const controller = new AbortController();
  let requests = 0;
  const model: ModelPort = {
    async *stream() {
      requests += 1;
      if (requests === 1) setTimeout(() => controller.abort(), 1);
      yield { type: 'accepted' };
      yield {
        type: 'finished',
        reason: requests < 300 ? 'tool_calls' : 'stop',
        usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
        message: {
          role: 'assistant',
          content:
            requests < 300
              ? [{ type: 'tool_call', id: `c${requests}`, name: 'own', input: { n: requests } }]
              : [{ type: 'text', text: 'never stopped' }],
        },
      };
    },
  };
  const tool = defineTool({
    name: 'own',
    description: 'Own.',
    input: { type: 'object' },
    access: 'none',
    run: () => `${requests}`,
  });
  const muster = await open({ model, tools: [tool] });
  const { data } = await muster.run('Go.', { signal: controller.signal, budget: { turns: 500 } });
  expect([data.status, requests < 300]).toEqual(['stopped', true]);
});
