import { describe, expect, it } from 'vitest';
import type { FilePort } from '../../../src/store/files/file-port.ts';
import { OwnerLocks } from '../../../src/store/locks/owner-locks.ts';
import {
  createProcessPort,
  isProcessGone,
  parseStartTime,
  type ProcessIdentity,
} from '../../../src/store/locks/process-identity.ts';
import { openFileStore } from '../../../src/store/file-store.ts';
import { taskEnded, taskSpec } from '../fixture-data.ts';
import { PowerLossFiles } from '../power-loss-files.ts';
import { fakeProcesses } from '../fake-processes.ts';

describe('isProcessGone', () => {
  const owner: ProcessIdentity = { pid: 42, startTime: 500, bootId: 'boot-1', host: 'here' };
  const ask = (running: ReadonlyMap<number, number | null>, bootId: string | null = 'boot-1') =>
    fakeProcesses({ pid: 7, bootId }, running);

  it.each([
    ['runs', owner, ask(new Map([[42, 500]])), false],
    ['pid gone', owner, ask(new Map()), true],
    ['pid used by a later process', owner, ask(new Map([[42, 501]])), true],
    ['another boot', owner, ask(new Map([[42, 500]]), 'boot-2'), true],
    ['start time unknown: taken for alive', owner, ask(new Map([[42, null]])), false],
    [
      'no boot id, start within rounding',
      { ...owner, bootId: null },
      ask(new Map([[42, 502]]), null),
      false,
    ],
    [
      'no boot id, started later',
      { ...owner, bootId: null },
      ask(new Map([[42, 503]]), null),
      true,
    ],
  ])('%s', (_name, recorded, processes, gone) => {
    expect(isProcessGone(recorded, processes)).toBe(gone);
  });

  it('knows this process, and not an impossible one', () => {
    const processes = createProcessPort();
    expect(isProcessGone(processes.self(), processes)).toBe(false);
    expect(isProcessGone({ ...processes.self(), pid: 2 ** 22 + 1 }, processes)).toBe(true);
    expect(isProcessGone({ ...processes.self(), startTime: 1 }, processes)).toBe(true);
  });

  it('reads start times after any program name, and treats zombies as gone', () => {
    const rest = (state: string) => `${state} ${'1 '.repeat(18)}777 0 0`;
    expect(parseStartTime(`42 (node) ${rest('S')}`)).toBe(777);
    expect(parseStartTime(`42 (a) R 1) b) ${rest('R')}`)).toBe(777);
    expect(parseStartTime(`42 (node) ${rest('Z')}`)).toBeUndefined();
    expect(parseStartTime('')).toBeUndefined();
  });
});

const LOCK = '/locks/task.lock';

class Killed extends Error {}

/** Creates the locks of one of several processes on one disk. `before` runs before each file operation. */
function locksOf(
  disk: PowerLossFiles,
  pid: number,
  alive: Map<number, number>,
  before: () => void,
): OwnerLocks {
  const files = new Proxy<FilePort>(disk, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        before();
        return Reflect.apply(value, target, args);
      };
    },
  });
  return new OwnerLocks(files, fakeProcesses({ pid, startTime: 1 }, alive), '/owners');
}

const nothing = (): void => {};

/** Creates a disk on which process 1 died with the lock. */
function diskWithStaleLock(): PowerLossFiles {
  const disk = new PowerLossFiles();
  disk.makeDirectory('/owners');
  disk.makeDirectory('/locks');
  locksOf(disk, 1, new Map(), nothing).acquire(LOCK);
  return disk;
}

