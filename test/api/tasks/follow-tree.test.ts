import { describe, expect, it } from 'vitest';
import { followTree, type TreeListener } from '../../../src/api/tasks/follow-tree.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { openFileStore } from '../../../src/store/file-store.ts';
import type { ProcessPort } from '../../../src/store/locks/process-identity.ts';
import type { TaskLog, TaskStore } from '../../../src/store/task-store.ts';
import { taskSpec } from '../../store/fixture-data.ts';
import { tempDir } from '../../store/fixtures.ts';

const TOP = 'follow000top';
const NONE = { tokens: 0, costUsd: 0 };

interface Processes extends AsyncDisposable {
  readonly worker: TaskStore;
  readonly watcher: TaskStore;
  /** The number of times that the watcher has read each log. */
  readonly reads: Map<string, number>;
  kill(): void;
}

/** Opens the stores of two processes in one data directory: one runs tasks, the other follows them. */
function openProcesses(): Processes {
  const dataDir = tempDir();
  let isAlive = true;
  const processes: ProcessPort = {
    self: () => ({ pid: 71, startTime: 1, bootId: 'boot', host: 'here' }),
    startTime: (pid) => (pid === 71 && !isAlive ? undefined : 1),
  };
  const worker = openFileStore({ dataDir, durability: 'fast', processes });
  const watcher = openFileStore({ dataDir, durability: 'fast', processes });
  const reads = new Map<string, number>();
  const tail = watcher.openTail.bind(watcher);
  watcher.openTail = (id) => {
    const one = tail(id);
    return {
      read: (visit) => {
        reads.set(id, (reads.get(id) ?? 0) + 1);
        one.read(visit);
      },
    };
  };
  return {
    worker,
    watcher,
    reads,
    kill: () => {
      isAlive = false;
    },
    [Symbol.asyncDispose]: async () => {
      await worker.close();
      await watcher.close();
    },
  };
}

/** Follows a tree, and records each report as a line. */
class FollowRecorder {
  readonly lines: string[] = [];
  private readonly controller = new AbortController();
  private readonly end: Promise<void>;
  private lineAdded = Promise.withResolvers<void>();

  constructor(store: TaskStore) {
    const add = (line: string): void => {
      this.lines.push(line);
      this.lineAdded.resolve();
    };
    const listener: TreeListener = {
      found: ({ spec, status }) => add(`found ${spec.id} ${status}`),
      passedOver: (count) => add(`passed over ${count}`),
      event: (event, { status }) => add(`${event.task} ${event.seq} ${event.type} ${status}`),
      left: ({ spec, status }) => add(`left ${spec.id} ${status}`),
    };
    this.end = followTree(store, TOP, { listener, signal: this.controller.signal });
  }

