import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { ModelFailure } from '../../../src/protocol/model.ts';
import { call, calls, eventsOfType, play } from '../play.ts';
import { testEngine } from '../support.ts';
import { stopOrder } from '../../../src/engine/task/stop-order.ts';

const BUSY: ModelFailure = {
  kind: 'overloaded',
  message: 'busy',
  retryable: true,
  retryAfterMs: 50,
};

it('a task that waits for the reservations of others holds no slot, since they need one to settle', async () => {
  let tries = 0;
  const test = testEngine(
    play({
      main: [calls(call('Task', { prompt: 'first' }), call('Task', { prompt: 'second' }))],
      first: [() => ((tries += 1) === 1 ? { failure: BUSY, refused: true } : { text: 'got it' })],
    }),
    // The budget has room for one request at a time.
    { settings: { maxParallel: 1, treeTokens: 2_000 } },
  );
  const run = test.start('main');
  await run.end.written;
  expect(run.state.status).toBe('completed');
  expect(eventsOfType(test, 'child.ended').map(({ status }) => status)).toEqual([
    'completed',
    'completed',
  ]);
});

it('a stop while a price is looked up prevents the request', async () => {
  const asked = Promise.withResolvers<void>();
  const test = testEngine([{ text: 'never said' }], {
    settings: { treeTokens: 1_000_000 },
    facts: async () => {
      asked.resolve();
      await sleep(20);
      return { contextWindow: null, maxOutput: 100, price: null };
    },
  });
  const run = test.start('main');
  await asked.promise;
  run.stop(stopOrder('user', 'enough'));
  await run.end.written;
  expect(run.state.status).toBe('stopped');
  expect(test.model.requests).toEqual([]);
  expect(eventsOfType(test, 'turn.started')).toEqual([]);
});
