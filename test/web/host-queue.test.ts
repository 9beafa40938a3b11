import { describe, expect, it } from 'vitest';
import { HostQueue } from '../../src/web/host-queue.ts';

const { signal } = new AbortController();

/** Lets everything run that can run. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** A request that enters a queue. */
function enter(queue: HostQueue, host: string, abortable: AbortSignal = signal) {
  const request = { isIn: false, problem: undefined as unknown, leave: () => {} };
  queue.enter(host, abortable).then(
    (leave) => Object.assign(request, { isIn: true, leave }),
    (problem: unknown) => Object.assign(request, { problem }),
  );
  return request;
}

describe('HostQueue', () => {
  it('lets a number of requests to each host run, and others wait in their order', async () => {
    const queue = new HostQueue(2);
    const requests = Array.from({ length: 5 }, () => enter(queue, 'a.example'));
    const other = enter(queue, 'b.example');
    const running = async () => {
      await settle();
      return requests.map(({ isIn }) => isIn);
    };
    expect([await running(), other.isIn]).toEqual([[true, true, false, false, false], true]);
    requests[1]?.leave();
    expect(await running()).toEqual([true, true, true, false, false]);
    requests[0]?.leave();
    requests[2]?.leave();
    expect(await running()).toEqual([true, true, true, true, true]);
    for (const { leave } of requests.slice(3)) leave();
    const later = [enter(queue, 'a.example'), enter(queue, 'a.example'), enter(queue, 'a.example')];
    await settle();
    expect(later.map(({ isIn }) => isIn)).toEqual([true, true, false]);
  });

  it('forgets a request that was aborted while it waited', async () => {
    const queue = new HostQueue(1);
    const first = enter(queue, 'a.example');
    const abort = new AbortController();
    const second = enter(queue, 'a.example', abort.signal);
    const third = enter(queue, 'a.example');
    await settle();
    abort.abort('stop');
    await settle();
    expect([second.isIn, second.problem]).toEqual([false, 'stop']);
    first.leave();
    await settle();
    expect(third.isIn).toBe(true);
    const late = enter(queue, 'b.example', abort.signal);
    await settle();
    expect([late.isIn, late.problem]).toEqual([false, 'stop']);
  });

  it('passes on the turn of a request that is aborted as it gets its turn', async () => {
    const queue = new HostQueue(1);
    const first = enter(queue, 'a.example');
    const abort = new AbortController();
    const second = enter(queue, 'a.example', abort.signal);
    await settle();
    first.leave();
    abort.abort('stop');
    await settle();
    expect(second.isIn).toBe(true);
    second.leave();
    const third = enter(queue, 'a.example');
    await settle();
    expect(third.isIn).toBe(true);
  });
});
