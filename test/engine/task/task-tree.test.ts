import { describe, expect, it } from 'vitest';
import { deferred } from '../../../src/base/async.ts';
import { IdleDetector } from '../../../src/engine/task/task-tree.ts';

/** Waits until all consequences of an end, and the deferred check, have run. */
const soon = () => new Promise<void>((done) => setImmediate(() => setImmediate(done)));

function counted(isWaitedFor: () => boolean = () => true) {
  let stills = 0;
  const idleDetector = new IdleDetector({
    hasOpenQuestion: isWaitedFor,
    onIdle: () => void (stills += 1),
  });
  return { idleDetector, stills: () => stills };
}

describe('a tree', () => {
  it('is idle exactly when all its work waits', async () => {
    const { idleDetector, stills } = counted();
    const [first, second] = [deferred<void>(), deferred<void>()];
    const work = [first, second].map((wait) =>
      idleDetector.trackWork(async () => {
        await Promise.resolve();
        await idleDetector.trackWait(() => wait.promise);
      }),
    );
    expect(stills()).toBe(0);
    await soon();
    expect(stills()).toBe(1);
    first.resolve();
    second.resolve();
    await Promise.all(work);
  });

  it('is not idle when the end of one task lets another continue', async () => {
    const { idleDetector, stills } = counted();
    const child = deferred<void>();
    const slow = deferred<void>();
    const parent = idleDetector.trackWork(async () => {
      await idleDetector.trackWait(() => child.promise);
      await slow.promise;
    });
    const ended = idleDetector.trackWork(async () => {
      await Promise.resolve();
      child.resolve();
    });
    await ended;
    await soon();
    expect(stills()).toBe(0);
    slow.resolve();
    await parent;
  });

  it('is not idle while no question waits, and failed work no longer counts', async () => {
    let isWaitedFor = false;
    const { idleDetector, stills } = counted(() => isWaitedFor);
    const broken = new Error('broken');
    const work = idleDetector.trackWork(() => idleDetector.trackWait(() => Promise.reject(broken)));
    await expect(work).rejects.toBe(broken);
    await soon();
    expect(stills()).toBe(0);
    isWaitedFor = true;
    await idleDetector.trackWork(async () => {});
    await soon();
    expect(stills()).toBe(1);
  });
});
