import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { planRewind } from '../../../src/engine/rewind/plan-rewind.ts';
import { rewind } from '../../../src/engine/rewind/rewind.ts';
import { openFileStore } from '../../../src/store/file-store.ts';
import {
  WorkspaceChanges,
  type ChangeObservation,
} from '../../../src/sys/files/changes/workspace-changes.ts';
import { hashContent } from '../../../src/sys/files/read-file.ts';
import { builtinTools } from '../../../src/tools/index.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { call, calls, eventsOfType, play, toldTo, until, type Play } from '../play.ts';
import { testEngine, WORKER } from '../support.ts';

const NAMES = ['Read', 'Edit', 'Write', 'DeleteFile', 'Bash', 'Task', 'TaskOutput', 'TaskStop'];
const HELPER = { ...WORKER, name: 'helper', tools: { mode: 'allow', names: NAMES } } as const;

/** A workspace with these files, and an engine that finds what commands change in it. */
function openWorkspace(files: Readonly<Record<string, string>>) {
  const base = tempDirectory();
  const root = join(base, 'work');
  fs.mkdirSync(root);
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(join(root, name), text);
  const changes = new WorkspaceChanges({ excluded: [], now: Date.now });
  const store = openFileStore({ dataDir: join(base, 'data'), durability: 'fast' });
  onTestFinished(async () => {
    changes.close();
    await store.close();
  });
  const path = (name: string): string => join(root, name);
  const open = (parts: Play) =>
    testEngine(play(parts), {
      root,
      store,
      changes: async () => changes,
      tools: builtinTools().filter(({ name }) => NAMES.includes(name)),
      agent: HELPER,
      agents: [HELPER],
    });
  const run = async (parts: Play) => {
    const engine = open(parts);
    const main = engine.start('main');
    await main.end.written;
    return { engine, id: main.spec.id, state: main.state };
  };
  const read = (name: string): string | null =>
    fs.existsSync(path(name)) ? fs.readFileSync(path(name), 'utf8') : null;
  /** Lets the observations of commands fail. */
  const breakChanges = (broken: Partial<ChangeObservation>): void => {
    const begin = changes.begin.bind(changes);
    changes.begin = async (...args) => ({ ...(await begin(...args)), ...broken });
  };
  return { root, path, open, run, read, store, breakChanges };
}

function bash(command: string, rest: { readonly run_in_background?: boolean } = {}) {
  return call('Bash', { command, ...rest });
}

function helper(prompt: string, rest: { readonly run_in_background?: boolean } = {}) {
  return call('Task', { prompt, description: prompt, subagent_type: 'helper', ...rest });
}

describe('a file that a command of another task has changed', () => {
  test('is not overwritten by a task that has read it before, and the refusal names the task', async () => {
    const at = openWorkspace({ 'a.txt': 'one two\n' });
    const edit = { file_path: at.path('a.txt'), old_string: 'two', new_string: 'three' };
    const ended = () => eventsOfType(engine, 'call.ended').map(({ tool }) => tool);
    const engine = at.open({
      main: [
        calls(
          helper('ada', { run_in_background: true }),
          helper('bob', { run_in_background: true }),
        ),
      ],
      ada: [
        calls(call('Read', { file_path: at.path('a.txt') })),
        async () => {
          await until(() => ended().includes('Bash'));
          return calls(call('Edit', edit));
        },
      ],
      bob: [
        async () => {
          await until(() => ended().includes('Read'));
          return calls(bash('sed -i s/one/1/ a.txt'));
        },
      ],
    });
    await engine.start('main').end.written;
    const bob = eventsOfType(engine, 'task.created').find(({ spec }) => spec.prompt === 'bob');
    expect(toldTo(engine, 'ada').join('\n')).toContain(
      `a.txt was changed by task ${bob?.task} (helper) since it was read: Read it again before changing it.`,
    );
    expect(at.read('a.txt')).toBe('1 two\n');
  });

  test('is named to the parent that has read it, and stands in the receipt of both', async () => {
    const at = openWorkspace({ 'a.txt': 'one\n', 'b.txt': 'two\n' });
    const { engine, state } = await at.run({
      main: [calls(call('Read', { file_path: at.path('a.txt') })), calls(helper('bob'))],
      bob: [calls(bash('echo 1 > a.txt; rm b.txt; echo new > n.txt; chmod 755 n.txt'))],
    });
    const told = toldTo(engine, 'main').join('\n');
    expect(told).toContain(`[Changed since you read it: ${JSON.stringify(at.path('a.txt'))}.`);
    expect(told).toContain(
      'changed: a.txt (by command), b.txt (deleted, by command), n.txt (new, by command) · commands: ',
    );
    expect([...state.filesChanged.keys()]).toEqual(['a.txt', 'b.txt', 'n.txt'].map(at.path));
  });
});

