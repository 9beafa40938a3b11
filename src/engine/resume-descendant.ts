import { MusterError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { TaskInput } from '../protocol/input.ts';
import { knownDescendants } from './delegation/deliver-end.ts';
import { foldLog } from './task/fold-log.ts';
import { isBusy } from './loop/next-step.ts';
import { resumeChild } from './delegation/resume-child.ts';
import type { TaskRun } from './task/task-run.ts';
import { interruptionId } from './task/interruption-notice.ts';
import type { EngineContext } from './delegation/engine-context.ts';

/** A task that a person makes go on, and what it is told. */
export interface ResumedDescendant {
  /** Whole. */
  readonly id: string;
  readonly message: TaskInput;
  readonly model?: string;
  readonly maxTurns?: number;
}

/** Sets an ended task to work in the background of one that is at work, which is told of its end. */
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

/** Throws MusterError where a task can't go on below another one that was opened for it. */
export function requireDescendant(top: TaskRun, id: string): void {
  if (top.spec.fanOut !== undefined) {
    const message = `task ${top.spec.id} is a run of a template and waits for none of its tasks anew`;
    throw new MusterError('INVALID_PARAM', message);
  }
  if (knownDescendants(top.state).includes(id)) return;
  throw new MusterError('NOT_FOUND', `task ${id} is not below task ${top.spec.id}`);
}

/**
 * The same below one that has just been opened to wait for it, and is not at work yet. One that had not
 * ended is open as well, and is told.
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
  // One that has answered waits by itself; another one would take up what it was doing.
  if (!isBusy(top.state, engine.deps.settings)) return;
  const because = `the user went on with task ${below.id}`;
  top.journal.record({ type: 'turn.interrupted', input: interruptionId(), because });
}

/** The nearest task above one that is at work in this process. Throws `NOT_FOUND` when there is none. */
export async function nearestRunningAncestor(
  { deps, running }: EngineContext,
  id: string,
): Promise<TaskRun> {
  const above = (task: string): string | null => foldLog(deps.store, task).spec.parent;
  for (let at = above(id); at !== null; at = above(at)) {
    const run = running.get(at);
    if (run?.isEnding === false) return run;
    // It takes nobody in any more, and those above it know of what is below it once it has ended.
    await run?.end.written;
  }
  throw new MusterError('NOT_FOUND', `no task above ${id} is at work in this process`);
}
