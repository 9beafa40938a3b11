import { expect, it } from 'vitest';
import type { EventBody } from '../../../src/protocol/events/event.ts';
import { NO_USAGE } from '../../../src/protocol/model.ts';
import { applyToActivation, startActivation } from '../../../src/protocol/state/activation.ts';

function stintAfter(...bodies: readonly EventBody[]) {
  const activation = startActivation(0, { since: 0, turns: 0, by: null, callId: null });
  for (const body of bodies) {
    applyToActivation(activation, { v: 4, seq: 1, ts: 0, task: 't', epoch: 1, ...body }, 0);
  }
  return activation;
}

const FAILURE = { kind: 'malformed', message: 'broken', retryable: true } as const;
const LESS = { ...NO_USAGE, input: -1e9 };

it('no log raises a budget: a negative amount counts as zero', () => {
  const { spent, work } = stintAfter(
    {
      type: 'child.ended',
      child: 'c',
      status: 'completed',
      changed: [],
      spent: { tokens: -1e9, costUsd: -5 },
      work: { turns: -3, toolBytes: Number.NEGATIVE_INFINITY },
      below: [],
    },
    { type: 'turn.failed', turn: 1, failure: FAILURE, usage: LESS, costUsd: -1 },
    {
      type: 'turn.retried',
      turn: 1,
      attempt: 1,
      waitMs: 0,
      failure: FAILURE,
      usage: { ...NO_USAGE, output: 7 },
      costUsd: 0.5,
      estimated: { usage: LESS, costUsd: -1 },
    },
  );
  expect({ spent, work }).toEqual({
    spent: { tokens: 7, costUsd: 0.5 },
    work: { turns: 0, toolBytes: 0 },
  });
});

it('counts the time at work under former owners, without time in a queue or without an owner', () => {
  const activation = startActivation(0, { since: 0, turns: 0, by: null, callId: null });
  const at = (ts: number, before: number, body: EventBody) =>
    applyToActivation(activation, { v: 4, seq: 1, ts, task: 't', epoch: 1, ...body }, before);
  const claimed = { type: 'task.claimed', pid: 1, host: 'h' } as const;
  at(0, 0, claimed);
  // Queued for an hour, and then its process died.
  at(3_600_000, 3_600_000, claimed);
  expect(activation.workedMs).toBe(0);
  at(3_700_000, 3_600_000, { type: 'task.started' });
  at(3_800_000, 3_705_000, claimed);
  expect(activation.workedMs).toBe(5_000);
  at(9_000_000, 3_800_000, claimed);
  expect(activation.workedMs).toBe(5_000);
});