test('a command that changes nothing has an empty list, and its output is the same', async () => {
  const at = openWorkspace({ 'a.txt': 'one\n' });
  const { engine } = await at.run({ main: [calls(bash('cat a.txt'))] });
  expect(eventsOfType(engine, 'call.ended').map(({ text, facts }) => ({ text, facts }))).toEqual([
    {
      text: 'one\n[exit code 0]',
      facts: { commands: [{ command: 'cat a.txt', exitCode: 0 }], changed: [] },
    },
  ]);
});

test('a command keeps its outcome if its changes cannot be found', async () => {
  const at = openWorkspace({ 'a.txt': 'one\n' });
  const broken = { end: () => Promise.reject(new Error('EIO')) };
  at.breakChanges(broken);
  const { engine } = await at.run({ main: [calls(bash('cat a.txt'))] });
  const path = at.root;
  expect(eventsOfType(engine, 'call.ended').map(({ text, facts }) => ({ text, facts }))).toEqual([
    {
      text: 'one\n[exit code 0]',
      facts: {
        commands: [{ command: 'cat a.txt', exitCode: 0 }],
        changed: [],
        unlisted: [{ path, reason: 'untracked', detail: 'they could not be found: EIO' }],
      },
    },
  ]);
});

test('processes that a command leaves stand in its record', async () => {
  const at = openWorkspace({});
  const { engine } = await at.run({ main: [calls(bash('sleep 300 > /dev/null 2>&1 & true'))] });
  expect(eventsOfType(engine, 'call.ended')[0]?.facts.commands).toEqual([
    {
      command: 'sleep 300 > /dev/null 2>&1 & true',
      exitCode: 0,
      left: { count: 1, commands: ['sleep 300'] },
    },
  ]);
});

test('a command in the background records its changes and their times when it ends', async () => {
  const at = openWorkspace({ 'a.txt': 'one\n' });
  const engine = at.open({
    main: [
      calls(bash('echo 1 > a.txt', { run_in_background: true })),
      async () => {
        await until(() => eventsOfType(engine, 'shell.ended').length === 1);
        return { text: 'done' };
      },
    ],
  });
  const main = engine.start('main');
  await main.end.written;
  const change = {
    path: at.path('a.txt'),
    before: hashContent('one\n'),
    after: hashContent('1\n'),
    byCommand: true,
    since: expect.any(Number),
    until: expect.any(Number),
  };
  expect(eventsOfType(engine, 'shell.ended')[0]?.changed).toEqual([change]);
  expect([...main.state.filesChanged.values()]).toEqual([change]);
});

