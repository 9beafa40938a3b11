import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lastUserText, toolResultRounds } from '../../src/testing/index.ts';
import { eventsOf, runMuster, Sandbox, type Finished } from './muster.ts';
import { openWorld, type World } from './world.ts';

function clean(run: Finished): string {
  expect([run.code, run.stderr]).toEqual([0, '']);
  return run.stdout;
}

describe.concurrent('muster tasks', () => {
  async function delegated(
    world: World,
  ): Promise<{ readonly root: string; readonly child: string }> {
    const run = await world.run(['-p', 'go and see', '--output-format', 'json']);
    const { data } = JSON.parse(run.stdout);
    return { root: data.task_id, child: data.receipt.children[0] };
  }

  const delegating = {
    files: { 'a.txt': 'content' },
    script: (request: Parameters<typeof toolResultRounds>[0]) => {
      if (toolResultRounds(request) > 0) return { text: 'what was found' };
      return lastUserText(request) === 'part'
        ? { toolCalls: [{ name: 'Read', input: { file_path: 'a.txt' } }] }
        : {
            toolCalls: [
              {
                name: 'Task',
                input: { prompt: 'part', description: 'Look', subagent_type: 'Explore' },
              },
            ],
          };
    },
  };

  it('list shows each task below its parent, by status, place and as JSON', async () => {
    await using world = await openWorld(delegating);
    expect(clean(await runMuster(world.sandbox, ['tasks', 'list']))).toBe('No tasks yet.\n');
    const { root, child } = await delegated(world);
    const text = clean(await runMuster(world.sandbox, ['tasks', 'list']));
    const stamp = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d`;
    expect(text).toMatch(new RegExp(`^${root}  ${stamp}  completed    main: go and see$`, 'm'));
    expect(text).toMatch(new RegExp(`^${child}  ${stamp}  completed      Explore: Look$`, 'm'));
    expect(text.split('\n').map((line) => line.slice(0, 12))).toEqual([root, child, '']);
    const list = (...args: readonly string[]) =>
      runMuster(world.sandbox, ['tasks', 'list', ...args]);
    expect(clean(await list('--here', '--status', 'completed', '--status', 'failed'))).toBe(text);
    expect(clean(await list('--status', 'running'))).toBe('No such tasks.\n');
    const elsewhere = await runMuster(world.sandbox, ['tasks', 'list', '--here', '--json'], {
      cwd: world.sandbox.home,
    });
    expect(clean(elsewhere)).toBe('[]\n');
    const listed = JSON.parse(clean(await runMuster(world.sandbox, ['tasks', 'list', '--json'])));
    expect(listed.map(({ id }: { id: string }) => id).toSorted()).toEqual([root, child].toSorted());
  });

  it('show gives the envelope of the run, by id or prefix', async () => {
    await using world = await openWorld(delegating);
    const run = await world.run(['-p', 'go and see', '--output-format', 'json']);
    const envelope = JSON.parse(run.stdout);
    const { task_id: id } = envelope.data;
    const show = (...args: readonly string[]) =>
      runMuster(world.sandbox, ['tasks', 'show', ...args]);
    const chain = ['no model named: balanced', 'balanced: anthropic (ANTHROPIC_API_KEY)'];
    const tree = expect.objectContaining({ tasks: [top(id), expect.anything()] });
    const shown = { ...envelope, activity: null, ended_by: null, model_chain: chain, tree };
    expect(JSON.parse(clean(await show(id, '--json')))).toEqual(shown);
    expect(JSON.parse(clean(await show(id.slice(0, 10), '--json')))).toEqual(shown);
    const text = clean(await show(id));
    expect(text).toMatch(new RegExp(`^task +${id}$`, 'm'));
    expect(text).toMatch(/^status +completed: the model ended its answer$/m);
    expect(text).toMatch(/^tools +Task × 1$/m);
    expect(text).toContain(`\nchosen   ${chain.join(' → ')}\n`);
    expect(text).toMatch(new RegExp(`^children +${envelope.data.receipt.children[0]}$`, 'm'));
    expect(text).toMatch(/\n\nwhat was found\n$/);
  });

  it('log gives the events as they stand in the log', async () => {
    await using world = await openWorld(delegating);
    const { child } = await delegated(world);
    const run = await runMuster(world.sandbox, ['tasks', 'log', child, '--json']);
    clean(run);
    const events = eventsOf(run);
    expect(events.map(({ type }) => type).join(' ')).toBe(
      'task.created task.claimed task.started turn.started turn.accepted turn.ended ' +
        'call.started call.ended turn.started turn.accepted turn.ended task.ended',
    );
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
    const text = clean(await runMuster(world.sandbox, ['tasks', 'log', child]));
    expect(text.trimEnd().split('\n').length).toBe(events.length);
    expect(text).toMatch(/^ +7 [\d:.]+ call\.ended +\{/m);
    const rest = await runMuster(world.sandbox, ['tasks', 'log', child, '--json', '--from', '10']);
    expect(eventsOf(rest)).toEqual(events.slice(10));
  });

  it('an id that is unknown or of more than one task is one line', async () => {
    const part = { name: 'Task', input: { prompt: 'part', subagent_type: 'Explore' } };
    await using world = await openWorld({
      script: (request) =>
        toolResultRounds(request) > 0 || lastUserText(request) === 'part'
          ? { text: 'done' }
          : { toolCalls: Array.from({ length: 36 }, () => part) },
    });
    const run = await world.run(['-p', 'go', '--output-format', 'json']);
    const { data } = JSON.parse(run.stdout);
    // 37 ids over 36 characters: two of them begin alike.
    const ids: readonly string[] = [data.task_id, ...data.receipt.children];
    expect(ids.length).toBe(37);
    const prefix = sharedFirst(ids);
    for (const command of ['show', 'log', 'watch', 'stop', 'background', 'export', 'delete']) {
      const several = await runMuster(world.sandbox, ['tasks', command, prefix]);
      expect([several.code, several.stdout]).toEqual([1, '']);
      expect(several.stderr).toMatch(/^muster: INVALID_PARAM: [^\n]+\n$/);
      expect(ids.filter((id) => several.stderr.includes(id)).length).toBeGreaterThan(1);
      for (const unknown of ['zzzzzzzzzzzz', '../../../etc/passwd', 'ÄÖ']) {
        const none = await runMuster(world.sandbox, ['tasks', command, unknown]);
        expect([none.code, none.stdout]).toEqual([1, '']);
        expect(none.stderr).toMatch(/^muster: NOT_FOUND: there is no task [^\n]+\n$/);
      }
    }
  });

  it('a data directory that is not there is told of, and not made', async () => {
    using sandbox = new Sandbox();
    const there = await runMuster(sandbox, ['tasks', 'list', '--data-dir', 'nowhere']);
    expect(there).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `muster: there is no data directory ${join(sandbox.workspace, 'nowhere')}\n`,
    });
    const shown = await runMuster(sandbox, ['tasks', 'show', 'abc']);
    expect([shown.code, shown.stderr]).toEqual([
      1,
      'muster: NOT_FOUND: there is no task "abc": `muster tasks list` shows them\n',
    ]);
    expect(clean(await runMuster(sandbox, ['tasks', 'prune', '--days', '0', '--json']))).toBe(
      '{\n  "deleted": []\n}\n',
    );
    expect(readdirSync(sandbox.root).toSorted()).toEqual(['home', 'workspace']);
  });

  function sharedFirst(ids: readonly string[]): string {
    const firsts = ids.map((id) => id.slice(0, 1));
    return firsts.find((first, index) => firsts.indexOf(first) !== index) ?? 'none';
  }
});

function top(id: string) {
  return expect.objectContaining({ task_id: id, level: 0, problem: null, status: 'completed' });
}
