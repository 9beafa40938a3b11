import { describe, expect, it } from 'vitest';
import { systemClock, type Clock } from '../../../src/base/clock.ts';
import { elapsedMs } from '../../../src/engine/results/result.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import { background, call, calls, play, until } from '../play.ts';
import { statesOf, testEngine } from '../support.ts';

const DAY_MS = 24 * 3_600_000;

/** A system clock that can be set. */
class SetClock implements Clock {
  aheadMs = 0;

  now(): number {
    return systemClock.now() + this.aheadMs;
  }

  monotonic(): number {
    return systemClock.monotonic();
  }
}

describe.each([
  ['forwards', DAY_MS],
  ['back', -DAY_MS],
])('a wall clock that is set %s by a day while tasks work', (_, ms) => {
  it('changes neither durations nor the remaining time of a limit', async () => {
    const clock = new SetClock();
    const reports: string[] = [];
    const test = testEngine(
      play({
        main: [
          calls(background('part')),
          async (turn) => {
            const id = turn.child(0);
            await until(() => test.engine.task(id)?.state.activity.kind === 'tools');
            clock.aheadMs = ms;
            return calls(call('TaskOutput', { task_id: id, block: false }));
          },
          ({ results, child }) => {
            reports.push(...results.map(({ text }) => text));
            return calls(call('TaskStop', { task_id: child(0) }));
          },
        ],
        part: [calls(call('Bash', { ms: 60_000 }))],
      }),
      {
        clock,
        store: openMemoryStore({ clock }),
        settings: { treeWallMs: DAY_MS / 2 },
      },
    );
    await test.start('main').end.written;
    const states = [...statesOf(test.events).values()];
    expect(states.map(({ status }) => status)).toEqual(['completed', 'stopped']);
    for (const state of states) {
      expect(elapsedMs(state)).toBeGreaterThanOrEqual(0);
      expect(elapsedMs(state)).toBeLessThan(DAY_MS / 4);
    }
    expect(reports.join('\n')).toMatch(/Duration: \d s so far/);
    const last = test.events.findLast(({ type }) => type === 'task.ended');
    expect(Math.abs((last?.clockShift ?? 0) - ms)).toBeLessThan(DAY_MS / 4);
  });
});