describe('taking over the lock of a dead owner', () => {
  it('gives it to one of two processes, at every step of the first', () => {
    let isDone = false;
    for (let step = 0; !isDone; step += 1) {
      const disk = diskWithStaleLock();
      const alive = new Map([
        [2, 1],
        [3, 1],
      ]);
      let second: number | 'owner' | undefined;
      let count = 0;
      const first =
        locksOf(disk, 2, alive, () => {
          if (count === step)
            second = locksOf(disk, 3, alive, nothing).acquire(LOCK)?.pid ?? 'owner';
          count += 1;
        }).acquire(LOCK)?.pid ?? 'owner';
      isDone = second === undefined;
      const outcome = [first, second ?? locksOf(disk, 3, alive, nothing).acquire(LOCK)?.pid];
      expect([
        ['owner', 2],
        [3, 'owner'],
      ]).toContainEqual(outcome);
      expect(disk.list('/locks')).toEqual(['task.lock']);
    }
  });

  it('does not block the next process if one dies at any step, and never gives it to two', () => {
    let isDone = false;
    for (let step = 0; !isDone; step += 1) {
      const disk = diskWithStaleLock();
      let count = 0;
      try {
        locksOf(disk, 2, new Map(), () => {
          if (count === step) throw new Killed();
          count += 1;
        }).acquire(LOCK);
        isDone = true;
      } catch (thrown) {
        // Its cleanup ran on the dead disk: every operation after the kill failed, too.
        expect(thrown).toBeInstanceOf(Killed);
      }
      const alive = new Map([
        [3, 1],
        [4, 1],
      ]);
      expect(locksOf(disk, 3, alive, nothing).acquire(LOCK)).toBeUndefined();
      expect(locksOf(disk, 4, alive, nothing).acquire(LOCK)).toMatchObject({ pid: 3 });
    }
  });

  it('takes over a lock that a power loss has emptied', () => {
    const disk = diskWithStaleLock();
    disk.truncate(disk.openAppend(LOCK), 0);
    const locks = locksOf(disk, 2, new Map(), nothing);
    expect(locks.findLiveOwner(LOCK)).toBeUndefined();
    expect(locks.acquire(LOCK)).toBeUndefined();
    expect(locks.findLiveOwner(LOCK)).toMatchObject({ pid: 2, host: 'here' });
  });

  it('continues if its own owner file was removed', () => {
    const disk = diskWithStaleLock();
    const locks = locksOf(disk, 2, new Map(), nothing);
    locks.acquire(LOCK);
    for (const name of disk.list('/owners')) disk.unlink(`/owners/${name}`);
    expect(locks.acquire('/locks/other.lock')).toBeUndefined();
  });

  it('removes the owner files of dead processes, and its own at the end', () => {
    const disk = diskWithStaleLock();
    const locks = locksOf(disk, 2, new Map(), nothing);
    locks.acquire(LOCK);
    expect(disk.list('/owners')).toHaveLength(1);
    locks.release(LOCK);
    locks.close();
    expect([disk.list('/owners'), disk.list('/locks')]).toEqual([[], []]);
  });
});

describe('the lock of a task', () => {
  const open = (files: PowerLossFiles, pid: number, alive: readonly number[], bootId = 'boot-1') =>
    openFileStore({
      dataDir: '/data',
      durability: 'fast',
      files,
      processes: fakeProcesses({ pid, bootId }, new Map(alive.map((other) => [other, 100]))),
    });
  const ID = 'task00000001';

  it('names task and process while the owner lives, and its task runs', () => {
    const files = new PowerLossFiles();
    open(files, 1, []).create(taskSpec(ID));
    const other = open(files, 2, [1]);
    expect(() => other.claim(ID)).toThrow(
      'task task00000001 is in use by process 1: stop it there, or wait until it ends',
    );
    expect(other.list()).toMatchObject([{ id: ID, status: 'queued' }]);
  });

  it.each([
    ['gone', open, 2, [], 'boot-1'],
    ['from another boot', open, 2, [1], 'boot-2'],
  ] as const)('is taken over when the owner is %s', (_name, openOther, pid, alive, boot) => {
    const files = new PowerLossFiles();
    open(files, 1, []).create(taskSpec(ID));
    const other = openOther(files, pid, alive, boot);
    expect(other.list()).toMatchObject([{ id: ID, status: 'interrupted' }]);
    expect(other.claim(ID)).toMatchObject({ epoch: 2, opening: [{ pid: 2, epoch: 2, seq: 2 }] });
    expect(other.list()).toMatchObject([{ id: ID, status: 'queued' }]);
  });

  it('is taken over if its process has ended and another process has its pid', () => {
    const files = new PowerLossFiles();
    open(files, 1, []).create(taskSpec(ID));
    const other = openFileStore({
      dataDir: '/data',
      durability: 'fast',
      files,
      // Process 1 runs, but began later than the owner.
      processes: fakeProcesses({ pid: 2 }, new Map([[1, 101]])),
    });
    expect([other.getOwner(ID), other.list()]).toMatchObject([null, [{ status: 'interrupted' }]]);
    expect(other.claim(ID).epoch).toBe(2);
    expect(other.getOwner(ID)).toEqual({ pid: 2, host: 'here', token: other.token });
  });

  it('makes a listing read an ended log again, because it may have been resumed', () => {
    const files = new PowerLossFiles();
    const first = open(files, 1, []);
    const log = first.create(taskSpec(ID));
    log.append([taskEnded()]);
    log.close();
    first.claim(ID).append([{ type: 'task.resumed', by: 'user', callId: null }]);
    expect(open(files, 2, [1]).list()).toMatchObject([{ id: ID, status: 'queued', ended: null }]);
    expect(open(files, 2, []).list()).toMatchObject([{ id: ID, status: 'interrupted' }]);
  });
});
