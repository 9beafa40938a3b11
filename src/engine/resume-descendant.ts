import { MusterError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { TaskInput } from '../protocol/input.ts';
import { listKnownDescendants } from './delegation/deliver-end.ts';
import { foldLog } from './task/fold-log.ts';
import { isBusy } from './loop/next-step.ts';
import { resumeChild } from './delegation/resume-child.ts';
import type { TaskRun } from './task/task-run.ts';
import { newInterruptionId } from './task/stop-order.ts';
import type { EngineContext } from './delegation/engine-context.ts';

/** A task that a person resumes, with its next message and terms. */
export interface ResumedDescendant {
  /** The full id of the task. */
  readonly id: string;
  readonly message: TaskInput;
  readonly model?: string;
  readonly maxTurns?: number;
}

/** Resumes an ended task as a background child of a running task, which is notified of its end. */
export async function resumeDescendant(
  engine: EngineContext,
  caller: TaskRun,
  { id, ...terms }: ResumedDescendant,
): Promise<void> {
  const resumed = await resumeChild(engine, {
    ...terms,
    caller,
    callId: newId(),
    by: 'user',
    field: 'task',
    reference: id,
    background: true,
  });
  if (resumed instanceof MusterError) throw resumed;
}

/** Throws MusterError if a task can't be resumed below `top`, the task that was recovered for this purpose. */
export function requireDescendant(top: TaskRun, id: string): void {
  if (top.spec.fanOut !== undefined) {
    const message = `task ${top.spec.id} is a run of a template: its tasks can't be resumed one by one`;
    throw new MusterError('INVALID_PARAM', message);
  }
  if (listKnownDescendants(top.state).includes(id)) return;
  throw new MusterError('NOT_FOUND', `task ${id} is not below task ${top.spec.id}`);
}

/**
 * Resumes a descendant of `top`, which was recovered to wait for the descendant and does not run yet. If the
 * descendant had not ended, it was recovered as well and only gets the message.
 */
export async function resumeRecoveredDescendant(
  engine: EngineContext,
  top: TaskRun,
  below: ResumedDescendant,
): Promise<void> {
  const open = engine.running.get(below.id);
  if (open !== undefined) {
    open.mailbox.send(below.message);
    return;
  }
  await resumeDescendant(engine, top, below);
  // A task that has given its answer waits for the descendant anyway. Any other task would first continue its own
  // work, so it is interrupted.
  if (!isBusy(top.state, engine.deps.settings)) return;
  const reason = `the user resumed task ${below.id}`;
  top.journal.record({ type: 'turn.interrupted', input: newInterruptionId(), because: reason });
}

/** Finds the nearest ancestor of a task that runs in this process. Throws `NOT_FOUND` if there is none. */
export async function nearestRunningAncestor(
  { deps, running }: EngineContext,
  id: string,
): Promise<TaskRun> {
  const findParent = (task: string): string | null => foldLog(deps.store, task).spec.parent;
  for (let ancestor = findParent(id); ancestor !== null; ancestor = findParent(ancestor)) {
    const run = running.get(ancestor);
    if (run?.isEnding === false) return run;
    // An ending task accepts no more children. Wait for its end, after which its parent can take the child.
    await run?.end.written;
  }
  throw new MusterError('NOT_FOUND', `no task above ${id} runs in this process`);
}
