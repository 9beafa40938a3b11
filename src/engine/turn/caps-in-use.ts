import type { Clock } from '../../base/clock.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import type { TaskRun } from '../task/task-run.ts';
import { wallCaps, workedMs } from './wall-time.ts';

/** The caps that a task is told of, each with what is used of it: its own, and at the top the tree's. */
export function capsInUse(run: TaskRun, clock: Clock): readonly LimitHit[] {
  const { tree, state, spec, budget } = run;
  const { maxTurns } = spec.limits;
  const turns = state.turns - state.activation.turnsBefore;
  const seconds = Math.floor(workedMs(run, clock) / 1000);
  return [
    ...(maxTurns === null ? [] : [{ limit: 'max_turns', value: maxTurns, used: turns }]),
    ...budget.capUses,
    ...(tree.id === spec.id ? tree.budget.capUses : []),
    ...wallCaps(run).map(({ limit, value }) => ({ limit, value: value / 1000, used: seconds })),
  ];
}
