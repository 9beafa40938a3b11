import { expect, it } from 'vitest';
import type { EventBody } from '../../src/protocol/event.ts';
import { NO_USAGE } from '../../src/protocol/model.ts';
import { applyToStint, startStint } from '../../src/protocol/stint.ts';

function stintAfter(...bodies: readonly EventBody[]) {
  const stint = startStint(0, { ts: 0, turns: 0, by: null, callId: null });
  for (const body of bodies) {
    applyToStint(stint, { v: 4, seq: 1, ts: 0, task: 't', epoch: 1, ...body }, 0);
  }
  return stint;
}

const FAILURE = { kind: 'malformed', message: 'broken', retryable: true } as const;
const LESS = { ...NO_USAGE, input: -1e9 };

it('no log lifts a budget: less than nothing counts as nothing', () => {
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
