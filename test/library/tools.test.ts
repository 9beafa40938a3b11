import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import * as v from 'valibot';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  defineTool,
  type CustomTool,
  type MusterOptions,
  type ToolDefinition,
} from '../../src/library.ts';
import { createScriptedModel, type ScriptedCall } from '../scripted-model.ts';
import { pngOf } from '../pictures.ts';
import { makeDirectory, open } from './support.ts';

/** Runs a conversation that makes calls, and returns their results as the model reads them, and the receipt. */
async function callTools(
  calls: readonly ScriptedCall[],
  options: Partial<MusterOptions>,
  run: { readonly mode?: 'plan' } = {},
) {
  const model = createScriptedModel((_request, index) =>
    index === 0 ? { calls } : { text: 'ok' },
  );
  const muster = await open({ model, ...options });
  const { data } = await muster.run('Go.', run);
  const results = model.requests
    .at(-1)
    ?.messages.flatMap((message) => (message.role === 'tool' ? message.content : []))
    .map(({ text, isError, attachments }) => ({ text, isError, files: attachments?.length ?? 0 }));
  return { results, receipt: data.receipt };
}

const sha = (text: string) => createHash('sha256').update(text).digest('hex');

describe('a tool of the program', () => {
  it.each<[string, CustomTool]>([
    [
      'zod',
      defineTool({
        name: 'add',
        description: 'Adds.',
        input: z.object({ a: z.number(), b: z.number().default(1) }),
        access: 'none',
        run: ({ a, b }) => `${a + b}`,
      }),
    ],
    [
      'valibot',
      defineTool({
        name: 'add',
        description: 'Adds.',
        input: toStandardJsonSchema(v.object({ a: v.number(), b: v.optional(v.number(), 1) })),
        access: 'none',
        run: ({ a, b }) => `${a + b}`,
      }),
    ],
    [
      'JSON Schema',
      defineTool({
        name: 'add',
        description: 'Adds.',
        input: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
        access: 'none',
        run: (input) => `${Number((input as { a: number }).a) + 1}`,
      }),
    ],
  ])('gets arguments that a schema of %s has checked', async (_library, tool) => {
    const calls = [
      { name: 'add', input: { a: 2 } },
      { name: 'add', input: { a: 'two' } },
    ];
    const { results } = await callTools(calls, { tools: [tool] });
    expect(results).toEqual([
      { text: '3', isError: false, files: 0 },
      { text: expect.stringMatching(/^add: .*a.*number/is), isError: true, files: 0 },
    ]);
  });

  it('without a declared access needs an answer, also in plan mode', async () => {
    const ran: string[] = [];
    const tools = [
      defineTool({
        name: 'send',
        description: 'Sends.',
        input: z.object({ to: z.string() }),
        run: ({ to }) => {
          ran.push(to);
          return 'sent';
        },
      }),
    ];
    const calls = [{ name: 'send', input: { to: 'a' } }];
    const refused = await callTools(calls, { tools });
    const asked: string[] = [];
    const allowed = await callTools(calls, {
      tools,
      onQuestion: (question) => {
        asked.push(question.tool);
        return 'yes';
      },
    });
    const byRule = await callTools(calls, { tools, allow: ['send'] });
    const denied = await callTools(calls, { tools, allow: ['send'], deny: ['send'] });
    const planned = await callTools(calls, { tools, allow: ['send'] }, { mode: 'plan' });
    expect(
      [refused, allowed, byRule, denied, planned].map(({ results }) => results?.[0]?.isError),
    ).toEqual([true, false, false, true, true]);
    expect({ asked, ran }).toEqual({ asked: ['send'], ran: ['a', 'a'] });
  });

  it('is judged by the files that it declares, and their changes are in the receipt', async () => {
    const cwd = makeDirectory();
    const outside = makeDirectory();
    writeFileSync(join(cwd, 'log.txt'), 'one\n');
    const append = defineTool({
      name: 'append',
      description: 'Appends a line to a file.',
      input: z.object({ file: z.string(), line: z.string() }),
      access: { writes: ({ file }) => file },
      run: ({ file, line }, { resolve }) => {
        const path = resolve(file);
        const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
        writeFileSync(path, `${before}${line}\n`);
        return 'appended';
      },
    });
    const calls = [
      { name: 'append', input: { file: 'log.txt', line: 'two' } },
      { name: 'append', input: { file: join(outside, 'x.txt'), line: 'two' } },
      { name: 'append', input: { file: '.git/config', line: 'x' } },
    ];
    const { results, receipt } = await callTools(calls, {
      cwd,
      tools: [append],
      allow: ['append'],
    });
    expect(results?.map(({ isError }) => isError)).toEqual([false, true, true]);
    expect(receipt.filesChanged).toEqual([
      { path: join(cwd, 'log.txt'), before: sha('one\n'), after: sha('one\ntwo\n'), unread: true },
    ]);
    expect([existsSync(join(outside, 'x.txt')), existsSync(join(cwd, '.git'))]).toEqual([
      false,
      false,
    ]);
  });

  it('gives images, long texts in a file, progress and errors like a built-in tool', async () => {
    const lines: string[] = [];
    const tools = [
      defineTool({
        name: 'render',
        description: 'Renders.',
        input: z.object({}),
        access: 'none',
        run: () => ({ text: 'the chart', images: [pngOf(8, 8), Buffer.from('no image')] }),
      }),
      defineTool({
        name: 'dump',
        description: 'Dumps.',
        input: z.object({}),
        access: 'none',
        run: (_input, { progress }) => {
          progress('half');
          return 'x'.repeat(100_000);
        },
      }),
      defineTool({
        name: 'fail',
        description: 'Fails.',
        input: z.object({}),
        access: 'none',
        run: () => {
          throw new Error('the disk is on fire');
        },
      }),
    ];
    const calls = ['render', 'dump', 'fail'].map((name) => ({ name, input: {} }));
    const config = {
      sandbox: { kind: 'off' as const },
      models: { catalogue: { 'own/main': { attachments: ['image'] } } },
    };
    const model = createScriptedModel((_request, index) =>
      index === 0 ? { calls } : { text: 'ok' },
    );
    const muster = await open({ model, tools, config });
    const run = muster.run('Go.', { deltas: true });
    for await (const event of run) if (event.type === 'progress') lines.push(event.line);
    const [chart, dump, failed] =
      model.requests
        .at(-1)
        ?.messages.flatMap((message) => (message.role === 'tool' ? message.content : [])) ?? [];
    expect(chart).toMatchObject({ isError: false, attachments: [{ type: 'image/png' }] });
    expect(chart?.text).toMatch(/the chart\n\[image 2 is not shown: /);
    expect(dump?.text.length).toBeLessThan(40_000);
    expect(failed).toMatchObject({ isError: true, text: 'fail failed: the disk is on fire' });
    expect(lines).toEqual(['half']);
  });

  it('that does not end is stopped at its time limit and with its run', async () => {
    const aborted: string[] = [];
    const hang = defineTool({
      name: 'hang',
      description: 'Hangs.',
      input: z.object({}),
      access: 'none',
      run: async (_input, { signal }) => {
        signal.addEventListener('abort', () => aborted.push('aborted'));
        await new Promise(() => {});
        return '';
      },
    });
    const config = { sandbox: { kind: 'off' as const }, liveness: { tool_seconds: 0.05 } };
    const { results } = await callTools([{ name: 'hang', input: {} }], { tools: [hang], config });
    expect([results?.[0]?.isError, aborted]).toEqual([true, ['aborted']]);
  });

  it('is offered to agents with all tools and to those that name it, and to no others', async () => {
    const tool = defineTool({
      name: 'lookup',
      description: 'Looks up.',
      input: z.object({}),
      access: 'none',
      run: () => 'x',
    });
    const model = createScriptedModel(() => ({ text: 'ok' }));
    const muster = await open({
      model,
      tools: [tool],
      agents: {
        all: { description: 'Does.', prompt: 'You do.' },
        named: { description: 'Does.', prompt: 'You do.', tools: ['Read', 'lookup'] },
        other: { description: 'Does.', prompt: 'You do.', tools: ['Read'] },
      },
    });
    for (const agent of ['all', 'named', 'other']) await muster.run('Go.', { agent });
    const has = model.requests.map(({ prefix }) =>
      prefix.tools.some(({ name }) => name === 'lookup'),
    );
    expect(has).toEqual([true, true, false]);
  });
});

it.each([
  ['reads', { deny: ['Read(a.txt)'] }, false],
  ['reads', { deny: ['Read(b.txt)'] }, true],
  ['reads', { ask: ['Read'] }, false],
  ['writes', { deny: ['Edit(a.txt)'], allow: ['own'] }, false],
  ['writes', { deny: ['Write'], allow: ['own'] }, false],
  ['writes', { deny: ['Read(a.txt)'], allow: ['own'] }, true],
  ['commands', { deny: ['Bash(npm publish:*)'], allow: ['own'] }, false],
  ['commands', { deny: ['Bash(npm test)'], allow: ['own'] }, true],
  ['hosts', { deny: ['WebFetch(domain:example.org)'], allow: ['own'] }, false],
] as const)('with %s obeys the rules %j of the built-in tools', async (field, rules, runs) => {
  const values = { reads: 'a.txt', writes: 'a.txt', commands: 'npm publish', hosts: 'example.org' };
  const cwd = makeDirectory();
  writeFileSync(join(cwd, 'a.txt'), 'a');
  let ran = false;
  const own = defineTool({
    name: 'own',
    description: 'd',
    input: z.object({}),
    access: { [field]: () => values[field] },
    run: () => {
      ran = true;
      return 'ok';
    },
  });
  const model = createScriptedModel([{ calls: [{ name: 'own', input: {} }] }, { text: 'done' }]);
  const muster = await open({ cwd, model, tools: [own], ...rules });
  await muster.run('Go.');
  expect(ran).toBe(runs);
});

it('may be the only tool of an agent', async () => {
  const own = defineTool({
    name: 'own',
    description: 'd',
    input: z.object({}),
    access: 'none',
    run: () => 'the result',
  });
  const model = createScriptedModel([{ calls: [{ name: 'own', input: {} }] }, { text: 'done' }]);
  const agents = { f: { description: 'd', prompt: 'p', tools: ['own'] } };
  const muster = await open({ model, tools: [own], agents });
  const { output } = await muster.run('Go.', { agent: 'f' });
  expect(output).toBe('done');
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('the result');
});

describe('defineTool', () => {
  it.each([
    ['a misspelled value', 'None', /must be 'none' or an object, not "None"/],
    ['null', null, /must be 'none' or an object, not null/],
    ['false', false, /must be 'none' or an object, not false/],
    ['no function', {}, /has none of reads, writes, hosts, commands/],
    ['only a flag', { onlyFetches: true }, /has none of reads/],
    ['a misspelled function', { write: () => 'x' }, /unknown option "write". Did you mean writes/],
    ['a value instead of a function', { writes: 'x' }, /writes must be function, not string/],
  ])('refuses an access with %s', (_name, access, message) => {
    const define = () =>
      defineTool({
        name: 'q',
        description: 'd',
        input: { type: 'object' },
        access: access as never,
        run: () => 'ran',
      });
    expect(define).toThrow(message);
  });

  it('refuses an unknown treatment of unknown outcomes', () => {
    const define = () =>
      defineTool({
        name: 'q',
        description: 'd',
        input: { type: 'object' },
        replay: 'banana' as never,
        run: () => 'ran',
      });
    expect(define).toThrow('replay must be one of pure, keyed, opaque');
  });

  const valid = { name: 'x', description: 'X.', input: z.object({}), run: () => '' };
  it.each([
    [{ ...valid, name: 'Read' }, /name of Muster's tool Read/],
    [{ ...valid, name: 'read_file' }, /name of Muster's tool Read/],
    [{ ...valid, name: 'mcp__a__b' }, /MCP servers/],
    [{ ...valid, name: 'two words' }, /must begin with a letter/],
    [{ ...valid, acces: 'none' }, /unknown option "acces". Did you mean access/],
    [{ ...valid, input: v.object({}) }, /valibot has no JSON Schema/],
    [{ ...valid, input: z.object({ at: z.date() }) }, /zod cannot express this schema/],
  ])('refuses %o', (definition, message) => {
    expect(() => defineTool(definition as ToolDefinition)).toThrow(message);
  });
});

it('a tool that defineTool has not returned is an error', async () => {
  const tool = defineTool({ name: 'own', description: 'Own.', input: {}, run: () => 'x' });
  await expect(
    open({ model: 'offline', tools: [tool, { ...tool, name: 'copy' }] }),
  ).rejects.toThrow(
    'createMuster: tools[1]: must be a tool that defineTool of this copy of muster-agent has returned',
  );
});

it('takes schemas that are functions, as those of arktype are, for tools, agents and runs', async () => {
  const json = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  const schema = Object.assign(() => {}, {
    '~standard': {
      version: 1 as const,
      vendor: 'own',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: () => json },
    },
  });
  const tool = defineTool({
    name: 'own',
    description: 'Own.',
    input: schema,
    access: 'none',
    run: () => 'ran',
  });
  const model = createScriptedModel((_request, index) =>
    index === 0 ? { calls: [{ name: 'own', input: { n: 1 } }] } : { text: '{"n":2}' },
  );
  const agent = { description: 'F.', prompt: 'Go.' };
  const muster = await open({
    model,
    tools: [tool],
    agents: { f: { ...agent, outputSchema: schema } },
  });
  const ofAgent = await muster.run('Go.', { agent: 'f' });
  const ofRun = await muster.run('Go.', { outputSchema: schema });
  expect([ofAgent.data.structured, ofRun.output]).toEqual([{ n: 2 }, { n: 2 }]);
});
