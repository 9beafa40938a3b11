import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { replaceDrawTime } from './draw-time.ts';

/**
 * Gives the tests of a file or a `describe` virtual time: timers fire when a test waits for the screen, without delay.
 * Such tests cannot run at the same time as others of their file, and must not wait for timers of processes, which
 * would fire too early.
 */
export function useVirtualTime(): void {
  let restore = (): void => {};
  // It is loaded for the first code on a screen. Once it is in memory, that takes no real time.
  beforeAll(() => import('highlight.js/lib/common'));
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
    restore = replaceDrawTime(async (ms) => {
      await realWork();
      await vi.advanceTimersByTimeAsync(ms);
    });
  });
  afterEach(() => {
    restore();
    vi.useRealTimers();
  });
}

/** Waits for modules that are being loaded and files that are being read, whose time is real. */
async function realWork(): Promise<void> {
  await vi.dynamicImportSettled();
  while (process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'))) {
    await nextTurn();
  }
}
