import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ResultEnvelope } from '../../src/protocol/result.ts';
import { toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { openWorld, type World } from './world.ts';

const PRELOAD = resolve(import.meta.dirname, '../fixtures/settable-clock.mjs');
const HOUR_MS = 3_600_000;

/** More than any run here takes, and less than the clock is set by. */
const FAR_MS = HOUR_MS / 2;

/** A world whose wall clock is set by `ms` once its model has got the first request. */
async function worldWithSetClock(ms: number) {
  const clock: { file: string | null } = { file: null };
  const script = (request: RecordedRequest) => {
    if (toolResultRounds(request) > 0) return { text: 'done' };
    if (clock.file !== null) writeFileSync(clock.file, String(ms));
    return { toolCalls: [{ name: 'Read', input: { file_path: 'a.txt' } }] };
  };
  const world = await openWorld({ script, files: { 'a.txt': 'a' } });
  clock.file = join(world.sandbox.root, 'clock');
  writeFileSync(clock.file, '0');
  const env = { NODE_OPTIONS: `--import=${PRELOAD}`, CLOCK_FILE: clock.file };
  return { world, env };
}

async function json(world: World, args: readonly string[], env: Record<string, string>) {
  const { code, stdout, stderr } = await world.run(args, { env });
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

describe.concurrent.each([
  ['forwards', HOUR_MS],
  ['backwards', -HOUR_MS],
])('a wall clock that is set %s by an hour while a task runs', (_, ms) => {
  it('changes no duration, neither in the result nor in later views', async () => {
    const { world, env } = await worldWithSetClock(ms);
    await using _world = world;
    const result: ResultEnvelope = await json(
      world,
      ['-p', 'go', '--output-format', 'json', '--max-seconds', String(FAR_MS / 1_000)],
      env,
    );
    expect(result.status).toBe('success');
    const took = result.stats.time_ms;
    expect(took).toBeGreaterThan(0);
    expect(took).toBeLessThan(FAR_MS);
    const id = result.data.task_id;
    const log = await world.run(['tasks', 'log', id, '--json'], { env });
    const events = log.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    // The times of day are those of the clock as it was set.
    const [first, last] = [events[0], events.at(-1)];
    expect(Math.abs(last.ts - first.ts - ms)).toBeLessThan(FAR_MS);
    expect(first.clockShift).toBeUndefined();
    expect(Math.abs(last.clockShift - ms)).toBeLessThan(FAR_MS);
    const shown = await json(world, ['tasks', 'show', id, '--json'], env);
    expect(shown.tree.to - shown.tree.from).toBeGreaterThanOrEqual(took);
    expect(shown.tree.to - shown.tree.from).toBeLessThan(FAR_MS);
    for (const { from, to } of shown.tree.tasks[0].spans) {
      expect(to).toBeGreaterThanOrEqual(from);
      expect(to - from).toBeLessThan(FAR_MS);
    }
    const rerun = await world.run(['tasks', 'rerun', id], { env });
    expect([rerun.code, rerun.stderr]).toEqual([0, '']);
  });
});
