import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createBranch } from '../../../src/replay/create-branch.ts';
import { foldLog } from '../../../src/engine/task/fold-log.ts';
import { planFiles } from '../../../src/engine/rewind/plan-files.ts';
import { planRewind } from '../../../src/engine/rewind/plan-rewind.ts';
import { rewind } from '../../../src/engine/rewind/rewind.ts';
import type { TaskEvent } from '../../../src/protocol/events/event.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import { openFileStore } from '../../../src/store/file-store.ts';
import { hashContent } from '../../../src/sys/files/read-file.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { call, calls, textsOf, until, type Play } from '../play.ts';
import {
  eventsOf,
  newWorld,
  played,
  rerunDifferences,
  resumed,
  rewound,
  treeOf,
  type World,
} from './world.ts';
import { foldEvents } from '../../../src/protocol/state/fold.ts';

const read = (world: World, name: string) => call('Read', { file_path: world.path(name) });
const write = (world: World, name: string, content: string) =>
  call('Write', { file_path: world.path(name), content });
const edit = (world: World, name: string, from: string, to: string) =>
  call('Edit', { file_path: world.path(name), old_string: from, new_string: to });
const remove = (world: World, name: string) => call('DeleteFile', { file_path: world.path(name) });
const changer = (prompt: string, more = {}) =>
  call('Task', { prompt, description: prompt, subagent_type: 'changer', ...more });

function numbers(world: World, id: string, type: TaskEvent['type']): readonly number[] {
  return eventsOf(world.store, id).flatMap((event) => (event.type === type ? [event.seq] : []));
}

/** Lets the task read a file, then runs `change` on the file. Returns the event right after the read. */
async function changed(world: World, ...work: readonly ReturnType<typeof call>[]) {
  const id = await played(world, {
    main: [calls(read(world, 'a.txt')), ...work.map((each) => calls(each))],
  });
  return { id, to: numbers(world, id, 'call.ended')[0] ?? 0 };
}

function worldWith(files: Readonly<Record<string, string>>): World {
  const world = newWorld(tempDirectory());
  for (const [name, content] of Object.entries(files)) world.put(name, content);
  return world;
}

