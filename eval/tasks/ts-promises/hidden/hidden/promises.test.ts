import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as api from '../src/index.ts';

const { addMember, exportAll, loadGroup, loadUser, mapLimit, members, MemoryStore, NotFoundError, retry, saveUser, sleep, withLock } = api;

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));
const reason = new Error('enough');
const aborted = AbortSignal.abort(reason);

/** A store that notes its calls, and can fail or wait. */
class NotedStore extends MemoryStore {
  calls: string[] = [];
  signals: (AbortSignal | undefined)[] = [];
  before: (call: string) => unknown = () => undefined;

  private async note(call: string, signal?: AbortSignal) {
    this.calls.push(call);
    this.signals.push(signal);
    await this.before(call);
  }
  async read(key: string, signal?: AbortSignal) {
    await this.note(`read ${key}`, signal);
    return super.read(key, signal);
  }
  async write(key: string, text: string, signal?: AbortSignal) {
    await this.note(`write ${key}`, signal);
    return super.write(key, text, signal);
  }
  async remove(key: string, signal?: AbortSignal) {
    await this.note(`remove ${key}`, signal);
    return super.remove(key, signal);
  }
  async keys(signal?: AbortSignal) {
    await this.note('keys', signal);
    return super.keys(signal);
  }
}

async function example(): Promise<NotedStore> {
  const store = new NotedStore();
  for (const id of ['d', 'a', 'c', 'b']) await saveUser(store, { id, name: id.toUpperCase() });
  store.calls = [];
  store.signals = [];
  return store;
}

test('the old names are gone, and nothing takes a callback', () => {
  assert.deepEqual(
    Object.keys(api).toSorted(),
    ['MemoryStore', 'NotFoundError', 'addMember', 'exportAll', 'loadGroup', 'loadUser', 'mapLimit', 'members', 'retry', 'saveUser', 'sleep', 'withLock'],
  );
});

test('sleep', async () => {
  await sleep(1);
  await assert.rejects(sleep(100_000, aborted), reason);
  const controller = new AbortController();
  const sleeping = sleep(100_000, controller.signal);
  controller.abort(reason);
  await assert.rejects(sleeping, reason);
  const quiet = new AbortController();
  await sleep(1, quiet.signal);
  quiet.abort(reason);
  assert.equal((await import('node:events')).getEventListeners(quiet.signal, 'abort').length, 0);
});

test('the memory store', async () => {
  const store = new MemoryStore();
  assert.equal(await store.read('a'), undefined);
  await store.write('a', '1');
  await store.write('b', '2');
  assert.equal(await store.read('a'), '1');
  await store.remove('a');
  assert.deepEqual(await store.keys(), ['b']);
  await assert.rejects(store.write('b', '3', aborted), reason);
  await assert.rejects(store.remove('b', aborted), reason);
  await assert.rejects(store.read('b', aborted), reason);
  await assert.rejects(store.keys(aborted), reason);
  assert.equal(await store.read('b'), '2');
});

test('retry', async () => {
  const attempts: number[] = [];
  const value = await retry(3, async (attempt) => {
    attempts.push(attempt);
    if (attempt < 3) throw new Error(`no ${attempt}`);
    return 'yes';
  });
  assert.deepEqual([value, attempts], ['yes', [1, 2, 3]]);
  await assert.rejects(retry(2, async (attempt) => { throw new Error(`no ${attempt}`); }), { message: 'no 2' });
  await assert.rejects(retry(2, () => { throw new Error('at once'); }), { message: 'at once' });
  let calls = 0;
  await assert.rejects(retry(5, async () => { calls++; throw Object.assign(new Error('fatal'), { code: 'EFATAL' }); }), { message: 'fatal' });
  assert.equal(calls, 1);
  await assert.rejects(retry(5, async () => { calls++; }, aborted), reason);
  assert.equal(calls, 1);
  const controller = new AbortController();
  let seen: AbortSignal | undefined;
  const trying = retry(1000, async (_attempt, signal) => { calls++; seen = signal; throw new Error('again'); }, controller.signal);
  await tick();
  controller.abort(reason);
  await assert.rejects(trying, reason);
  assert.equal(seen, controller.signal);
  const before = calls;
  await sleep(40);
  assert.equal(calls, before);
});

test('mapLimit', async () => {
  let [running, most] = [0, 0];
  const results = await mapLimit([5, 1, 4, 2, 3], 2, async (n) => {
    most = Math.max(most, ++running);
    await sleep(n);
    running--;
    return n * 10;
  });
  assert.deepEqual([results, most], [[50, 10, 40, 20, 30], 2]);
  assert.deepEqual(await mapLimit([], 2, async () => 1), []);
  assert.deepEqual(await mapLimit([1, undefined, 3], 9, async (n) => n), [1, undefined, 3]);
  for (const limit of [0, -1, NaN]) await assert.rejects(mapLimit([1], limit, async () => 1), RangeError);
  await assert.rejects(mapLimit([], 0, async () => 1), RangeError);
});

