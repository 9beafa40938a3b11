import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  lastUserText,
  toolResultRounds,
  type Answer,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { readTextIfPresent } from '../../src/sys/files/path-lookup.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { startTaskServer } from '../mcp/servers/http.ts';
import { envelopeOf, runMuster } from './muster.ts';
import { findMarked, waitForMarked } from './processes.ts';
import { bash, openWorld, type World } from './world.ts';

const TASKS = join(import.meta.dirname, '../mcp/servers/tasks.mjs');
const FLAGS = ['--allow', 'mcp__demo', '--output-format', 'json'];

/** Configures the server with tasks. Returns the function that reads its notes. */
function configure(world: World, env: Readonly<Record<string, string>> = {}) {
  const { home, workspace } = world.sandbox;
  const notes = join(workspace, 'notes');
  const file = join(home, '.config/muster/mcp.json');
  mkdirSync(dirname(file), { recursive: true });
  const demo = { command: process.execPath, args: [TASKS], env: { LOG_FILE: notes, ...env } };
  writeFileSync(file, JSON.stringify({ mcpServers: { demo } }));
  return () => readTextIfPresent(notes) ?? '';
}

/** A call that ends when a file exists. */
const work = (until: string) => ({ name: 'mcp__demo__work', input: { until } });

/** Waits until the log of the only task says that the server has started its task. */
async function waitForTask(world: World): Promise<string> {
  const list = await runMuster(world.sandbox, ['tasks', 'list', '--json']);
  const [{ id }] = JSON.parse(list.stdout) as [{ id: string }];
  const log = join(world.sandbox.data, 'tasks', `${id}.jsonl`);
  await waitUntilPasses(() => expect(readTextIfPresent(log)).toContain('"shell.started"'));
  return id;
}

/** Waits until the log of some task says that the server has started its task. Returns its id and that of its root. */
async function waitForLongCall({ sandbox: { data } }: World) {
  const directory = join(data, 'tasks');
  const find = (): string | undefined =>
    readdirSync(directory).find(
      (name) =>
        name.endsWith('.jsonl') &&
        readTextIfPresent(join(directory, name))?.includes('"shell.started"') === true,
    );
  await waitUntilPasses(() => expect(find()).toBeDefined());
  const name = find() ?? '';
  const [, root = ''] = /"root":"(\w+)"/.exec(readTextIfPresent(join(directory, name)) ?? '') ?? [];
  return { task: name.replace('.jsonl', ''), root };
}

function resultTexts(request: RecordedRequest | undefined): readonly string[] {
  const newest = request?.messages.findLast(({ toolResults }) => toolResults.length > 0);
  return newest?.toolResults.map(({ text }) => text) ?? [];
}

describe.concurrent('a long call of an MCP server', () => {
  it.each([
    [true, 'completed', 'work is done'],
    [false, 'lost: its outcome is unknown', 'the server does not know the task any more'],
  ])(
    'is found again after kill -9, if the server still knows it (%s)',
    async (isKept, end, output) => {
      const script = (request: RecordedRequest) => {
        const rounds = toolResultRounds(request);
        if (rounds === 0) return { toolCalls: [work('end')] };
        const [, id] = /- Call (\w+) /.exec(lastUserText(request)) ?? [];
        if (id === undefined || rounds > 1) return { text: 'The end.' };
        return { toolCalls: [{ name: 'TaskOutput', input: { task_id: id } }] };
      };
      await using world = await openWorld({ script });
      const file = join(world.sandbox.workspace, 'tasks.json');
      const notes = configure(world, isKept ? { TASK_FILE: file } : {});
      const first = world.start(['-p', 'go', ...FLAGS]);
      await waitUntilPasses(() => expect(notes()).toContain('work {"until":"end"}'));
      const id = await waitForTask(world);
      first.process.kill('SIGKILL');
      await first.finished;
      await waitForMarked(world.mark, (pids) => pids.length === 0);

      writeFileSync(join(world.sandbox.workspace, 'end'), '');
      const second = await world.run(['-p', '--resume', id, ...FLAGS]);
      expect([second.code, second.stderr]).toEqual([0, '']);
      const { requests } = world.model;
      expect(resultTexts(requests[1])[0]).toMatch(
        /^Muster was interrupted while the call ran\. The server works on it as call \w+, /,
      );
      expect(requests.map(lastUserText).join('\n')).toContain(
        `(mcp__demo__work {"until":"end"}): ${end}`,
      );
      expect(resultTexts(requests.at(-1))[0]).toContain(output);
      // The call was made once.
      expect(notes().match(/^work /gm)?.length).toBe(1);
      expect(envelopeOf(second).data.receipt.shells).toMatchObject([
        { command: 'mcp__demo__work {"until":"end"}', end: isKept ? 'exited' : 'lost' },
      ]);
      const rerun = await world.run(['tasks', 'rerun', id]);
      expect([rerun.code, rerun.stdout]).toEqual([0, expect.stringContaining('identical')]);
      const show = await world.run(['tasks', 'show', id]);
      expect(show.stdout).toContain(`(mcp__demo__work {"until":"end"}): ${end.split(':')[0]}`);
      expect(findMarked(world.mark)).toEqual([]);
    },
  );

  it('is cancelled in the server by Ctrl-C, and nothing is left running', async () => {
    await using world = await openWorld({
      script: () => ({ toolCalls: [work('never')] }),
    });
    const notes = configure(world);
    const run = world.start(['-p', 'go', ...FLAGS]);
    await waitUntilPasses(() => expect(notes()).toContain('work {"until":"never"}'));
    await waitForTask(world);
    run.process.kill('SIGINT');
    expect((await run.finished).code).toBe(130);
    expect(notes()).toContain('cancelled task-1');
    expect(findMarked(world.mark)).toEqual([]);
  });

  it('whose question nobody can answer says so, also when its call has returned', async () => {
    const script = (request: RecordedRequest) =>
      toolResultRounds(request) === 0
        ? { toolCalls: [{ name: 'mcp__demo__ask', input: { run_in_background: true } }] }
        : { text: 'The end.' };
    await using world = await openWorld({ script });
    configure(world);
    const run = await world.run(['-p', 'go', ...FLAGS]);
    expect(run.stderr).toContain(
      'MCP server demo has a question, which was cancelled. Nobody is here to answer (--on-ask deny). The question: Which color?',
    );
    expect(run.code).toBe(0);
  });
});

