import { describe, expect, it } from 'vitest';
import { findBranchPoint } from '../../../src/engine/rewind/plan-rewind.ts';
import { eventsOf } from '../random-world.ts';
import { answeredRounds, testEngine } from '../support.ts';

describe('branchPoint', () => {
  it('is an event with no request under way and no call without an outcome', async () => {
    const { start, store } = testEngine((request) =>
      answeredRounds(request) === 0
        ? {
            calls: [
              { name: 'Bash', input: {} },
              { name: 'Bash', input: {} },
            ],
          }
        : { text: 'done' },
    );
    const run = start('go');
    await run.end.written;
    const events = eventsOf(store, run.spec.id);
    const points = events.map(({ seq, type }) => [type, findBranchPoint(events, seq) === seq]);
    expect(points).toEqual([
      ['task.created', true],
      ['task.claimed', true],
      ['task.started', true],
      ['turn.started', false],
      ['turn.accepted', false],
      ['turn.ended', false],
      ['call.started', false],
      ['call.ended', false],
      ['call.started', false],
      ['call.ended', true],
      ['turn.started', false],
      ['turn.accepted', false],
      ['turn.ended', true],
      ['task.ended', true],
    ]);
    expect(findBranchPoint(events, 8)).toBe(2);
    await store.close();
  });
});
