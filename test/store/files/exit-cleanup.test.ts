import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { openMemoryStore } from '../../../src/store/memory-store.ts';

it('needs one exit listener for all stores in memory, which ends with the last one', async () => {
  const before = process.listenerCount('exit');
  const stores = Array.from({ length: 12 }, () => openMemoryStore());
  const directories = stores.map((store) => dirname(store.createSpillFile('abcdefgh01', 'call')));
  expect([
    process.listenerCount('exit') - before,
    new Set(directories).size,
    directories.every((directory) => existsSync(directory)),
  ]).toEqual([1, 12, true]);
  for (const store of stores) await store.close();
  expect([
    process.listenerCount('exit') - before,
    directories.filter((directory) => existsSync(directory)),
  ]).toEqual([0, []]);
});