test('mapLimit after an error', async () => {
  const started: number[] = [];
  const ended: number[] = [];
  const work = async (n: number) => {
    started.push(n);
    if (n === 2) throw new Error('first');
    await sleep(20);
    ended.push(n);
    if (n === 1) throw new Error('second');
    return n;
  };
  await assert.rejects(mapLimit([1, 2, 3, 4], 2, work), { message: 'first' });
  assert.deepEqual([started, ended], [[1, 2], [1]]);
  const both: number[] = [];
  await assert.rejects(mapLimit([1, 2], 1, (n) => { both.push(n); throw new Error('at once'); }), { message: 'at once' });
  assert.deepEqual(both, [1]);
});

test('mapLimit and an abort', async () => {
  const controller = new AbortController();
  const started: number[] = [];
  const mapping = mapLimit([1, 2, 3], 1, async (n, signal) => {
    started.push(n);
    assert.equal(signal, controller.signal);
    controller.abort(reason);
    return n;
  }, controller.signal);
  await assert.rejects(mapping, reason);
  assert.deepEqual(started, [1]);
  await assert.rejects(mapLimit([1], 1, async (n) => started.push(n), aborted), reason);
  assert.deepEqual(started, [1]);
  // An abort does not wait for works that ignore it.
  const deaf = new AbortController();
  const waiting = mapLimit([1], 1, () => new Promise(() => undefined), deaf.signal);
  await tick();
  deaf.abort(reason);
  await assert.rejects(waiting, reason);
});

test('users', async () => {
  const store = await example();
  assert.deepEqual(await loadUser(store, 'a'), { id: 'a', name: 'A' });
  await assert.rejects(loadUser(store, 'x'), (error) => error instanceof NotFoundError && error.message === 'no user x');
  assert.deepEqual(store.calls, ['read user:a', 'read user:x']);
  await store.write('user:bad', '{"id":');
  await assert.rejects(loadUser(store, 'bad'), (error) => error instanceof Error && error.message.startsWith('user bad: ') && error.cause instanceof SyntaxError);
  let failures = 2;
  store.before = () => { if (failures-- > 0) throw new Error('busy'); };
  assert.deepEqual(await loadUser(store, 'b'), { id: 'b', name: 'B' });
  failures = 2;
  await saveUser(store, { id: 'b', name: 'Bo' });
  failures = 3;
  await assert.rejects(loadUser(store, 'b'), { message: 'busy' });
  failures = 0;
  assert.equal((await loadUser(store, 'b')).name, 'Bo');
  store.calls = [];
  await assert.rejects(loadUser(store, 'b', aborted), reason);
  await assert.rejects(saveUser(store, { id: 'b', name: 'No' }, aborted), reason);
  assert.deepEqual(store.calls, []);
  const cyclic: { id: string; name: string; self?: unknown } = { id: 'y', name: 'Y' };
  cyclic.self = cyclic;
  await assert.rejects(saveUser(store, cyclic), TypeError);
  const { signal } = new AbortController();
  store.signals = [];
  await loadUser(store, 'b', signal);
  await saveUser(store, { id: 'b', name: 'B' }, signal);
  assert.ok(store.signals.length === 2 && store.signals.every((each) => each === signal));
});

test('members of a group', async () => {
  const store = await example();
  assert.deepEqual(await loadGroup(store, 'none'), { id: 'none', members: [] });
  assert.deepEqual(await members(store, 'none'), []);
  for (const id of ['d', 'gone', 'a', 'c', 'b', 'a']) await addMember(store, 'g', id);
  assert.deepEqual((await loadGroup(store, 'g')).members, ['d', 'gone', 'a', 'c', 'b']);
  let [running, most] = [0, 0];
  store.before = async (call) => {
    if (!call.startsWith('read user')) return;
    most = Math.max(most, ++running);
    await sleep(call.endsWith('d') ? 30 : 2);
    running--;
  };
  assert.deepEqual((await members(store, 'g')).map(({ name }) => name), ['D', 'A', 'C', 'B']);
  assert.equal(most, 3);
  store.before = (call) => { if (call === 'read user:c') throw Object.assign(new Error('broken disk'), { code: 'EFATAL' }); };
  await assert.rejects(members(store, 'g'), { message: 'broken disk' });
  const { signal } = new AbortController();
  store.before = () => undefined;
  store.signals = [];
  await members(store, 'g', signal);
  assert.ok(store.signals.length >= 6 && store.signals.every((each) => each === signal));
  await store.write('group:bad', '[');
  await assert.rejects(loadGroup(store, 'bad'), SyntaxError);
});

