import type { Clock } from '../../base/clock.ts';
import { TREE_TIME_LIMIT } from '../../protocol/limits.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import type { EngineDeps } from './deps.ts';
import { limitOrder } from './stop-order.ts';
import type { TaskRun } from './task-run.ts';
import type { Cap } from '../limits/budget.ts';
import { limitMessage } from '../limits/limit-message.ts';

/** The part of a tree's limit on time that its main agent may use in addition, for a last answer. */
const LAST_ANSWER_SHARE = 0.1;
const MAX_LAST_ANSWER_MS = 30_000;

/** Returns the milliseconds that the main agent has for a last answer after a limit on the time of the tree. */
export function lastAnswerMs(wallMs: number): number {
  return Math.min(wallMs * LAST_ANSWER_SHARE, MAX_LAST_ANSWER_MS);
}

/**
 * Returns the limits on a task's working time in milliseconds: its own limit, and for the root task the limit of the
 * tree.
 */
export function listWallCaps({ spec, tree }: TaskRun): readonly Cap[] {
  const { wallMs } = spec.limits;
  const ofTree = tree.id === spec.id ? tree.wallMs : null;
  return [
    ...(wallMs === null ? [] : [{ limit: 'task_wall_seconds', value: wallMs }]),
    ...(ofTree === null ? [] : [{ limit: TREE_TIME_LIMIT, value: ofTree }]),
  ];
}

/** Returns the limit on the time of the tree if the main agent has reached it in its activation; null otherwise. */
export function findTimeLimit({
  activation: { limit },
}: Pick<TaskState, 'activation'>): LimitHit | null {
  return limit?.limit === TREE_TIME_LIMIT ? limit : null;
}

/** Computes the milliseconds that a task has worked in its activation, including those under earlier processes. */
export function computeWorkedMs({ state, workingSince }: TaskRun, clock: Clock): number {
  const inThisProcess = workingSince === null ? 0 : clock.monotonic() - workingSince;
  return state.activation.workedMs + inThisProcess;
}

/**
 * Starts the timers that end the task when its wall time is used up. Time in which no process ran the task does not
 * count.
 */
export function startWallTimers({ clock }: Pick<EngineDeps, 'clock'>, run: TaskRun): void {
  run.workingSince = clock.monotonic();
  const { workedMs } = run.state.activation;
  for (const { limit, value } of listWallCaps(run)) {
    const callAt = (ms: number, act: (hit: LimitHit) => void): void => {
      const call = (): void => {
        const used = Math.round(computeWorkedMs(run, clock)) / 1000;
        act({ limit, value: value / 1000, used });
      };
      const left = ms - workedMs;
      // The main agent must not send another request with tools after a crash at the limit.
      if (left <= 0 && limit === TREE_TIME_LIMIT) call();
      else run.cancellation.callAfter(Math.max(0, left), call);
    };
    if (limit === TREE_TIME_LIMIT) startTreeTimers(run, value, callAt);
    else {
      callAt(value, (hit) => {
        const reached = `the limit ${limit} = ${hit.value} is reached`;
        run.stop(limitOrder(`${reached}${describeWait(run)}`));
      });
    }
  }
}

function describeWait({ state: { activity } }: TaskRun): string {
  return activity.kind === 'held' ? ` while it waited for ${activity.because}` : '';
}

/**
 * Starts the timers of the main agent for the time of its tree: at the limit the tree ends, and a while later the main
 * agent ends, even if its last answer is not complete.
 */
function startTreeTimers(
  run: TaskRun,
  wallMs: number,
  callAt: (ms: number, act: (hit: LimitHit) => void) => void,
): void {
  const lastMs = lastAnswerMs(wallMs);
  callAt(wallMs, (hit) => {
    try {
      endTree(run, hit);
    } catch (thrown) {
      run.fail(thrown);
    }
  });
  // A template run sends no requests. It ends when its items have ended, which were stopped at the limit.
  if (run.drive !== undefined) return;
  callAt(wallMs + lastMs, (hit) => {
    const over = `the ${lastMs / 1000} s for a last answer are over`;
    run.stop(limitOrder(`${limitMessage(hit)}; ${over}`));
  });
}

/** Ends all tasks below the main agent, and everything that it does, so that only a last turn without tools follows. */
function endTree(run: TaskRun, hit: LimitHit): void {
  const order = limitOrder(limitMessage(hit));
  // If a limit was reached before, the main agent already gives its last answer.
  if (run.state.activation.limit === null) {
    run.journal.record({ type: 'limit.reached', ...hit });
    run.cancellation.interruptTurn(order);
  }
  run.tree.stopBelow(order);
  run.mailbox.wake();
}
