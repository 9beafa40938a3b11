import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { BatchGate } from '../../src/base/batch-gate.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function bursts() {
  const made = new BatchGate({ periodMs: 100, threshold: 5, maxWaitMs: 8 });
  const begun: string[] = [];
  const ask = (name: string): void => {
    const turn = made.waitForRelease();
    if (turn === null) begun.push(name);
    else void turn.then(() => begun.push(name));
  };
  /** Five in a tenth of a second, which makes the next ones wait for each other. */
  const grow = async (): Promise<void> => {
    for (let count = 0; count < 5; count += 1) ask('first');
    begun.length = 0;
    await vi.advanceTimersByTimeAsync(100);
  };
  return { made, begun, ask, grow };
}

it('lets each task begin at once while few arrive', async () => {
  const { begun, ask } = bursts();
  for (let round = 0; round < 10; round += 1) {
    for (const name of ['a', 'b', 'c', 'd']) ask(`${round}${name}`);
    expect(begun.length).toBe(4 * (round + 1));
    await vi.advanceTimersByTimeAsync(100);
  }
});

it('lets tasks begin together while many arrive', async () => {
  const { begun, ask, grow } = bursts();
  await grow();
  ask('a');
  await vi.advanceTimersByTimeAsync(5);
  ask('b');
  await vi.advanceTimersByTimeAsync(2);
  expect(begun).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toEqual(['a', 'b']);
  ask('c');
  expect(begun).toEqual(['a', 'b']);
  await vi.advanceTimersByTimeAsync(8);
  expect(begun).toEqual(['a', 'b', 'c']);
});

it('lets tasks begin at once again when few or none have arrived for a while', async () => {
  const { begun, ask, grow } = bursts();
  await grow();
  ask('late');
  await vi.advanceTimersByTimeAsync(100);
  ask('at once');
  expect(begun).toEqual(['late', 'at once']);
  await grow();
  await vi.advanceTimersByTimeAsync(101);
  ask('long after');
  expect(begun).toEqual(['long after']);
});

it('lets waiting tasks begin before the code that releases them continues', async () => {
  const { made, begun, ask, grow } = bursts();
  await grow();
  ask('a');
  ask('b');
  await made.release();
  expect(begun).toEqual(['a', 'b']);
  await vi.advanceTimersByTimeAsync(20);
  expect(begun).toEqual(['a', 'b']);
});
