import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { firstUserText, toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { runMuster, Sandbox, type Finished } from './muster.ts';
import { openWorld, type World } from './world.ts';

function script(request: RecordedRequest) {
  const input = { prompt: 'look', description: 'the child' };
  const delegates = firstUserText(request) === 'go' && toolResultRounds(request) === 0;
  return delegates ? { toolCalls: [{ name: 'Task', input }] } : { text: 'done' };
}

interface Logs {
  readonly parent: string;
  readonly child: string;
  readonly other: string;
}

async function makeLogs(world: World): Promise<Logs> {
  for (const prompt of ['go', 'another conversation']) {
    expect((await world.run(['-p', prompt])).code).toBe(0);
  }
  const { stdout } = await runMuster(world.sandbox, ['tasks', 'list', '--json']);
  const tasks: readonly { id: string; parent: string | null; description: string }[] =
    JSON.parse(stdout);
  const idOf = (isWanted: (task: (typeof tasks)[number]) => boolean): string =>
    tasks.find(isWanted)?.id ?? '';
  return {
    parent: idOf(({ parent, description }) => parent === null && description === 'go'),
    child: idOf(({ parent }) => parent !== null),
    other: idOf(({ description }) => description === 'another conversation'),
  };
}

/** A copy of a world's data directory, for one damage. */
function copyOf(world: World): Sandbox {
  const copy = new Sandbox();
  cpSync(world.sandbox.data, copy.data, { recursive: true });
  writeFileSync(join(copy.data, 'index.jsonl'), '');
  return copy;
}

function logOf(sandbox: Sandbox, id: string): string {
  return join(sandbox.data, 'tasks', `${id}.jsonl`);
}

function damageLine(path: string, line: number, text: string): void {
  const lines = readFileSync(path, 'utf8').split('\n');
  lines[line - 1] = text;
  writeFileSync(path, lines.join('\n'));
}

function expectNoTrace(run: Finished): void {
  expect(run.stdout + run.stderr).not.toMatch(/a bug in Muster|\n\s*(?:muster: )?\s+at /);
  expect(run.signal).toBeNull();
}

const SPECIFICATION_LOST =
  'the line is not valid JSON: event 0 is lost, with the specification (task.created) of the task';

describe('a log whose specification is destroyed', () => {
  it('costs that task alone, and every command names file, line and loss', async () => {
    await using world = await openWorld({ script });
    const { parent, child, other } = await makeLogs(world);
    using damaged = copyOf(world);
    const path = logOf(damaged, parent);
    damageLine(path, 2, '#'.repeat(300));
    const notice = `muster: ${path}:2: ${SPECIFICATION_LOST}`;
    const env = world.model.env('anthropic');
    const muster = (...args: readonly string[]) => runMuster(damaged, args, { env });

    for (const args of [
      ['tasks', 'show', parent],
      ['tasks', 'context', parent],
      ['tasks', 'rerun', parent],
      ['tasks', 'rewind', parent, '--to', '3'],
      ['tasks', 'export', parent, '-'],
      ['tasks', 'watch', parent],
      ['tasks', 'stop', parent],
      ['tasks', 'send', parent, 'hello'],
      ['tasks', 'resume', parent],
      ['tasks', 'branch', parent, '--at', '3'],
      ['--resume', parent, '-p', 'go on'],
    ]) {
      const run = await muster(...args);
      expectNoTrace(run);
      const [first, second, ...others] = run.stderr.trimEnd().split('\n');
      expect([args, run.code, first, others]).toEqual([args, 1, notice, []]);
      expect(second).toContain(`${path}:2`);
    }
    const log = await muster('tasks', 'log', parent);
    expect([log.code, log.stderr]).toEqual([0, `${notice}\n`]);
    expect(log.stdout).toContain('task.ended');

    const unlisted = `${notice}; the task is left out of lists and totals\n`;
    for (const args of [
      ['tasks', 'list'],
      ['usage', '--by', 'task'],
    ]) {
      const run = await muster(...args);
      expect([run.code, run.stderr]).toEqual([0, unlisted]);
      expect([parent, child, other].map((id) => run.stdout.includes(id))).toEqual([
        false,
        true,
        true,
      ]);
    }
    const answers = await muster('tasks', 'answer');
    expect([answers.code, answers.stdout, answers.stderr]).toEqual([
      0,
      'No question is open.\n',
      unlisted,
    ]);
    for (const id of [child, other]) {
      const run = await muster('tasks', 'show', id);
      expect([run.code, run.stderr]).toEqual([0, '']);
    }
    expectNoTrace(await muster('doctor'));
    const deleted = await muster('tasks', 'delete', parent);
    expectNoTrace(deleted);
    expect(deleted.code).toBe(0);
    expect((await muster('tasks', 'list')).stderr).toBe('');
  });

  it('of a child leaves its parent whole', async () => {
    await using world = await openWorld({ script });
    const { parent, child } = await makeLogs(world);
    using damaged = copyOf(world);
    const path = logOf(damaged, child);
    damageLine(path, 2, '{"v":');
    const notice = `muster: ${path}:2: ${SPECIFICATION_LOST}`;
    const env = world.model.env('anthropic');
    const muster = (...args: readonly string[]) => runMuster(damaged, args, { env });

    const shown = await muster('tasks', 'show', parent);
    expect([shown.code, shown.stderr]).toEqual([0, `${notice}\n`]);
    expect(shown.stdout).toContain(`${child}  (log unusable)`);
    const rerun = await muster('tasks', 'rerun', parent);
    expectNoTrace(rerun);
    expect([rerun.code, rerun.stdout]).toEqual([1, expect.stringContaining(`${child}  not rerun`)]);
    const exported = await muster('tasks', 'export', parent, '-');
    expect([exported.code, exported.stderr]).toEqual([0, `${notice}\n`]);
    const resumed = await muster('--resume', parent, '-p', 'go on');
    expectNoTrace(resumed);
    expect([resumed.code, resumed.stdout]).toEqual([0, 'done\n']);
  });
});

describe('a log with damage in the middle', () => {
  it('is used without it, and says so once in each command', async () => {
    await using world = await openWorld({ script });
    const { other } = await makeLogs(world);
    using damaged = copyOf(world);
    const path = logOf(damaged, other);
    const lines = readFileSync(path, 'utf8').split('\n');
    const ended = lines.findIndex((line) => line.includes('"turn.ended"')) + 1;
    damageLine(path, ended, (lines[ended - 1] ?? '').slice(0, 200));
    const lost = `event ${ended - 2} is lost (turn.ended)`;
    const notice = `muster: ${path}:${ended}: the line is not valid JSON: ${lost}\n`;
    const env = world.model.env('anthropic');
    const muster = (...args: readonly string[]) => runMuster(damaged, args, { env });
    for (const args of [
      ['tasks', 'list'],
      ['usage'],
      ['tasks', 'show', other],
      ['tasks', 'log', other],
      ['tasks', 'context', other],
      ['tasks', 'export', other, '-'],
      ['tasks', 'watch', other],
    ]) {
      const run = await muster(...args);
      expectNoTrace(run);
      expect([args, run.code, run.stderr]).toEqual([args, 0, notice]);
      // The next command reads the log and not the index again.
      writeFileSync(join(damaged.data, 'index.jsonl'), '');
    }
    const resumed = await muster('--resume', other, '-p', 'go on');
    expect([resumed.code, resumed.stdout]).toEqual([0, 'done\n']);
    expect(resumed.stderr).toContain(lost);
  });
});
