import type { LoopQueue } from '../../base/loop-queue.ts';
import type { PrefixCache } from '../prompt/prefix.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { Ending } from '../task/endings.ts';
import type { RunningTasks } from '../task/running-tasks.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { ToolContext } from '../../protocol/tool.ts';

/** The parts of an engine that every operation on its tasks needs. */
export interface EngineContext {
  readonly deps: EngineDeps;
  readonly prefixes: PrefixCache;
  readonly running: RunningTasks;
  /** Tasks to be made, or taken up again: each is at work before the next ones are made. */
  readonly beginnings: LoopQueue;
  /** What a run of a template does instead of a conversation, to its end. */
  readonly driveItems: (run: TaskRun) => Promise<Ending>;
  /** Runs the loop of a task that was created or resumed. It never fails: every end is written to the log. */
  readonly startLoop: (run: TaskRun) => void;
}

/** The task that a call is of. It is at work as long as its calls are: throws for a bug alone. */
export function requireCaller({ running }: EngineContext, { taskId }: ToolContext): TaskRun {
  const caller = running.get(taskId);
  if (caller === undefined) throw new Error(`task ${taskId} does not run here`);
  return caller;
}