/** Configures the server with tasks, which runs on when Muster ends. Returns the function that reads its notes. */
async function configureHttp(world: World): Promise<() => string> {
  const { home, workspace } = world.sandbox;
  const notes = join(workspace, 'notes');
  const { url } = await startTaskServer({ LOG_FILE: notes });
  const file = join(home, '.config/muster/mcp.json');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ mcpServers: { demo: { url: `${url}/mcp` } } }));
  return () => readTextIfPresent(notes) ?? '';
}

/** Makes a call, and reads its output as soon as its end is announced. */
function callAndRead(request: RecordedRequest, until: string): Answer {
  const rounds = toolResultRounds(request);
  if (rounds === 0) return { toolCalls: [work(until)] };
  const [, id] = /- Call (\w+) /.exec(lastUserText(request)) ?? [];
  return id === undefined || rounds > 1
    ? { text: 'The end.' }
    : { toolCalls: [{ name: 'TaskOutput', input: { task_id: id } }] };
}

const isChild = ({ tools }: RecordedRequest) => !tools.some(({ name }) => name === 'AskUser');
const delegate = {
  name: 'Task',
  input: { prompt: 'work', description: 'work', subagent_type: 'general-purpose' },
};

// The servers of these tests end with them, which is not known for tests that run at the same time.
it.each(['the main agent', 'a subagent'])(
  'a long call over HTTP of %s is found again after kill -9, and is made once',
  async (who) => {
    const ofChild = who === 'a subagent';
    let until = '';
    await using world = await openWorld({
      script: (request) => {
        if (!ofChild || isChild(request)) return callAndRead(request, until);
        return toolResultRounds(request) === 0 ? { toolCalls: [delegate] } : { text: 'The end.' };
      },
    });
    until = join(world.sandbox.workspace, 'end');
    const notes = await configureHttp(world);
    const first = world.start(['-p', 'go', ...FLAGS]);
    await waitUntilPasses(() => expect(notes()).toContain('work '));
    const { task: owner, root } = await waitForLongCall(world);
    expect(owner === root).toBe(!ofChild);
    first.process.kill('SIGKILL');
    await first.finished;
    writeFileSync(until, '');
    const second = await world.run(['-p', '--resume', root, ...FLAGS]);
    expect([second.code, second.stderr, envelopeOf(second).data.result]).toEqual([
      0,
      '',
      'The end.',
    ]);
    const { requests } = world.model;
    const own = requests.filter((request) => isChild(request) === ofChild);
    expect(own.map(lastUserText).join('\n')).toContain('completed');
    expect(own.flatMap(resultTexts).join('\n')).toContain('work is done');
    expect(notes().match(/^work /gm)?.length).toBe(1);
    expect(notes()).not.toContain('cancelled');
  },
);

it('a long call goes on while its conversation is parked, and its end is announced afterwards', async () => {
  let until = '';
  await using world = await openWorld({
    script: (request) => {
      const rounds = toolResultRounds(request);
      const { name, input } = work(until);
      if (rounds === 0) {
        return { toolCalls: [{ name, input: { ...input, run_in_background: true } }] };
      }
      if (rounds === 1) return { toolCalls: [bash('touch made')] };
      const [, id] = /- Call (\w+) /.exec(lastUserText(request)) ?? [];
      return rounds > 2 || id === undefined
        ? { text: 'The end.' }
        : { toolCalls: [{ name: 'TaskOutput', input: { task_id: id } }] };
    },
  });
  until = join(world.sandbox.workspace, 'end');
  const notes = await configureHttp(world);
  const parked = await world.run(['-p', 'go', '--on-ask', 'park', ...FLAGS]);
  expect([parked.code, envelopeOf(parked).data.status]).toEqual([5, 'parked']);
  expect(notes()).not.toContain('cancelled');
  const { root } = await waitForLongCall(world);
  writeFileSync(until, '');
  const answered = await world.run(['tasks', 'answer', `${root}q1`, 'yes', '--json']);
  expect([answered.code, envelopeOf(answered).data.result]).toEqual([0, 'The end.']);
  expect(world.model.requests.map(lastUserText).join('\n')).toMatch(
    /- Call \w+ \(mcp__demo__work .*\): completed/,
  );
  expect(world.model.requests.flatMap(resultTexts).join('\n')).toContain('work is done');
  expect([notes().match(/^work /gm)?.length, notes().includes('cancelled')]).toEqual([1, false]);
});
