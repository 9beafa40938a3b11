import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { runMuster, startMuster } from './muster.ts';
import { bash, openWorld, type World } from './world.ts';
import { checkTrajectory } from '../report/atif-validator.ts';
import { clean, complaint, delegate, delegating, family, listed, tasks } from './tasks.ts';

const CANARY = 'canary-7f3a91';

/** A child that prints a canary more often than one result holds, so that there is a spill file. */
const talking = delegating([delegate('part 1')], (request) =>
  toolResultRounds(request) === 0
    ? { toolCalls: [bash(`for i in $(seq 8000); do echo ${CANARY} $i; done`)] }
    : { text: `the child saw ${CANARY}` },
);

const RUN = ['-p', 'go', '--permission-mode', 'autonomous', '--allow', 'Bash'];

/** The files of a directory, at any depth, that hold a text or have it in their names. */
function filesWith(directory: string, text: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => path.includes(text) || readFileSync(path, 'latin1').includes(text));
}

/** A result as it is without the place where it lies. */
function placeless(json: string): unknown {
  const { data, ...rest } = JSON.parse(json);
  const { transcript: _, output_file: _file, ...kept } = data;
  return { ...rest, data: kept };
}

/** Points a run at a second data directory. */
function elsewhere({ sandbox }: World) {
  return { MUSTER_DATA_DIR: join(sandbox.root, 'other') };
}

function other(world: World, ...args: readonly string[]) {
  return runMuster(world.sandbox, ['tasks', ...args], { env: elsewhere(world) });
}

describe.concurrent('muster tasks export and import', () => {
  it('give the same tasks in another data directory', async () => {
    await using world = await openWorld({ script: talking });
    clean(await world.run(RUN));
    const { root, children } = await family(world);
    const [child = ''] = children;
    const file = join(world.sandbox.workspace, 'out.muster');
    const bytes = (text: string) => Number(/\((\d+) bytes\)/.exec(text)?.[1]);
    const said = clean(await tasks(world, 'export', root.slice(0, 9), 'out.muster'));
    expect(said).toBe(`task ${root} is in ${file} (${bytes(said)} bytes)\n`);
    expect([statSync(file).size, statSync(file).mode & 0o777]).toEqual([bytes(said), 0o600]);
    expect(clean(await tasks(world, 'export', root))).toBe(readFileSync(file, 'utf8'));
    expect(clean(await tasks(world, 'export', root, '-'))).toBe(readFileSync(file, 'utf8'));
    expect(existsSync(join(world.sandbox.workspace, '-'))).toBe(false);

    expect(clean(await other(world, 'import', file))).toBe(`${root}\n${child}\n`);
    for (const id of [root, child]) {
      const here = clean(await tasks(world, 'show', id, '--json'));
      const there = clean(await other(world, 'show', id, '--json'));
      expect(placeless(there)).toEqual(placeless(here));
      expect(clean(await other(world, 'log', id, '--json'))).toBe(
        clean(await tasks(world, 'log', id, '--json')),
      );
    }
    expect(clean(await other(world, 'list', '--json'))).toBe(
      clean(await tasks(world, 'list', '--json')),
    );
    // The same once more is no change; one that went on there is another.
    expect(JSON.parse(clean(await other(world, 'import', file, '--json')))).toEqual({
      task_ids: [root, child],
    });
    const env = elsewhere(world);
    clean(await world.run(['tasks', 'resume', root, 'more'], { env }));
    expect(complaint(await other(world, 'import', file))).toMatch(
      /^CONFLICT: there is already a task \w+, and it differs from the one in the file: delete it first$/,
    );
    clean(await other(world, 'delete', root));
    const piped = startMuster(world.sandbox, ['tasks', 'import', '-'], {
      env,
      stdin: readFileSync(file, 'utf8'),
    });
    expect(clean(await piped.finished)).toBe(`${root}\n${child}\n`);
  });

  it('replace no file unless asked to, and leave no incomplete file', async () => {
    await using world = await openWorld({ script: talking });
    clean(await world.run(RUN));
    const { root } = await family(world);
    const { workspace } = world.sandbox;
    const file = world.sandbox.write('out.muster', 'precious');
    expect(complaint(await tasks(world, 'export', root, 'out.muster'))).toBe(
      `CONFLICT: ${file} exists; --force replaces it`,
    );
    expect(readFileSync(file, 'utf8')).toBe('precious');
    const forced = clean(await tasks(world, 'export', root, 'out.muster', '--force', '--json'));
    expect(JSON.parse(forced)).toEqual({ task_id: root, file, bytes: statSync(file).size });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(complaint(await tasks(world, 'export', root, 'no/such/place'))).toBe(
      `NOT_FOUND: ${join(workspace, 'no/such/place')}: there is no directory ${join(workspace, 'no/such')}`,
    );
    expect(readdirSync(workspace)).toEqual(['out.muster']);
  });

  it('import nothing of a broken file', async () => {
    await using world = await openWorld({ script: talking });
    clean(await world.run(RUN));
    const { root } = await family(world);
    const text = clean(await tasks(world, 'export', root));
    const file = world.sandbox.write('cut.muster', text.slice(0, text.length / 2));
    expect(complaint(await other(world, 'import', file))).toMatch(/^INVALID_PARAM: line \d+ /);
    expect(complaint(await other(world, 'import', 'nowhere'))).toMatch(
      /^NOT_FOUND: \S+nowhere does not exist$/,
    );
    expect(complaint(await other(world, 'import', '.'))).toMatch(
      /^INVALID_PARAM: \S+ is a directory, and not a file$/,
    );
    expect(clean(await other(world, 'list'))).toBe('No tasks yet.\n');
  });
});