describe('a rewind does not touch', () => {
  it.each<readonly [string, (world: World, id: string) => void, string]>([
    [
      'changed by hand',
      (world) => world.put('a.txt', 'mine'),
      'was changed since, by another program or by a command',
    ],
    [
      'deleted by hand',
      (world) => fs.rmSync(world.path('a.txt')),
      'was deleted, by another program or by a command',
    ],
    [
      'now a directory',
      (world) => {
        fs.rmSync(world.path('a.txt'));
        fs.mkdirSync(world.path('a.txt'));
      },
      'is a directory now',
    ],
    [
      'now a link',
      (world) => {
        fs.renameSync(world.path('a.txt'), world.path('b.txt'));
        fs.symlinkSync('b.txt', world.path('a.txt'));
      },
      'is reached through a link now',
    ],
    ['read-only', (world) => fs.chmodSync(world.path('a.txt'), 0o444), 'is read-only'],
    [
      'not kept',
      (world) => fs.rmSync(join(world.dataDir, 'former'), { recursive: true }),
      'was changed without a copy of its earlier content (by an older version?)',
    ],
  ])('anything if there is a file that is %s', async (_, meddle, because) => {
    const world = worldWith({ 'a.txt': 'one' });
    const { id, to } = await changed(
      world,
      write(world, 'a.txt', 'two'),
      write(world, 'n.txt', 'new'),
    );
    meddle(world, id);
    const files = treeOf(world);
    const events = eventsOf(world.store, id);
    const plan = await planRewind(world.store, id, { to });
    expect(plan.refused).toEqual([{ path: world.path('a.txt'), because }]);
    await expect(rewind(world.store, plan)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining(`${world.path('a.txt')} ${because}`),
    });
    expect(treeOf(world)).toEqual(files);
    expect(eventsOf(world.store, id)).toEqual(events);
    await world.store.close();
  });

  it('a file that was too large to be backed up', async () => {
    const world = worldWith({ 'a.txt': 'one' });
    fs.writeFileSync(world.path('large'), Buffer.alloc(33 * 1024 * 1024));
    const { id, to } = await changed(world, remove(world, 'large'));
    const { refused } = await planRewind(world.store, id, { to });
    expect(refused).toEqual([
      {
        path: world.path('large'),
        because: 'had more than 33554432 bytes: no copy of such a file is made',
      },
    ]);
    await world.store.close();
  });

  it('a file that usually holds secrets, of which no backup was made', async () => {
    const world = worldWith({ '.env': 'KEY=new' });
    const path = world.path('.env');
    const now = hashContent('KEY=new');
    const at = { seq: 3, ts: 3, until: 3, task: 'task00000001' };
    const change = { path, before: hashContent('KEY=old'), after: now };
    const since = {
      changes: [{ ...at, isImported: false, isPartlyEarlier: false, change }],
      unlisted: [],
      roots: [world.path('.')],
      unreadableLogs: [],
    };
    expect(await planFiles(world.store, since)).toEqual({
      files: [],
      refused: [{ path, because: 'usually contains secrets: no copy of it was made' }],
      left: [],
    });
    await world.store.close();
  });

  it('a task that somebody owns, or that was resumed since it was shown', async () => {
    const world = worldWith({ 'a.txt': 'one' });
    const { id, to } = await changed(world, write(world, 'a.txt', 'two'));
    const plan = await planRewind(world.store, id, { to });
    const other = openFileStore({ dataDir: world.dataDir, durability: 'fast' });
    const owned = other.claim(id);
    await expect(rewind(world.store, plan)).rejects.toMatchObject({ code: 'CONFLICT' });
    owned.close();
    await expect(rewind(world.store, plan)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('has changed since the plan was made'),
    });
    await other.close();
    await world.store.close();
    expect(world.read('a.txt')).toBe('two');
  });

  it('a task with a descendant that is owned', async () => {
    const world = worldWith({ 'a.txt': 'one' });
    const id = await played(world, {
      main: [calls(changer('child'))],
      child: [calls(write(world, 'n.txt', 'new'))],
    });
    const child = Object.keys((await planRewind(world.store, id, { to: 0 })).logs)[1] ?? '';
    const plan = await planRewind(world.store, id, { to: 0 });
    const other = openFileStore({ dataDir: world.dataDir, durability: 'fast' });
    other.claim(child);
    await expect(rewind(world.store, plan)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect([world.read('n.txt'), numbers(world, id, 'task.claimed').length]).toEqual(['new', 1]);
    await other.close();
    await world.store.close();
  });

  it('the effects of commands and of calls with an unknown outcome, which it names', async () => {
    const world = worldWith({ 'a.txt': 'one' });
    const { id, to } = await changed(world, call('Bash', { command: 'echo x > c.txt' }));
    const log = world.store.claim(id);
    log.append([
      { type: 'task.resumed', by: 'user', callId: null },
      { type: 'call.started', callId: 'lost', tool: 'Edit', input: {} },
    ]);
    log.close();
    world.store.claim(id).close();
    expect(await planRewind(world.store, id, { to })).toMatchObject({
      commands: ['echo x > c.txt'],
      unknownCalls: 1,
      files: [],
      refused: [],
    });
    await world.store.close();
  });

  it('anything if no backups are kept', async () => {
    const world = { ...worldWith({ 'a.txt': 'one' }), store: openMemoryStore() };
    const { id, to } = await changed(world, write(world, 'a.txt', 'two'));
    expect((await planRewind(world.store, id, { to })).refused).toHaveLength(1);
    await world.store.close();
  });
});

