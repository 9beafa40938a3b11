import { describe, expect, it } from 'vitest';
import { deferred } from '../../../src/base/async.ts';
import { Standstill } from '../../../src/engine/limits/idle-detector.ts';

/** After all that follows from what has just ended, and the look after it. */
const soon = () => new Promise<void>((done) => setImmediate(() => setImmediate(done)));

function counted(isWaitedFor: () => boolean = () => true) {
  let stills = 0;
  const standstill = new Standstill({ isWaitedFor, onStandstill: () => void (stills += 1) });
  return { standstill, stills: () => stills };
}

describe('a standstill', () => {
  it('is when all that is at work waits, and not before', async () => {
    const { standstill, stills } = counted();
    const [first, second] = [deferred<void>(), deferred<void>()];
    const work = [first, second].map((wait) =>
      standstill.working(async () => {
        await Promise.resolve();
        await standstill.waiting(() => wait.promise);
      }),
    );
    expect(stills()).toBe(0);
    await soon();
    expect(stills()).toBe(1);
    first.resolve();
    second.resolve();
    await Promise.all(work);
  });

  it('is none where the end of one wakes another', async () => {
    const { standstill, stills } = counted();
    const child = deferred<void>();
    const slow = deferred<void>();
    const parent = standstill.working(async () => {
      await standstill.waiting(() => child.promise);
      await slow.promise;
    });
    const ended = standstill.working(async () => {
      await Promise.resolve();
      child.resolve();
    });
    await ended;
    await soon();
    expect(stills()).toBe(0);
    slow.resolve();
    await parent;
  });

  it('is none where nothing is waited for, and work that fails counts no more', async () => {
    let isWaitedFor = false;
    const { standstill, stills } = counted(() => isWaitedFor);
    const broken = new Error('broken');
    const work = standstill.working(() => standstill.waiting(() => Promise.reject(broken)));
    await expect(work).rejects.toBe(broken);
    await soon();
    expect(stills()).toBe(0);
    isWaitedFor = true;
    await standstill.working(async () => {});
    await soon();
    expect(stills()).toBe(1);
  });
});
