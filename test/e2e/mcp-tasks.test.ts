import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lastUserText, toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { readTextIfPresent } from '../../src/sys/files/path-lookup.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { envelopeOf, runMuster } from './muster.ts';
import { findMarked, waitForMarked } from './processes.ts';
import { openWorld, type World } from './world.ts';

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