describe('a rewind that was interrupted', () => {
  const NAME = 'made by hand/a';

  it.each([
    ['of an imported task touches nothing', 1_000],
    ['of a task from here removes the files that it names', null],
  ])('%s', async (_, importedUpTo) => {
    const world = worldWith({ 'a.txt': 'one', [NAME]: 'one' });
    const { id, to } = await changed(world, write(world, 'b.txt', 'two'));
    const { files } = await planRewind(world.store, id, { to });
    const [file] = files;
    if (file === undefined || file.from === null) throw new Error('nothing to remove');
    // Write an event as a forged log could contain it.
    fs.writeFileSync(world.path(NAME), 'two');
    const log = world.store.claim(id);
    const rewound = { to, undoes: null, stint: 1, turns: 1, end: null, dropped: [] };
    const wanted = { path: world.path(NAME), from: file.from, to: null };
    log.append([{ type: 'task.rewound', ...rewound, files: [wanted] }]);
    log.close();
    if (importedUpTo !== null) world.store.importedUpTo = () => importedUpTo;
    await resumed(world, id, { main: [] });
    expect(world.read(NAME)).toBe(importedUpTo === null ? null : 'two');
    expect(fs.existsSync(join(world.path(NAME), '..'))).toBe(importedUpTo !== null);
    expect(eventsOf(world.store, id)).toContainEqual(
      expect.objectContaining({
        type: 'files.restored',
        left:
          importedUpTo === null
            ? []
            : [{ path: world.path(NAME), because: 'its task was imported' }],
      }),
    );
    await world.store.close();
  });

  it('of a descendant has priority over one of the task above', async () => {
    const world = worldWith({ 'a.txt': 'one' });
    const id = await played(world, {
      main: [calls(changer('child'))],
      child: [calls(write(world, 'n.txt', 'new'))],
    });
    const child = world.store.list().find(({ parent }) => parent === id)?.id ?? '';
    const log = world.store.claim(child);
    const rewound = {
      to: 0,
      undoes: null,
      stint: 1,
      turns: 0,
      end: null,
      dropped: [],
      files: [],
    };
    log.append([{ type: 'task.rewound', ...rewound }]);
    log.close();
    expect((await planRewind(world.store, id, { to: 0 })).refused).toEqual([
      {
        path: world.store.logPath(child),
        because: expect.stringContaining('whose rewind is unfinished'),
      },
    ]);
    await world.store.close();
  });
});