/** Shows a plan, writes what it may, and writes again with each message that it gets. */
function planned({ messages }: RecordedRequest): Answer {
  const said = JSON.stringify(messages);
  const write = (file_path: string) => ({
    toolCalls: [{ name: 'Write', input: { file_path, content: 'x' } }],
  });
  const has = (text: string) => said.includes(text);
  if (!has('1. Write')) {
    return { toolCalls: [{ name: 'ExitPlanMode', input: { plan: '1. Write two files' } }] };
  }
  if (has('once more')) return has('"second') ? { text: 'over' } : write('second');
  return has('"first') ? { text: 'the first is there' } : write('first');
}

it('approvals from before a log was moved have no effect in its new place', async () => {
  await using world = await openWorld({ script: planned });
  await world.run(['-p', 'go', '--permission-mode', 'plan', '--on-ask', 'park']);
  const [{ id: question = '' } = {}] = JSON.parse(clean(await tasks(world, 'answer', '--json')));
  clean(await world.run(['tasks', 'answer', question, 'always']));
  const made = (name: string) => existsSync(join(world.sandbox.workspace, name));
  expect(made('first')).toBe(true);
  const { root } = await family(world);
  clean(await tasks(world, 'export', root, 'out.muster'));
  clean(await other(world, 'import', 'out.muster'));
  const env = elsewhere(world);
  clean(await world.run(['tasks', 'resume', root, 'once more'], { env }));
  expect(clean(await other(world, 'log', root))).toMatch(/call\.refused/);
  expect(made('second')).toBe(false);
  // Here it was approved.
  clean(await world.run(['tasks', 'resume', root, 'once more']));
  expect(made('second')).toBe(true);
});

describe.concurrent('muster tasks delete and prune', () => {
  it('leave no trace of what they delete', async () => {
    await using world = await openWorld({ script: talking });
    clean(await world.run(RUN));
    const { root, children } = await family(world);
    const { data } = world.sandbox;
    expect(filesWith(data, CANARY).length).toBeGreaterThan(3);
    expect(complaint(await tasks(world, 'delete', root, 'zzzz'))).toMatch(/^NOT_FOUND: /);
    expect((await listed(world)).length).toBe(2);
    const said = clean(await tasks(world, 'delete', root, children[0] ?? '', root));
    expect(said).toBe(
      `${root}  main: go\n${children[0]}  general-purpose: part 1\n2 tasks deleted\n`,
    );
    for (const text of [CANARY, root, children[0] ?? '']) expect(filesWith(data, text)).toEqual([]);
    expect(await listed(world)).toEqual([]);
  });

  it('a child can be deleted alone, and its parent can still be shown', async () => {
    await using world = await openWorld({ script: talking });
    clean(await world.run(RUN));
    const { root, children } = await family(world);
    const deleted = clean(await tasks(world, 'delete', children[0] ?? '', '--json'));
    expect(JSON.parse(deleted)).toEqual({ deleted: children });
    expect((await listed(world)).map(({ id }) => id)).toEqual([root]);
    expect(clean(await tasks(world, 'show', root))).toMatch(/^status +completed/m);
    expect((await world.run(['tasks', 'resume', root, 'more'])).code).toBe(0);
  });

  it('prune takes trees by age, as asked or as configured', async () => {
    await using world = await openWorld({ script: talking });
    clean(await world.run(RUN));
    expect(clean(await tasks(world, 'prune'))).toBe('Nothing to delete.\n');
    expect(clean(await tasks(world, 'prune', '--days', '1'))).toBe('Nothing to delete.\n');
    const config = join(world.sandbox.home, '.config/muster');
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, 'config.toml'), '[store]\nretention_days = 0\n');
    expect(complaint(await tasks(world, 'prune'), 2)).toBe(
      'store.retention_days = 0 keeps tasks forever; say with --days after how many days to delete them',
    );
    const { root, children } = await family(world);
    expect(clean(await tasks(world, 'prune', '--days', '0'))).toBe(
      `${root}  main: go\n${children[0]}  general-purpose: part 1\n2 tasks deleted\n`,
    );
    expect(filesWith(world.sandbox.data, CANARY)).toEqual([]);
  });
});

describe.concurrent('muster tasks export --format atif', () => {
  it('writes the tree as one trajectory without secrets', async () => {
    const secret = 'hush-4f2k9x-hush';
    await using world = await openWorld({
      files: { 'AGENTS.md': `The key is ${secret}.`, 'key.txt': secret },
      script: delegating([delegate('part 1')], (request) =>
        toolResultRounds(request) === 0
          ? { toolCalls: [{ name: 'Read', input: { file_path: 'key.txt' } }] }
          : { text: 'read it' },
      ),
    });
    const env = { DEPLOY_API_KEY: secret };
    clean(await world.run(RUN, { env }));
    const { root, children } = await family(world);
    const exported = (...args: readonly string[]) =>
      runMuster(world.sandbox, ['tasks', 'export', root, ...args, '--format', 'atif'], { env });
    const text = clean(await exported());
    expect(text).not.toContain(secret);
    expect(text).toContain('The key is [');
    const trajectory = JSON.parse(text);
    expect(checkTrajectory(trajectory)).toEqual([]);
    expect(trajectory).toMatchObject({
      trajectory_id: root,
      extra: { status: 'completed' },
      subagent_trajectories: [{ session_id: root, trajectory_id: children[0] }],
    });
    const file = join(world.sandbox.workspace, 'trajectory.json');
    expect(clean(await exported('trajectory.json'))).toContain(`task ${root} is in ${file}`);
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(complaint(await exported('trajectory.json'))).toContain('--force');
    expect(complaint(await tasks(world, 'export', root, '--format', 'csv'), 2)).toContain(
      '--format must be one of muster, atif',
    );
  });
});