test('members that are added at once', async () => {
  const store = await example();
  const names = Array.from({ length: 20 }, (_, i) => `m${i}`);
  await Promise.all(names.map((name, i) => addMember(store, i % 2 === 0 ? 'even' : 'odd', name)));
  assert.deepEqual((await loadGroup(store, 'even')).members.toSorted(), names.filter((_, i) => i % 2 === 0).toSorted());
  assert.equal((await loadGroup(store, 'odd')).members.length, 10);
  let failures = 1;
  store.before = (call) => { if (call === 'write group:x' && failures-- > 0) throw Object.assign(new Error('full'), { code: 'EFATAL' }); };
  const results = await Promise.allSettled(['p', 'q', 'r'].map((name) => addMember(store, 'x', name)));
  assert.deepEqual(results.map(({ status }) => status), ['rejected', 'fulfilled', 'fulfilled']);
  assert.deepEqual((await loadGroup(store, 'x')).members, ['q', 'r']);
  await assert.rejects(addMember(store, 'x', 's', aborted), reason);
  assert.deepEqual((await loadGroup(store, 'x')).members, ['q', 'r']);
});

test('the members of different groups do not wait for each other', async () => {
  const store = await example();
  store.before = (call) => (call === 'write group:slow' ? new Promise(() => undefined) : undefined);
  void addMember(store, 'slow', 'a');
  await addMember(store, 'quick', 'a');
  assert.deepEqual((await loadGroup(store, 'quick')).members, ['a']);
  // A call that waits for an earlier one can be aborted.
  const controller = new AbortController();
  const waiting = addMember(store, 'slow', 'b', controller.signal);
  await tick();
  controller.abort(reason);
  await assert.rejects(waiting, reason);
});

test('export', async () => {
  const store = await example();
  await store.write('group:g', '{}');
  const lines: string[] = [];
  let isWriting = false;
  const count = await exportAll(store, async (line) => {
    assert.ok(!isWriting);
    isWriting = true;
    await sleep(2);
    isWriting = false;
    lines.push(line);
    if (lines.length === 1) await store.remove('user:c');
  });
  assert.deepEqual([count, lines], [3, ['{"id":"a","name":"A"}', '{"id":"b","name":"B"}', '{"id":"d","name":"D"}']]);
  assert.equal(await exportAll(new MemoryStore(), () => assert.fail()), 0);
  await assert.rejects(exportAll(store, async () => { throw new Error('pipe'); }), { message: 'pipe' });
  await assert.rejects(exportAll(store, () => { throw new Error('pipe'); }), { message: 'pipe' });
  await assert.rejects(exportAll(store, () => assert.fail(), aborted), reason);
  const controller = new AbortController();
  const seen: string[] = [];
  await assert.rejects(exportAll(store, (line) => { seen.push(line); controller.abort(reason); }, controller.signal), reason);
  assert.equal(seen.length, 1);
});

test('a lock', async () => {
  const store = await example();
  const inside = async () => {
    await assert.rejects(withLock(store, 'n', async () => 1), { message: 'n is locked' });
    assert.equal(await withLock(store, 'other', async () => 2), 2);
    return 'done';
  };
  assert.equal(await withLock(store, 'n', inside), 'done');
  assert.equal(await store.read('lock:n'), undefined);
  await assert.rejects(withLock(store, 'n', async () => { throw new Error('work'); }), { message: 'work' });
  await assert.rejects(withLock(store, 'n', () => { throw new Error('at once'); }), { message: 'at once' });
  assert.equal(await store.read('lock:n'), undefined);
  store.before = (call) => { if (call === 'remove lock:n') throw new Error('removal'); };
  await assert.rejects(withLock(store, 'n', async () => 1), { message: 'removal' });
  store.before = () => undefined;
  await store.remove('lock:n');
  store.before = (call) => { if (call === 'remove lock:n') throw new Error('removal'); };
  await assert.rejects(withLock(store, 'n', async () => { throw new Error('work'); }), { message: 'work' });
  store.before = () => undefined;
  await store.remove('lock:n');
  const controller = new AbortController();
  const working = withLock(store, 'n', async (signal) => {
    assert.equal(signal, controller.signal);
    controller.abort(reason);
    throw signal?.reason;
  }, controller.signal);
  await assert.rejects(working, reason);
  assert.equal(await store.read('lock:n'), undefined);
  store.calls = [];
  await assert.rejects(withLock(store, 'n', async () => 1, aborted), reason);
  assert.deepEqual(store.calls, []);
});
