import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { deferred, rejectOnAbort } from '../../src/base/async.ts';

describe('a promise that ends with a signal', () => {
  it('settles as the promise does, and leaves no listener behind', async () => {
    const { signal } = new AbortController();
    await expect(rejectOnAbort(Promise.resolve('done'), signal)).resolves.toBe('done');
    await expect(rejectOnAbort(Promise.reject(new Error('broken')), signal)).rejects.toThrow(
      'broken',
    );
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('rejects with the reason of the signal, also if the signal has aborted before', async () => {
    const controller = new AbortController();
    const waiting = rejectOnAbort(deferred<void>().promise, controller.signal);
    controller.abort('stopped');
    await expect(waiting).rejects.toBe('stopped');
    const later = rejectOnAbort(deferred<void>().promise, controller.signal);
    await expect(later).rejects.toBe('stopped');
  });
});