describe('a rewind', () => {
  test('puts back what commands have changed, and a tool together with them', async () => {
    const at = openWorkspace({
      'a.txt': 'a',
      'b.txt': 'b',
      'c.sh': 'c',
      'd.txt': 'd',
      'e.txt': 'e',
    });
    const write = (name: string, content: string) =>
      call('Write', { file_path: at.path(name), content });
    const read = (name: string) => call('Read', { file_path: at.path(name) });
    const { id } = await at.run({
      main: [
        calls(bash('echo 1 > a.txt; rm b.txt; chmod 755 c.sh; mkdir new; echo x > new/n.txt')),
        calls(read('d.txt'), read('a.txt')),
        calls(write('d.txt', 'by a tool'), write('a.txt', 'by a tool')),
        calls(bash('echo 2 >> d.txt; echo 3 > e.txt; ln -s x link; mkdir node_modules')),
      ],
    });
    fs.writeFileSync(at.path('e.txt'), 'by the user');
    const plan = await planRewind(at.store, id, { to: 0 });
    expect(plan).toMatchObject({ refused: [], commands: [], unknownCalls: 0 });
    expect(plan.left).toEqual([
      {
        path: at.path('node_modules'),
        because: 'was changed by a command: its files are not listed',
      },
      { path: at.path('e.txt'), because: 'was changed since, by another program or by a command' },
      {
        path: at.path('link'),
        because: 'was made or changed by a command as a symbolic link, and links are not restored',
      },
    ]);
    expect((await rewind(at.store, plan)).left).toEqual([]);
    const names = ['a.txt', 'b.txt', 'c.sh', 'd.txt', 'e.txt', 'new'];
    expect(names.map(at.read)).toEqual(['a', 'b', 'c', 'd', 'by the user', null]);
    expect(fs.statSync(at.path('c.sh')).mode & 0o777).toBe(0o644);
    await rewind(at.store, await planRewind(at.store, id, 'undo'));
    expect([at.read('a.txt'), at.read('b.txt'), at.read('new/n.txt')]).toEqual([
      'by a tool',
      null,
      'x\n',
    ]);
  });

  test('takes away special permission bits, and names those that it does not give back', async () => {
    const at = openWorkspace({ 'a.sh': 'a', 'b.sh': 'b', 'c.sh': 'c' });
    for (const name of ['b.sh', 'c.sh']) fs.chmodSync(at.path(name), 0o4755);
    const { id } = await at.run({
      main: [calls(bash('chmod u+s a.sh; chmod u-s b.sh; touch c.sh'))],
    });
    const plan = await planRewind(at.store, id, { to: 0 });
    expect(plan).toMatchObject({
      refused: [],
      left: [
        {
          path: at.path('b.sh'),
          because: 'was changed by a command, and its special permission bits are not restored',
        },
      ],
    });
    await rewind(at.store, plan);
    const modes = ['a.sh', 'b.sh', 'c.sh'].map((name) => fs.statSync(at.path(name)).mode & 0o7777);
    expect(modes).toEqual([0o644, 0o755, 0o4755]);
  });

  test('names a file whose previous content is not known', async () => {
    const at = openWorkspace({ large: 'x'.repeat(300_000) });
    const { id } = await at.run({ main: [calls(bash('echo 1 > large; echo x > n.txt'))] });
    const plan = await planRewind(at.store, id, { to: 0 });
    expect({ left: plan.left, files: plan.files.map(({ path }) => path) }).toEqual({
      left: [
        {
          path: at.path('large'),
          because: 'was changed by a command, and its previous content is not known',
        },
      ],
      files: [at.path('n.txt')],
    });
  });

  test('to the middle of a command in the background leaves what it changed before and after', async () => {
    const at = openWorkspace({ 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' });
    const wait = (name: string) => `until [ -e ${name} ]; do sleep 0.01; done`;
    const script = `echo 1 > a.txt; echo 1 > b.txt; touch started; ${wait('go')}; echo 2 > b.txt; echo 2 > c.txt`;
    const engine = at.open({
      main: [
        calls(bash(script, { run_in_background: true })),
        calls(bash(wait('started'))),
        calls(bash('true')),
        calls(call('Write', { file_path: at.path('go'), content: '' })),
        async () => {
          await until(() => eventsOfType(engine, 'shell.ended').length === 1);
          return { text: 'done' };
        },
      ],
    });
    const main = engine.start('main');
    await main.end.written;
    const { id } = main.spec;
    const ends = eventsOfType(engine, 'call.ended');
    const [, , third] = ends;
    const plan = await planRewind(at.store, id, { to: third?.seq ?? 0, only: 'files' });
    // The command may see the file, and end, before or after the end of the call that writes it is recorded.
    const restored = new Map(plan.files.map(({ path, to }) => [path, to?.hash ?? null]));
    expect(restored).toEqual(
      new Map([
        [at.path('go'), null],
        [at.path('c.txt'), hashContent('c')],
      ]),
    );
    expect(plan.left).toEqual([
      {
        path: at.path('b.txt'),
        because: 'was changed by a command, and its previous content is not known',
      },
    ]);
  });
});
