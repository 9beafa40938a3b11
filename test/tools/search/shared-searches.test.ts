import { expect, test } from 'vitest';
import { deferred } from '../../../src/base/async.ts';
import { SharedSearches } from '../../../src/tools/search/shared-searches.ts';

const NEVER = new AbortController().signal;

/** Counts its searches, each of which ends with its number when it is released. */
function startSearches() {
  const searches = new SharedSearches();
  const release = deferred<void>();
  const signals: AbortSignal[] = [];
  const run = (key: string | null, signal: AbortSignal = NEVER): Promise<number> =>
    searches.run(key, signal, async (own) => {
      const number = signals.push(own);
      await release.promise;
      return number;
    });
  return { searches, release, signals, run };
}

test('equal searches that are under way run once, other ones by themselves', async () => {
  const { release, run } = startSearches();
  const results = [run('a'), run('a'), run('b'), run(null), run(null)];
  release.resolve();
  expect(await Promise.all(results)).toEqual([1, 1, 2, 3, 4]);
  expect(await run('a')).toBe(5);
});

test('a search is not shared while something runs that can change files, nor afterwards if it began before', async () => {
  const { searches, release, run } = startSearches();
  const before = run('a');
  const endFirst = searches.beginChange();
  const endSecond = searches.beginChange();
  const during = [run('a'), run('a')];
  endFirst();
  endFirst();
  const stillDuring = run('a');
  endSecond();
  const after = [run('a'), run('a')];
  release.resolve();
  expect(await Promise.all([before, ...during, stillDuring, ...after])).toEqual([1, 2, 3, 4, 5, 5]);
});

test('an aborted call leaves the search to the others, and the last one cancels it', async () => {
  const { release, signals, run } = startSearches();
  const [first, second] = [new AbortController(), new AbortController()];
  const results = [run('a', first.signal), run('a', second.signal)];
  first.abort(new Error('stopped'));
  await expect(results[0]).rejects.toThrow('stopped');
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  second.abort(new Error('stopped, too'));
  await expect(results[1]).rejects.toThrow('stopped, too');
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  await expect(run('a', first.signal)).rejects.toThrow('stopped');
  const next = run('a');
  release.resolve();
  expect(await next).toBe(2);
});

test('all calls get the error of a failed search', async () => {
  const searches = new SharedSearches();
  const fail = () =>
    searches.run('a', NEVER, async () => await Promise.reject(new Error('broken')));
  const results = await Promise.allSettled([fail(), fail()]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(searches.run('a', NEVER, async () => 'works again')).resolves.toBe('works again');
});
