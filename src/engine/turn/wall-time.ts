import type { Clock } from '../../base/clock.ts';
import type { Cap } from '../limits/budget.ts';
import type { TaskRun } from '../task/task-run.ts';

/** The caps on its wall time, in milliseconds: its own, and at the top that of the tree. */
export function wallCaps({ spec, tree }: TaskRun): readonly Cap[] {
  const { wallMs } = spec.limits;
  const ofTree = tree.id === spec.id ? tree.wallMs : null;
  return [
    ...(wallMs === null ? [] : [{ limit: 'task_wall_seconds', value: wallMs }]),
    ...(ofTree === null ? [] : [{ limit: 'tree_wall_seconds', value: ofTree }]),
  ];
}

/** Milliseconds at work in its stint, under owners that are gone too. */
export function workedMs({ state, workingSince }: TaskRun, clock: Clock): number {
  const here = workingSince === null ? 0 : clock.monotonic() - workingSince;
  return state.activation.workedMs + here;
}
