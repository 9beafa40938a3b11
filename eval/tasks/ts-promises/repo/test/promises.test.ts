import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as api from '../src/index.ts';

test('users and groups', async () => {
  const store = new api.MemoryStore();
  await api.saveUser(store, { id: 'a', name: 'Ann' });
  await api.saveUser(store, { id: 'b', name: 'Bob' });
  assert.deepEqual(await api.loadUser(store, 'a'), { id: 'a', name: 'Ann' });
  await assert.rejects(api.loadUser(store, 'x'), { message: 'no user x' });
  await Promise.all(['b', 'x', 'a'].map((member) => api.addMember(store, 'g', member)));
  assert.deepEqual(await api.members(store, 'g'), [{ id: 'b', name: 'Bob' }, { id: 'a', name: 'Ann' }]);
  const lines: string[] = [];
  assert.equal(await api.exportAll(store, (line) => lines.push(line)), 2);
  assert.deepEqual(lines, ['{"id":"a","name":"Ann"}', '{"id":"b","name":"Bob"}']);
});

test('a pool', async () => {
  assert.deepEqual(await api.mapLimit([3, 1, 2], 2, async (n) => api.sleep(n).then(() => n * 2)), [6, 2, 4]);
});