  /** Resolves when this line has been recorded. */
  async waitForLine(line: string): Promise<void> {
    while (!this.lines.includes(line)) {
      this.lineAdded = Promise.withResolvers<void>();
      await this.lineAdded.promise;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.controller.abort();
    await this.end;
  }
}

function startTask(store: TaskStore, id: string, parent: string | null): TaskLog {
  const log = store.create(taskSpec(id, { root: TOP, parent, depth: parent === null ? 0 : 1 }));
  log.append([{ type: 'task.started' }]);
  return log;
}

function end(log: TaskLog): void {
  const reason = { status: 'completed', error: null, because: 'done', by: null } as const;
  log.append([{ type: 'task.ended', end: reason, result: 'it is there' }]);
  log.close();
}

function appendChild(log: TaskLog, child: string, type: 'child.created' | 'child.resumed'): void {
  log.append([{ type, child, callId: 'call', background: true }]);
}

function appendChildEnd(log: TaskLog, child: string, below: readonly string[] = []): void {
  const ended = { type: 'child.ended', status: 'completed', changed: [], spent: NONE } as const;
  log.append([{ ...ended, child, below }]);
}

/** Waits for the next millisecond, because an event from the millisecond of the start may count as new. */
async function waitForNextMillisecond(): Promise<void> {
  const now = systemClock.now();
  while (systemClock.now() === now) await new Promise(setImmediate);
}

describe('following a tree', () => {
  it('reports the current state, then children that start, nested ones too, and their ends', async () => {
    await using two = openProcesses();
    const log = startTask(two.worker, TOP, null);
    appendChild(log, 'child000one1', 'child.created');
    end(startTask(two.worker, 'child000one1', TOP));
    appendChildEnd(log, 'child000one1');
    await using following = new FollowRecorder(two.watcher);
    await following.waitForLine('found child000one1 completed');
    appendChild(log, 'child000two2', 'child.created');
    const child = startTask(two.worker, 'child000two2', TOP);
    appendChild(child, 'grandchild01', 'child.created');
    end(startTask(two.worker, 'grandchild01', 'child000two2'));
    appendChildEnd(child, 'grandchild01');
    end(child);
    appendChildEnd(log, 'child000two2', ['grandchild01']);
    end(log);
    await following.waitForLine(`${TOP} 7 task.ended completed`);
    expect(following.lines.slice(0, 2)).toEqual([
      `found ${TOP} running`,
      'found child000one1 completed',
    ]);
    expect(following.lines.slice(2).toSorted()).toEqual([
      'child000two2 0 task.created queued',
      'child000two2 1 task.claimed queued',
      'child000two2 2 task.started running',
      'child000two2 3 child.created running',
      'child000two2 4 child.ended running',
      'child000two2 5 task.ended completed',
      `${TOP} 5 child.created running`,
      `${TOP} 6 child.ended running`,
      `${TOP} 7 task.ended completed`,
      'grandchild01 0 task.created queued',
      'grandchild01 1 task.claimed queued',
      'grandchild01 2 task.started running',
      'grandchild01 3 task.ended completed',
    ]);
  });

  it('continues after the end of the tree, and reports an ended child that is resumed', async () => {
    await using two = openProcesses();
    const log = startTask(two.worker, TOP, null);
    appendChild(log, 'child000one1', 'child.created');
    end(startTask(two.worker, 'child000one1', TOP));
    appendChildEnd(log, 'child000one1');
    end(log);
    await using following = new FollowRecorder(two.watcher);
    await following.waitForLine('found child000one1 completed');
    const child = two.worker.claim('child000one1');
    child.append([{ type: 'task.resumed', by: 'user', callId: null }]);
    end(child);
    await following.waitForLine('child000one1 6 task.ended completed');
    const again = two.worker.claim(TOP);
    again.append([{ type: 'task.resumed', by: 'user', callId: null }]);
    await following.waitForLine(`${TOP} 7 task.resumed queued`);
    again.close();
    expect(following.lines).toEqual([
      `found ${TOP} completed`,
      'found child000one1 completed',
      'child000one1 4 task.claimed completed',
      'child000one1 5 task.resumed queued',
      'child000one1 6 task.ended completed',
      `${TOP} 6 task.claimed completed`,
      `${TOP} 7 task.resumed queued`,
    ]);
  });

  it('reports each task whose process has ended, but only once', async () => {
    await using two = openProcesses();
    const log = startTask(two.worker, TOP, null);
    appendChild(log, 'child000one1', 'child.created');
    startTask(two.worker, 'child000one1', TOP);
    await using following = new FollowRecorder(two.watcher);
    await following.waitForLine('found child000one1 running');
    two.kill();
    await following.waitForLine(`left ${TOP} interrupted`);
    await following.waitForLine('left child000one1 interrupted');
    await using late = new FollowRecorder(two.watcher);
    await late.waitForLine('found child000one1 interrupted');
    expect(following.lines.filter((line) => line.startsWith('left')).length).toBe(2);
  });

  it('leaves time for other work while a log names thousands of children', async () => {
    await using two = openProcesses();
    const log = startTask(two.worker, TOP, null);
    const ids = Array.from({ length: 2_000 }, (_, at) => `child${String(at).padStart(7, '0')}`);
    log.append(
      ids.map((child) => ({ type: 'child.created', child, callId: 'call', background: true })),
    );
    const last = ids.at(-1) ?? '';
    end(startTask(two.worker, last, TOP));
    const counted = { inRound: 0, most: 0 };
    const tail = two.watcher.openTail.bind(two.watcher);
    two.watcher.openTail = (id) => {
      const one = tail(id);
      return {
        read: (visit) => {
          if (counted.inRound === 0) setImmediate(() => (counted.inRound = 0));
          counted.inRound += 1;
          counted.most = Math.max(counted.most, counted.inRound);
          one.read(visit);
        },
      };
    };
    await using following = new FollowRecorder(two.watcher);
    await following.waitForLine(`found ${last} completed`);
    log.append([{ type: 'child.created', child: 'childnewest1', callId: 'c', background: true }]);
    end(startTask(two.worker, 'childnewest1', TOP));
    await following.waitForLine('childnewest1 3 task.ended completed');
    expect(counted.most).toBeGreaterThan(0);
    expect(counted.most).toBeLessThan(600);
  });

  it('counts children that ended long ago, and reports those that are running again', async () => {
    await using two = openProcesses();
    const log = startTask(two.worker, TOP, null);
    const ids = Array.from({ length: 700 }, (_, index) => `child${String(index).padStart(7, '0')}`);
    log.append(
      ids.flatMap((child) => [
        { type: 'child.created', child, callId: 'call', background: true } as const,
        {
          type: 'child.ended',
          child,
          status: 'completed',
          changed: [],
          spent: NONE,
          below: [],
        } as const,
      ]),
    );
    const [first = ''] = ids;
    end(startTask(two.worker, first, TOP));
    await waitForNextMillisecond();
    await using following = new FollowRecorder(two.watcher);
    await following.waitForLine('passed over 101');
    appendChild(log, first, 'child.resumed');
    const child = two.worker.claim(first);
    child.append([{ type: 'task.resumed', by: TOP, callId: 'call' }]);
    await following.waitForLine(`${first} 5 task.resumed queued`);
    expect(following.lines).not.toContain(`${first} 3 task.ended completed`);
    // What does not change is not read.
    expect(
      Math.max(...[...two.reads].filter(([id]) => id !== TOP && id !== first).map(([, n]) => n), 0),
    ).toBeLessThan(2);
  });
});
