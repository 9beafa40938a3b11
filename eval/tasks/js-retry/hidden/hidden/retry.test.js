import { test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { retry, timeout } from '../src/index.js';

const recorder = () => {
  const waits = [];
  return { waits, sleep: async (ms) => void waits.push(ms) };
};

test('the result of the first success, and the attempt numbers', async () => {
  const seen = [];
  const { waits, sleep } = recorder();
  const result = await retry(async (attempt) => {
    seen.push(attempt);
    if (attempt === 1) throw new Error('no');
    return 'yes';
  }, { sleep });
  assert.deepEqual([result, seen, waits], ['yes', [1, 2], [100]]);
});

test('rejects with the last error, without a wait after it', async () => {
  const { waits, sleep } = recorder();
  let calls = 0;
  await assert.rejects(retry(() => { calls += 1; throw new Error(`e${calls}`); }, { sleep }), { message: 'e3' });
  assert.deepEqual([calls, waits], [3, [100, 200]]);
  await assert.rejects(retry(() => Promise.reject(new Error('once')), { attempts: 1, sleep }), { message: 'once' });
  assert.equal(waits.length, 2);
});

test('delays grow by the factor up to the maximum', async () => {
  const { waits, sleep } = recorder();
  await assert.rejects(retry(() => { throw new Error('x'); }, { attempts: 6, delayMs: 10, factor: 3, maxDelayMs: 100, sleep }));
  assert.deepEqual(waits, [10, 30, 90, 100, 100]);
});

test('shouldRetry decides', async () => {
  const { waits, sleep } = recorder();
  const asked = [];
  const error = new TypeError('fatal');
  await assert.rejects(
    retry(() => { throw error; }, { attempts: 9, sleep, shouldRetry: (e, attempt) => { asked.push([e, attempt]); return attempt < 2; } }),
    (thrown) => thrown === error,
  );
  assert.deepEqual(asked, [[error, 1], [error, 2]]);
  assert.deepEqual(waits, [100]);
});

test('an aborted signal', async () => {
  const controller = new AbortController();
  const reason = new Error('stop');
  controller.abort(reason);
  let calls = 0;
  await assert.rejects(retry(() => { calls += 1; }, { signal: controller.signal }), (e) => e === reason);
  assert.equal(calls, 0);
  const later = new AbortController();
  const running = retry(() => { calls += 1; throw new Error('x'); }, { delayMs: 60000, maxDelayMs: 60000, signal: later.signal });
  setTimeout(() => later.abort(reason), 20);
  await assert.rejects(timeout(running, 3000), (e) => e === reason);
  assert.equal(calls, 1);
  const slow = new AbortController();
  const custom = retry(() => { throw new Error('x'); }, { sleep: () => new Promise(() => {}), signal: slow.signal });
  setTimeout(() => slow.abort(reason), 20);
  await assert.rejects(timeout(custom, 3000), (e) => e === reason);
});

test('no timer is left after an abort', () => {
  const script = `import { retry } from ${JSON.stringify(new URL('../src/index.js', import.meta.url).href)};
    const c = new AbortController();
    setTimeout(() => c.abort(new Error('stop')), 10);
    await retry(() => { throw new Error('x'); }, { delayMs: 60000, maxDelayMs: 60000, signal: c.signal }).catch((e) => console.log(e.message));`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { timeout: 8000, encoding: 'utf8' });
  assert.equal(printed, 'stop\n');
});

test('wrong attempts reject', async () => {
  for (const attempts of [0, -1, 1.5, NaN, '3', Infinity]) {
    const promise = retry(() => 1, { attempts });
    await assert.rejects(promise, RangeError);
  }
});
