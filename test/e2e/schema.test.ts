import { beforeAll, describe, expect, it } from 'vitest';
import { firstUserText } from '../../src/testing/index.ts';
import { compileSchema } from '../../src/engine/structured/compile-schema.ts';
import { isJsonObject } from '../../src/base/json.ts';
import { schemaErrors } from '../json-schema.ts';
import { runMuster, Sandbox } from './muster.ts';
import { clean, delegate, delegating, listed, tasks } from './tasks.ts';
import { bash, callsInTurn, openWorld } from './world.ts';

const NAMES = ['agent', 'config', 'event', 'input', 'result', 'stream', 'task'] as const;
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
  it('lists the schemas, and refuses an unknown name', async () => {
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

  it('describes the result of a run, also if it failed or has an output schema', async () => {
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

  it('describes every agent', async () => {
    await using world = await openWorld();
    const { agents } = JSON.parse(clean(await world.run(['agents', 'list', '--json'])));
    expect(agents.length).toBeGreaterThan(3);
    for (const { name } of agents) {
      const agent = JSON.parse(clean(await world.run(['agents', 'show', name, '--json'])));
      expect(errorsOf('agent', agent)).toEqual([]);
    }
  });

  it('rejects a missing field and a field of another type, and accepts additions of a later version', async () => {
    await using world = await openWorld({ script: () => ({ text: 'done' }) });
    const stream = linesOf(clean(await world.run([...RUN, '--output-format', 'stream-json'])));
    const values: Readonly<Record<Exclude<Name, 'config'>, unknown>> = {
      agent: JSON.parse(clean(await world.run(['agents', 'show', 'Explore', '--json']))),
      event: stream[0],
      input: { type: 'answer', question: 'q', text: 'no', reason: 'later', scope: 'task' },
      result: JSON.parse(clean(await tasks(world, 'show', String(stream[0]?.['task']), '--json'))),
      stream: stream.at(-1),
      task: (await listed(world))[0],
    };
    for (const [name, value] of Object.entries(values)) {
      if (!isName(name) || name === 'config') throw new Error(name);
      expect(errorsOf(name, value)).toEqual([]);
      expect(errorsOf(name, withMore(value))).toEqual([]);
      for (const path of NEEDED[name]) {
        const refused = [changed(value, path, undefined), changed(value, path, { no: ['such'] })];
        for (const wrong of refused) expect([path, errorsOf(name, wrong)]).not.toEqual([path, []]);
      }
    }
  });

  it.each(NAMES)('gives a valid %s schema with a version and no internal fields', (name) => {
    const schema = schemas.get(name);
    expect(schema).toMatchObject({ $schema: 'http://json-schema.org/draft-07/schema#' });
    expect(isJsonObject(schema) ? typeof compileSchema(schema) : 'no object').toBe('function');
    if (name !== 'config')
      expect(schema).toHaveProperty('$comment', `muster 0.1.0: muster schema ${name}`);
    const texts = [...textsIn(schema)];
    const of = (key: string) => texts.filter(([at]) => at === key).map(([, text]) => text);
    expect(of('description').length).toBeGreaterThan(3);
    for (const text of of('description'))
      expect(text).not.toMatch(/[a-z]\/[a-z-]+\.ts|`[a-z]+[A-Z]\w*\(|policy\//);
    for (const text of of('pattern')) {
      expect(text).not.toContain(String.raw`\p`);
      expect(() => new RegExp(text)).not.toThrow();
    }
  });

  it('has the comments of the fields', () => {
    expect(schemas.get('result')).toHaveProperty(
      ['properties', 'data', 'properties', 'result', 'description'],
      'The complete answer.',
    );
  });
});

/** Fields that there always are, also those of fields. */
const NEEDED: Readonly<Record<Exclude<Name, 'config'>, readonly string[]>> = {
  agent: ['name', 'prompt', 'tools.mode', 'origin.path', 'effectiveMode', 'shadows'],
  event: [
    'task',
    'seq',
    'type',
    'spec',
    'spec.agent.name',
    'spec.rights.rules.allow',
    'spec.limits',
  ],
  input: ['type', 'question', 'text'],
  result: ['status', 'data.task_id', 'data.receipt.commands', 'data.usage.input', 'stats.time_ms'],
  stream: ['type', 'text', 'data.status', 'data.receipt.children', 'context.cwd', 'error'],
  task: ['id', 'root', 'status', 'source', 'created', 'paidTokens'],
};

function isName(text: string): text is Name {
  return NAMES.some((name) => name === text);
}

/** The value with another one at `a.b.c`; undefined: with none. */
function changed(value: unknown, path: string, other: unknown): unknown {
  if (!isJsonObject(value)) throw new Error(`nothing at ${path}`);
  const [first = '', ...rest] = path.split('.');
  const { [first]: field, ...without } = value;
  if (rest.length > 0) return { ...value, [first]: changed(field, rest.join('.'), other) };
  return other === undefined ? without : { ...value, [first]: other };
}

/** With a field more in each object that has some: the fields of an empty one may be ids or names. */
function withMore(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withMore);
  if (!isJsonObject(value) || Object.keys(value).length === 0) return value;
  const fields = Object.entries(value).map(([key, each]) => [key, withMore(each)]);
  return { ...Object.fromEntries(fields), addedLater: {} };
}

/** Every text in a schema, with the keyword that it is of. */
function* textsIn(value: unknown): Generator<readonly [string, string]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, each] of Object.entries(value)) {
    if (typeof each === 'string') yield [key, each];
    else yield* textsIn(each);
  }
}
