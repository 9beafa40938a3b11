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

/** The stores of two processes in one data directory: one runs tasks, the other watches them. */
interface Processes extends AsyncDisposable {
  readonly worker: TaskStore;
  readonly watcher: TaskStore;
  /** Makes the worker count as ended. */
  kill(): void;
}

function openProcesses(): Processes {
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

/** Watches tasks, and records each report as a line. */
class WatchRecorder {
  readonly lines: string[] = [];
  readonly end: Promise<WatchEnd>;
  private readonly controller = new AbortController();
  private lineAdded = Promise.withResolvers<void>();

  constructor(store: TaskStore, top: string | null) {
    const add = (line: string) => {
      this.lines.push(line);
      this.lineAdded.resolve();
    };
    const listener: WatchListener = {
      atWork: ({ spec, status }) => add(`at work ${spec.id} ${status}`),
      event: (event, state) =>
        add(`${event.task} ${event.seq} ${describeEvent(event)} ${state.status}`),
      left: ({ spec, status }) => add(`left ${spec.id} ${status}`),
    };
    this.end = watchTasks(store, top, { listener, signal: this.controller.signal });
  }

  /** Resolves to the lines when at least `count` lines have been recorded. */
  async waitForLines(count: number): Promise<readonly string[]> {
    while (this.lines.length < count) {
      this.lineAdded = Promise.withResolvers<void>();
      await this.lineAdded.promise;
    }
    return this.lines;
  }

  async stop(): Promise<void> {
    this.controller.abort();
    expect(await this.end).toBe('aborted');
  }
}

function describeEvent(event: TaskEvent): string {
  return event.type === 'notified' ? event.message : event.type;
}

function appendNotice(log: TaskLog, message: string): void {
  log.append([{ type: 'notified', level: 'info', message }]);
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

/** Waits for the next millisecond, because an event from the millisecond of the start may count as new. */
async function waitForNextMillisecond(): Promise<void> {
  const now = systemClock.now();
  while (systemClock.now() === now) await new Promise(setImmediate);
}

describe('watching one task', () => {
  it('begins with the running tasks, and ends with the watched task', async () => {
    await using two = openProcesses();
    const log = startTask(two.worker, TOP, null);
    const watching = new WatchRecorder(two.watcher, TOP);
    expect(await watching.waitForLines(1)).toEqual([`at work ${TOP} running`]);
    appendNotice(log, 'half way');
    appendChild(log, CHILD, 'child.created');
    const child = startTask(two.worker, CHILD, TOP);
    end(child);
    await watching.waitForLines(7);
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
    await using two = openProcesses();
    const log = startTask(two.worker, TOP, null);
    appendChild(log, CHILD, 'child.created');
    end(startTask(two.worker, CHILD, TOP));
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
    await waitForNextMillisecond();
    const watching = new WatchRecorder(two.watcher, TOP);
    await watching.waitForLines(1);
    const again = two.worker.claim(CHILD);
    appendChild(log, CHILD, 'child.resumed');
    again.append([{ type: 'task.resumed', by: TOP, callId: 'call' }]);
    await watching.waitForLines(4);
    end(again);
    await watching.waitForLines(5);
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
    await using two = openProcesses();
    end(startTask(two.worker, TOP, null));
    const watching = new WatchRecorder(two.watcher, TOP);
    expect([await watching.end, watching.lines]).toEqual(['ended', []]);
  });

  it('ends when the process of the task has ended', async () => {
    await using two = openProcesses();
    startTask(two.worker, TOP, null);
    const watching = new WatchRecorder(two.watcher, TOP);
    await watching.waitForLines(1);
    two.kill();
    expect([await watching.end, watching.lines]).toEqual(['left', [`at work ${TOP} running`]]);
  });
});

const NONE = { tokens: 0, costUsd: 0 };

describe('watching all tasks', () => {
  it('reports tasks that start, that are resumed, and whose process has ended', async () => {
    await using two = openProcesses();
    const old = startTask(two.worker, CHILD, null);
    end(old);
    await waitForNextMillisecond();
    const watching = new WatchRecorder(two.watcher, null);
    const log = startTask(two.worker, TOP, null);
    expect(await watching.waitForLines(3)).toEqual([
      `${TOP} 0 task.created queued`,
      `${TOP} 1 task.claimed queued`,
      `${TOP} 2 task.started running`,
    ]);
    end(log);
    await watching.waitForLines(4);
    const again = two.worker.claim(TOP);
    again.append([{ type: 'task.resumed', by: 'user', callId: null }]);
    expect((await watching.waitForLines(6)).slice(3)).toEqual([
      `${TOP} 3 task.ended completed`,
      `${TOP} 4 task.claimed completed`,
      `${TOP} 5 task.resumed queued`,
    ]);
    two.kill();
    expect((await watching.waitForLines(7)).slice(6)).toEqual([`left ${TOP} interrupted`]);
    await watching.stop();
  });

  it('reports nothing about an ended task that a process only owns', async () => {
    await using two = openProcesses();
    end(startTask(two.worker, CHILD, null));
    await waitForNextMillisecond();
    const watching = new WatchRecorder(two.watcher, null);
    const held = two.worker.claim(CHILD);
    const log = startTask(two.worker, TOP, null);
    await watching.waitForLines(4);
    held.close();
    end(log);
    await watching.waitForLines(5);
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
