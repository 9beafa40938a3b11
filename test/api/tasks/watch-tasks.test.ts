import { describe, expect, it } from 'vitest';
import {
  watchTasks,
  type WatchEnd,
  type WatchListener,
} from '../../../src/api/tasks/watch-tasks.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { TaskEvent } from '../../../src/protocol/events/event.ts';
import { openFileStore } from '../../../src/store/file-store.ts';
import type { ProcessPort } from '../../../src/store/locks/process-identity.ts';
import type { TaskLog, TaskStore } from '../../../src/store/task-store.ts';
import { taskSpec } from '../../store/fixture-data.ts';
import { tempDir } from '../../store/fixtures.ts';

const TOP = 'watch0000top';
const CHILD = 'watch00child';

/** Two processes on one data directory: one works, the other watches. */
interface Terminals extends AsyncDisposable {
  readonly worker: TaskStore;
  readonly watcher: TaskStore;
  /** From now on the worker is gone. */
  kill(): void;
}

function terminals(): Terminals {
  const dataDir = tempDir();
  let isAlive = true;
  const processes: ProcessPort = {
    self: () => ({ pid: 71, startTime: 1, bootId: 'boot', host: 'here' }),
    startTime: (pid) => (pid === 71 && !isAlive ? undefined : 1),
  };
  const worker = openFileStore({ dataDir, durability: 'fast', processes });
  const watcher = openFileStore({ dataDir, durability: 'fast', processes });
  return {
    worker,
    watcher,
    kill: () => {
      isAlive = false;
    },
    [Symbol.asyncDispose]: async () => {
      await worker.close();
      await watcher.close();
    },
  };
}

/** Watches, and tells line by line what it was told of. */
class Watching {
  readonly lines: string[] = [];
  readonly end: Promise<WatchEnd>;
  private readonly controller = new AbortController();
  private told = Promise.withResolvers<void>();

  constructor(store: TaskStore, top: string | null) {
    const add = (line: string) => {
      this.lines.push(line);
      this.told.resolve();
    };
    const listener: WatchListener = {
      atWork: ({ spec, status }) => add(`at work ${spec.id} ${status}`),
      event: (event, state) => add(`${event.task} ${event.seq} ${named(event)} ${state.status}`),
      left: ({ spec, status }) => add(`left ${spec.id} ${status}`),
    };
    this.end = watchTasks(store, top, { listener, signal: this.controller.signal });
  }

  /** Resolves when as many lines were told. */
  async lineCount(count: number): Promise<readonly string[]> {
    while (this.lines.length < count) {
      this.told = Promise.withResolvers<void>();
      await this.told.promise;
    }
    return this.lines;
  }

  async stop(): Promise<void> {
    this.controller.abort();
    expect(await this.end).toBe('aborted');
  }
}

function named(event: TaskEvent): string {
  return event.type === 'notified' ? event.message : event.type;
}

function note(log: TaskLog, message: string): void {
  log.append([{ type: 'notified', level: 'info', message }]);
}

function begin(store: TaskStore, id: string, parent: string | null): TaskLog {
  const log = store.create(taskSpec(id, { root: TOP, parent, depth: parent === null ? 0 : 1 }));
  log.append([{ type: 'task.started' }]);
  return log;
}

function end(log: TaskLog): void {
  const reason = { status: 'completed', error: null, because: 'done', by: null } as const;
  log.append([{ type: 'task.ended', end: reason, result: 'it is there' }]);
  log.close();
}

function announce(log: TaskLog, child: string, type: 'child.created' | 'child.resumed'): void {
  log.append([{ type, child, callId: 'call', background: true }]);
}

/** What is written in the same millisecond as the watch begins may count as new. */
async function past(): Promise<void> {
  const now = systemClock.now();
  while (systemClock.now() === now) await new Promise(setImmediate);
}

