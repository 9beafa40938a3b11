import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import type { StorePort } from '../../src/protocol/store-port.ts';
import { PortReplica } from '../../src/store/port-replica.ts';
import { memoryStore } from '../../src/testing/index.ts';

function notice(task: string, seq: number): TaskEvent {
  return { v: 1, seq, ts: 0, task, epoch: 1, type: 'notified', level: 'info', message: '' };
}

function replicate(change: (good: StorePort) => Partial<StorePort>, callMs?: number) {
  const good = memoryStore();
  const appends: number[][] = [];
  const counted: StorePort = {
    ...good,
    async append(id, epoch, events) {
      appends.push(events.map(({ seq }) => seq));
      return await good.append(id, epoch, events);
    },
  };
  const cancelled: string[] = [];
  const replica = new PortReplica(
    { ...counted, ...change(counted) },
    { onCancelRequested: (id) => cancelled.push(id), ...(callMs === undefined ? {} : { callMs }) },
  );
  return { replica, good, appends, cancelled };
}

const never = new Promise<never>(() => {});

test('events that are added during a call are stored with the next call', async () => {
  const { replica, appends } = replicate(() => ({}));
  const id = newId();
  replica.addTask({ id, root: id, parent: null });
  replica.addEvents(id, [notice(id, 0)]);
  replica.addEvents(id, [notice(id, 1)]);
  await replica.sync(id);
  for (const seq of [2, 3, 4]) replica.addEvents(id, [notice(id, seq)]);
  await replica.sync(id);
  expect(appends).toEqual([
    [0, 1],
    [2, 3, 4],
  ]);
});

test.each([
  ['append', () => ({ append: () => never }), 'TIMEOUT', /append\(.*no answer in 0\.05 s/],
  ['create', () => ({ create: () => never }), 'TIMEOUT', /create\(.*no answer in 0\.05 s/],
  ['putBlob', () => ({ putBlob: () => never }), 'TIMEOUT', /putBlob\(.*no answer in 0\.05 s/],
  [
    'a call that throws at once',
    () => ({
      append: () => {
        throw new Error('no connection');
      },
    }),
    'INTERNAL_ERROR',
    /append\(.*no connection/,
  ],
] as const)(
  'a failure of %s is told by every later sync, and nothing more is stored',
  async (_name, change, code, message) => {
    const { replica, appends } = replicate(change, 50);
    const id = newId();
    replica.addBlob('0'.repeat(64), Buffer.from('x'));
    replica.addTask({ id, root: id, parent: null });
    replica.addEvents(id, [notice(id, 0)]);
    const error = { code, message: expect.stringMatching(message) };
    await expect(replica.sync(id)).rejects.toMatchObject(error);
    replica.addEvents(id, [notice(id, 1)]);
    await expect(replica.sync(id)).rejects.toMatchObject(error);
    expect(appends).toEqual([]);
    await replica.close();
  },
);

test('a requested stop is reported once for each owner', async () => {
  const { replica, good, cancelled } = replicate(() => ({}));
  const id = newId();
  replica.addTask({ id, root: id, parent: null });
  for (const seq of [0, 1, 2]) {
    replica.addEvents(id, [notice(id, seq)]);
    await replica.sync(id);
    if (seq === 0) await good.requestCancel(id);
  }
  expect(cancelled).toEqual([id]);
  replica.addOwner(id);
  await replica.sync(id);
  await good.requestCancel(id);
  replica.addEvents(id, [notice(id, 3)]);
  await replica.sync(id);
  expect(cancelled).toEqual([id, id]);
});
