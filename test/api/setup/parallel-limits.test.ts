import { describe, expect, it } from 'vitest';
import { limitByOpenFiles } from '../../../src/api/setup/parallel-limits.ts';

describe('the limits of parallel work', () => {
  it.each([
    ['nothing is reduced if the limit is not known', 1000, 1000, null, 1000, 1000],
    ['nothing is reduced if everything fits', 16, 64, 1024, 16, 64],
    ['256 files are enough for fifty tasks', 1000, 1000, 256, 50, 152],
    ['a tiny limit lets one task work', 16, 64, 40, 1, 1],
  ])('%s', (_, parallel, concurrent, limit, maxParallel, maxConcurrent) => {
    const wanted = { maxParallel: parallel, maxConcurrent: concurrent };
    const notice =
      maxParallel === parallel
        ? null
        : `the limit of ${limit} open files (ulimit -n) allows only ${maxParallel} tasks of a tree at a time instead of max_parallel = ${parallel}; the other tasks wait`;
    expect(limitByOpenFiles(wanted, limit)).toEqual({ maxParallel, maxConcurrent, notice });
  });
});