describe('watching one task', () => {
  it('begins with the tasks at work, and ends with the watched task', async () => {
    await using two = terminals();
    const log = begin(two.worker, TOP, null);
    const watching = new Watching(two.watcher, TOP);
    expect(await watching.lineCount(1)).toEqual([`at work ${TOP} running`]);
    note(log, 'half way');
    announce(log, CHILD, 'child.created');
    const child = begin(two.worker, CHILD, TOP);
    end(child);
    await watching.lineCount(7);
    end(log);
    expect(await watching.end).toBe('ended');
    expect(watching.lines).toEqual([
      `at work ${TOP} running`,
      `${TOP} 3 half way running`,
      `${TOP} 4 child.created running`,
      `${CHILD} 0 task.created queued`,
      `${CHILD} 1 task.claimed queued`,
      `${CHILD} 2 task.started running`,
      `${CHILD} 3 task.ended completed`,
      `${TOP} 5 task.ended completed`,
    ]);
  });

  it('follows a child that continues after its end, and repeats nothing', async () => {
    await using two = terminals();
    const log = begin(two.worker, TOP, null);
    announce(log, CHILD, 'child.created');
    end(begin(two.worker, CHILD, TOP));
    log.append([
      {
        type: 'child.ended',
        child: CHILD,
        status: 'completed',
        changed: [],
        spent: NONE,
        below: [],
      },
    ]);
    await past();
    const watching = new Watching(two.watcher, TOP);
    await watching.lineCount(1);
    const again = two.worker.claim(CHILD);
    announce(log, CHILD, 'child.resumed');
    again.append([{ type: 'task.resumed', by: TOP, callId: 'call' }]);
    await watching.lineCount(4);
    end(again);
    await watching.lineCount(5);
    end(log);
    expect(await watching.end).toBe('ended');
    expect(watching.lines.toSorted()).toEqual(
      [
        `at work ${TOP} running`,
        `${TOP} 5 child.resumed running`,
        `${CHILD} 4 task.claimed completed`,
        `${CHILD} 5 task.resumed queued`,
        `${CHILD} 6 task.ended completed`,
        `${TOP} 6 task.ended completed`,
      ].toSorted(),
    );
  });

  it('ends at once if the task has ended', async () => {
    await using two = terminals();
    end(begin(two.worker, TOP, null));
    const watching = new Watching(two.watcher, TOP);
    expect([await watching.end, watching.lines]).toEqual(['ended', []]);
  });

  it('ends when the process of the task is gone', async () => {
    await using two = terminals();
    begin(two.worker, TOP, null);
    const watching = new Watching(two.watcher, TOP);
    await watching.lineCount(1);
    two.kill();
    expect([await watching.end, watching.lines]).toEqual(['left', [`at work ${TOP} running`]]);
  });
});

const NONE = { tokens: 0, costUsd: 0 };

describe('watching all tasks', () => {
  it('shows tasks that start, that are resumed, and that their process has left', async () => {
    await using two = terminals();
    const old = begin(two.worker, CHILD, null);
    end(old);
    await past();
    const watching = new Watching(two.watcher, null);
    const log = begin(two.worker, TOP, null);
    expect(await watching.lineCount(3)).toEqual([
      `${TOP} 0 task.created queued`,
      `${TOP} 1 task.claimed queued`,
      `${TOP} 2 task.started running`,
    ]);
    end(log);
    await watching.lineCount(4);
    const again = two.worker.claim(TOP);
    again.append([{ type: 'task.resumed', by: 'user', callId: null }]);
    expect((await watching.lineCount(6)).slice(3)).toEqual([
      `${TOP} 3 task.ended completed`,
      `${TOP} 4 task.claimed completed`,
      `${TOP} 5 task.resumed queued`,
    ]);
    two.kill();
    expect((await watching.lineCount(7)).slice(6)).toEqual([`left ${TOP} interrupted`]);
    await watching.stop();
  });

  it('reports nothing about an ended task that a process merely holds', async () => {
    await using two = terminals();
    end(begin(two.worker, CHILD, null));
    await past();
    const watching = new Watching(two.watcher, null);
    const held = two.worker.claim(CHILD);
    const log = begin(two.worker, TOP, null);
    await watching.lineCount(4);
    held.close();
    end(log);
    await watching.lineCount(5);
    await watching.stop();
    expect(watching.lines.toSorted()).toEqual([
      `${TOP} 0 task.created queued`,
      `${TOP} 1 task.claimed queued`,
      `${TOP} 2 task.started running`,
      `${TOP} 3 task.ended completed`,
      `${CHILD} 4 task.claimed completed`,
    ]);
  });
});
