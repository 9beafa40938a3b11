import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolResultRounds } from '../../src/testing/index.ts';
import {
  clean,
  complaint,
  delegate,
  delegating,
  family,
  kill,
  startAtWork,
  tasks,
} from './tasks.ts';
import { bash, openWorld, type World } from './world.ts';

/** Eight children, each of which runs a command, two at a time. */
const eight = delegating(
  Array.from({ length: 8 }, (_, at) => delegate(`part ${at}`)),
  (request) =>
    toolResultRounds(request) === 0 ? { toolCalls: [bash('echo here')] } : { text: 'seen' },
);

async function eightChildren(): Promise<World> {
  const world = await openWorld({ script: eight, bare: true });
  const env = { MUSTER_TASK_TOOL_MAX_PARALLEL: '2' };
  const run = await world.run(['-p', 'go', '--permission-mode', 'autonomous'], { env });
  expect([run.code, run.stderr]).toEqual([0, '']);
  return world;
}

describe.concurrent('tasks show', () => {
  it('reports a tree: which tasks ran when, and what each did', async () => {
    await using world = await eightChildren();
    const { root, children } = await family(world);
    const shown = clean(await tasks(world, 'show', root));
    const table = shown.slice(shown.indexOf('\nTree\n'), shown.indexOf('\nTimeline\n'));
    const bars = shown.slice(shown.indexOf('\nTimeline\n'), shown.indexOf('\nTurns\n'));
    for (const id of [root, ...children]) {
      expect(table).toMatch(new RegExp(`^${id} .* completed +2 +[18] `, 'm'));
      expect(bars).toMatch(new RegExp(`^${id} \\|[sMTc ]{64}\\|$`, 'm'));
    }
    for (const line of `${table}${bars}`.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(shown).toMatch(/^ +2 .* answer$/m);
    expect(shown.endsWith('\nAnswer\n\nthe root is done\n')).toBe(true);
    const own = clean(await tasks(world, 'show', children[0] ?? ''));
    expect(own).toMatch(/^commands exit 0 {4}echo here$/m);
    expect(own).not.toContain('\nTree\n');
  });

  it('gives programs the tree with its spans in order', async () => {
    await using world = await eightChildren();
    const { root, children } = await family(world);
    const { tree } = JSON.parse(clean(await tasks(world, 'show', root, '--json')));
    expect(tree.tasks.map(({ task_id }: { task_id: string }) => task_id).toSorted()).toEqual(
      [root, ...children].toSorted(),
    );
    const [first = ''] = children;
    const log = clean(await tasks(world, 'log', first, '--json'));
    const one = tree.tasks.find(({ task_id }: { task_id: string }) => task_id === first);
    expect(one).toMatchObject({
      parent: root,
      level: 1,
      status: 'completed',
      tool_summary: [{ tool: 'Bash', count: 1 }],
      receipt: { commands: [{ command: 'echo here', exitCode: 0 }] },
      events: log.trim().split('\n').length,
    });
  });

  it('writes a complete page that only its user can read, and overwrites nothing', async () => {
    await using world = await eightChildren();
    const { root } = await family(world);
    const file = join(world.sandbox.workspace, 'report.html');
    const said = clean(await tasks(world, 'show', root.slice(0, 8), '--html', file));
    const { mode, size } = statSync(file);
    expect([said, mode & 0o777]).toEqual([`task ${root} is in ${file} (${size} bytes)\n`, 0o600]);
    expect(readFileSync(file, 'utf8')).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
    expect(clean(await tasks(world, 'show', root, '--html', '-'))).toBe(readFileSync(file, 'utf8'));

    writeFileSync(file, 'mine');
    expect(complaint(await tasks(world, 'show', root, '--html', file))).toBe(
      `CONFLICT: ${file} exists; --force replaces it`,
    );
    expect(readFileSync(file, 'utf8')).toBe('mine');
    const forced = await tasks(world, 'show', root, '--html', file, '--force', '--json');
    expect(JSON.parse(clean(forced))).toEqual({ task_id: root, file, bytes: size });
    expect(statSync(file).size).toBe(size);
  });

  it('says why it wrote no page', async () => {
    await using world = await eightChildren();
    const { root } = await family(world);
    const { workspace } = world.sandbox;
    const page = (...args: readonly string[]) => tasks(world, 'show', ...args);
    expect(complaint(await page('zzzz', '--html', join(workspace, 'a.html')))).toMatch(
      /^NOT_FOUND: there is no task "zzzz"/,
    );
    const lost = join(workspace, 'no', 'a.html');
    expect(complaint(await page(root, '--html', lost))).toBe(
      `NOT_FOUND: ${lost}: there is no directory ${join(workspace, 'no')}`,
    );
    mkdirSync(join(workspace, 'there'));
    const taken = join(workspace, 'there');
    expect(complaint(await page(root, '--html', taken, '--force'))).toBe(
      `INVALID_PARAM: ${taken} is a directory, and not a file`,
    );
    expect(complaint(await page(root, '--html', '-', '--json'), 2)).toMatch(/--json does not go/);
    expect(complaint(await page(root, '--force'), 2)).toBe('--force goes with --html FILE');
    expect(readdirSync(workspace)).toEqual(['there']);
    expect(existsSync(lost)).toBe(false);
  });

  it('shows a tree whose process died, and one that is at work', async () => {
    const script = delegating([delegate('part 1')], () => ({ toolCalls: [bash('sleep 61')] }));
    await using world = await openWorld({ script, bare: true });
    const running = await startAtWork(world, { commands: 1 });
    const { root, children } = await family(world);
    const doing = clean(await tasks(world, 'show', root));
    expect(doing).toMatch(new RegExp(`^${children[0]} .* running `, 'm'));
    expect(doing).toMatch(new RegExp(`^${children[0]} \\|[^|]*T+ *\\|$`, 'm'));
    await kill(running);
    const broken = clean(await tasks(world, 'show', root));
    expect(broken).toMatch(new RegExp(`^${children[0]} .* interrupted `, 'm'));
    expect(clean(await tasks(world, 'show', root, '--html', '-'))).toContain('2 interrupted');
  });
});
