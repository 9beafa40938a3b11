import { beforeAll, describe, expect, it } from 'vitest';
import { firstUserText } from '../../src/testing/index.ts';
import { schemaErrors } from '../json-schema.ts';
import { runMuster, Sandbox } from './muster.ts';
import { clean, delegate, delegating, listed, tasks } from './tasks.ts';
import { bash, callsInTurn, openWorld } from './world.ts';

const NAMES = ['agent', 'config', 'event', 'result', 'stream', 'task'] as const;
type Name = (typeof NAMES)[number];

const schemas = new Map<Name, unknown>();

beforeAll(async () => {
  using sandbox = new Sandbox({});
  for (const name of NAMES) {
    schemas.set(name, JSON.parse(clean(await runMuster(sandbox, ['schema', name]))));
  }
});

function errorsOf(name: Name, value: unknown): readonly string[] {
  return schemaErrors(schemas.get(name), value);
}

/** The lines of a program that writes JSON, which there must be. */
function linesOf(text: string): readonly Readonly<Record<string, unknown>>[] {
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

const RUN = ['-p', 'go', '--permission-mode', 'autonomous'];

/** Delegates in the foreground and the background, reads, writes, runs commands, is refused one, and keeps a list. */
const busy = delegating(
  [delegate('part 1'), delegate('part 2', { run_in_background: true })],
  callsInTurn(
    [
      { name: 'Read', input: { file_path: 'a.txt' } },
      { name: 'Read', input: { file_path: 'missing.txt' } },
      { name: 'TodoWrite', input: { todos: [{ content: 'Look', status: 'in_progress' }] } },
    ],
    [
      { name: 'Write', input: { file_path: 'b.txt', content: 'b' } },
      bash('echo done; exit 3'),
      { name: 'Bash', input: { command: 'echo later', run_in_background: true } },
      { name: 'NoSuchTool', input: {} },
    ],
  ),
);

describe('muster schema', () => {
  it('lists what it has a schema of, and refuses another name', async () => {
    using sandbox = new Sandbox({});
    const list = clean(await runMuster(sandbox, ['schema']));
    expect(list.match(/^\w+/gm)).toEqual(NAMES);
    expect(await runMuster(sandbox, ['schema', 'events'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(`no schema of "events"; valid: ${NAMES.join(', ')}`),
    });
  });

  it('describes the lines of a stream and of logs, and the list of tasks', async () => {
    await using world = await openWorld({ files: { 'a.txt': 'a\n' }, script: busy });
    const run = await world.run([...RUN, '--output-format', 'stream-json']);
    const stream = linesOf(clean(run));
    expect(stream.at(-1)).toMatchObject({ type: 'result', status: 'success' });
    for (const line of stream) expect([errorsOf('stream', line), line]).toEqual([[], line]);

    const all = await listed(world);
    expect(all).toHaveLength(3);
    for (const task of all) {
      expect(errorsOf('task', task)).toEqual([]);
      const log = linesOf(clean(await tasks(world, 'log', task.id, '--json')));
      for (const line of log) expect([errorsOf('event', line), line]).toEqual([[], line]);
      const envelope = JSON.parse(clean(await tasks(world, 'show', task.id, '--json')));
      expect(errorsOf('result', envelope)).toEqual([]);
    }
  });

  it('describes the result of a run, of one that failed and of one with a form of its own, too', async () => {
    const schema = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}';
    await using world = await openWorld({
      files: { 'form.json': schema },
      script: (request) => ({ text: firstUserText(request).includes('fail') ? 'no' : '{"n":7}' }),
    });
    const json = ['--output-format', 'json', '--output-schema', 'form.json'];
    for (const [prompt, code] of [
      ['count', 0],
      ['fail', 1],
    ] as const) {
      const run = await world.run(['-p', prompt, ...json]);
      expect(run.code).toBe(code);
      expect(errorsOf('result', JSON.parse(run.stdout))).toEqual([]);
    }
  });

  it('describes every agent that is there', async () => {
    await using world = await openWorld();
    const { agents } = JSON.parse(clean(await world.run(['agents', 'list', '--json'])));
    expect(agents.length).toBeGreaterThan(3);
    for (const { name } of agents) {
      const agent = JSON.parse(clean(await world.run(['agents', 'show', name, '--json'])));
      expect(errorsOf('agent', agent)).toEqual([]);
    }
  });

  it('refuses what lacks a field, or has it in another form', async () => {
    await using world = await openWorld({ script: () => ({ text: 'done' }) });
    const [first, ...rest] = linesOf(
      clean(await world.run([...RUN, '--output-format', 'stream-json'])),
    );
    const result = rest.at(-1) ?? {};
    for (const key of ['task', 'seq', 'type', 'spec']) {
      const { [key]: _, ...without } = first ?? {};
      expect(errorsOf('event', without)).not.toEqual([]);
      expect(errorsOf('event', { ...without, [key]: [] })).not.toEqual([]);
    }
    for (const key of ['status', 'data', 'text', 'stats', 'context', 'error']) {
      const { [key]: _, ...without } = result;
      expect(errorsOf('result', without)).not.toEqual([]);
      expect(errorsOf('stream', without)).not.toEqual([]);
    }
  });
});
