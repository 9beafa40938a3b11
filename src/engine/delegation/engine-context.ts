import type { LoopQueue } from '../../base/loop-queue.ts';
import type { PrefixCache } from '../prompt/prefix.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskEnding } from '../task/endings.ts';
import type { RunningTasks } from '../task/running-tasks.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { ToolContext } from '../../protocol/tool.ts';

/** The parts of an engine that every operation on its tasks needs. */
export interface EngineContext {
  readonly deps: EngineDeps;
  readonly prefixes: PrefixCache;
  readonly running: RunningTasks;
  /** Starts of tasks, one at a time: each task has started before the next one is created or resumed. */
  readonly beginnings: LoopQueue;
  /** Runs the items of a template to their end; a template run does this instead of a conversation. */
  readonly driveItems: (run: TaskRun) => Promise<TaskEnding>;
  /** Starts the loop of a task that was created or resumed. It never fails: every end is written to the log. */
  readonly startLoop: (run: TaskRun) => void;
}

/** Returns the task that makes a call. It runs as long as its calls do, so this throws only for a bug. */
export function requireCaller({ running }: EngineContext, { taskId }: ToolContext): TaskRun {
  const caller = running.get(taskId);
  if (caller === undefined) throw new Error(`task ${taskId} does not run here`);
  return caller;
}
