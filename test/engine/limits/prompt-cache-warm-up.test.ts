import { expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { Deadlines } from '../../../src/base/deadlines.ts';
import { PromptCacheWarmUp } from '../../../src/engine/limits/prompt-cache-warm-up.ts';

const LONG = 60_000;
const RUNNING = new AbortController().signal;

function prefixes({ holdMs = LONG, clock = systemClock } = {}): PromptCacheWarmUp {
  return new PromptCacheWarmUp({ clock, deadlines: new Deadlines(systemClock), holdMs });
}

/** Sends a request for each name. Adds to `went` in which order they are sent, and whether each of them leads. */
function ask(of: PromptCacheWarmUp, names: readonly string[], went: string[]): Promise<void>[] {
  return names.map(async (name) => {
    const lead = await of.enter('prefix', RUNNING);
    went.push(`${name} ${lead === null ? 'goes' : 'leads'}`);
  });
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

it('holds all requests but the first until that one is accepted', async () => {
  const of = prefixes();
  const first = await of.enter('prefix', RUNNING);
  const went: string[] = [];
  const others = ask(of, ['b', 'c'], went);
  await settled();
  expect(went).toEqual([]);
  first?.markAccepted();
  await Promise.all(others);
  expect(went).toEqual(['b goes', 'c goes']);
  expect(await of.enter('prefix', RUNNING)).toBeNull();
});

it('lets the next request lead when the first was never accepted', async () => {
  const of = prefixes();
  const first = await of.enter('prefix', RUNNING);
  const went: string[] = [];
  const others = ask(of, ['b', 'c'], went);
  first?.markEnded();
  await settled();
  expect(went).toEqual(['b leads']);
  void others;
});

it('holds no request longer than allowed', async () => {
  const of = prefixes({ holdMs: 1 });
  const first = await of.enter('prefix', RUNNING);
  const went: string[] = [];
  await Promise.all(ask(of, ['b', 'c'], went));
  await Promise.all(ask(of, ['d'], went));
  expect(went).toEqual(['b goes', 'c goes', 'd goes']);
  first?.markEnded();
});

it('holds no request longer than allowed when several leading requests fail in turn', async () => {
  let passed = 0;
  const now = () => systemClock.monotonic() + passed;
  const of = prefixes({ clock: { now, monotonic: now } });
  const first = await of.enter('prefix', RUNNING);
  const went: string[] = [];
  const others = ask(of, ['b', 'c', 'd'], went);
  // The wait ends 500 ms before the limit, so that only a very slow machine could reach the limit first.
  passed = LONG - 500;
  first?.markEnded();
  await settled();
  expect(went).toEqual(['b leads']);
  await Promise.all(others);
  // Both requests wait until the same moment, so their order is not fixed.
  expect(went.toSorted()).toEqual(['b leads', 'c goes', 'd goes']);
});

it('holds no request with another prefix and none of a stopped task', async () => {
  const of = prefixes();
  const first = await of.enter('prefix', RUNNING);
  const other = await of.enter('another', RUNNING);
  expect(other).not.toBeNull();
  const stop = new AbortController();
  const stopped = of.enter('prefix', stop.signal);
  stop.abort();
  expect(await stopped).toBeNull();
  first?.markEnded();
  other?.markEnded();
});

it('lets a request lead again when the cache has dropped the prefix', async () => {
  let now = 0;
  const clock = { now: () => now, monotonic: () => now };
  const of = prefixes({ clock });
  (await of.enter('prefix', RUNNING))?.markAccepted();
  now = 4 * 60_000;
  expect(await of.enter('prefix', RUNNING)).toBeNull();
  now = 6 * 60_000;
  const again = await of.enter('prefix', RUNNING);
  expect(again).not.toBeNull();
  again?.markEnded();
});