describe('after a rewind', () => {
  it('a file is known in its restored version, and can be changed without another read', async () => {
    const world = worldWith({ 'a.txt': 'one' });
    const { id, to } = await changed(world, edit(world, 'a.txt', 'one', 'two'));
    await rewound(world.store, id, { to });
    const main: Play[string] = [calls(), calls(edit(world, 'a.txt', 'one', 'three'))];
    await resumed(world, id, { main });
    expect(world.read('a.txt')).toBe('three');
    expect(await rerunDifferences(world, id)).toEqual([]);
    await world.store.close();
  });

  it('the usage stays counted, and no turn is counted twice', async () => {
    const world = worldWith({ 'a.txt': 'one' });
    const usage = { input: 100, output: 10 };
    const id = await played(world, {
      main: [
        { ...calls(read(world, 'a.txt')), usage },
        { ...calls(write(world, 'a.txt', 'two')), usage },
        { text: 'done', usage },
      ],
    });
    const [to = 0] = numbers(world, id, 'call.ended');
    await rewound(world.store, id, { to });
    expect(foldLog(world.store, id)).toMatchObject({
      turns: 1,
      usage: { input: 300, output: 30 },
      status: 'queued',
      end: null,
      activation: { number: 1, spent: { tokens: 0 } },
    });
    expect(world.store.list()).toMatchObject([
      { status: 'interrupted', ended: null, turns: 1, paidTokens: 330 },
    ]);
    await world.store.close();
  });

  it('an end that existed at that event exists again', async () => {
    const world = worldWith({ 'a.txt': 'one' });
    const { id } = await changed(world);
    const [to = 0] = numbers(world, id, 'task.ended');
    await resumed(
      world,
      id,
      { main: [calls(), calls(), calls(write(world, 'n.txt', 'new'))] },
      { prompt: 'more' },
    );
    expect(world.read('n.txt')).toBe('new');
    await rewound(world.store, id, { to });
    expect(foldLog(world.store, id)).toMatchObject({
      status: 'completed',
      result: 'done',
      turns: 2,
    });
    expect(world.store.list()).toMatchObject([{ status: 'completed', turns: 2 }]);
    expect(world.read('n.txt')).toBeNull();
    await world.store.close();
  });

  it('a branch starts from what still counts', async () => {
    const world = worldWith({ 'a.txt': 'one' });
    const { id, to } = await changed(world, write(world, 'a.txt', 'two'));
    await rewound(world.store, id, { to });
    const last = eventsOf(world.store, id).length - 1;
    const branch = await createBranch(world.store, { id, at: last, hasPrompt: false });
    const of = (task: string) => foldLog(world.store, task).conversation.messages;
    expect(of(branch.id)).toEqual(of(id));
    await world.store.close();
  });

  it('another rewind may lead forward to what the first one cut off', async () => {
    const world = worldWith({ 'a.txt': 'one' });
    const { id, to } = await changed(
      world,
      write(world, 'a.txt', 'two'),
      edit(world, 'a.txt', 'two', 'three'),
    );
    const [, second = 0] = numbers(world, id, 'call.ended');
    await rewound(world.store, id, { to });
    expect(world.read('a.txt')).toBe('one');
    await rewound(world.store, id, { to: second });
    expect(world.read('a.txt')).toBe('two');
    const prefix = eventsOf(world.store, id).filter(({ seq }) => seq <= second);
    expect(foldLog(world.store, id).conversation).toEqual(foldEvents(prefix).conversation);
    await world.store.close();
  });
});

/** Returns true if a descendant of the main task has written such an event. */
function childHas(world: World, type: TaskEvent['type']): boolean {
  const below = world.store.list().filter(({ parent }) => parent !== null);
  return below.some(({ id }) => numbers(world, id, type).length > 0);
}

describe('a task at work next to the one that is rewound', () => {
  it('loses its changes since then, and is not waited for; its model is informed', async () => {
    const world = worldWith({ 'a.txt': 'one' });
    const id = await played(world, {
      main: [
        calls(changer('child', { run_in_background: true })),
        async () => {
          await until(() => childHas(world, 'call.ended'));
          return calls(read(world, 'a.txt'));
        },
        async () => {
          world.put('go', '');
          await until(() => world.read('late.txt') !== null);
          return { text: 'waiting' };
        },
      ],
      child: [
        calls(write(world, 'early.txt', 'early')),
        async () => {
          await until(() => world.read('go') !== null);
          return calls(write(world, 'late.txt', 'late'), write(world, 'early.txt', 'later'));
        },
      ],
    });
    const before = treeOf(world);
    const to = numbers(world, id, 'call.ended')[1] ?? 0;
    const plan = await rewound(world.store, id, { to });
    const [child = ''] = plan.dropped;
    expect(plan).toMatchObject({ tasks: [], dropped: [expect.any(String)], refused: [] });
    expect([world.read('early.txt'), world.read('late.txt')]).toEqual(['early', null]);
    expect(foldLog(world.store, id).openChildren).toEqual(new Set());
    const test = await resumed(world, id, { main: [] });
    expect(textsOf(test.model.requests[0]).at(-1)).toContain(
      `Task ${child} was running at this point, to which this conversation was rewound.`,
    );
    expect(foldLog(world.store, id).status).toBe('completed');
    await rewound(world.store, id, { to: plan.logs[id] ?? 0 });
    expect(treeOf(world)).toEqual(before);
    await world.store.close();
  });
});
