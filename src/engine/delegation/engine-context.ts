import type { LoopQueue } from '../../base/loop-queue.ts';
import type { PrefixCache } from '../prompt/prefix.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskEnding } from '../task/endings.ts';
import type { RunningTasks } from '../task/running-tasks.ts';
import type { HookPorts, TaskRun } from '../task/task-run.ts';
import type { ToolContext } from '../../protocol/tool.ts';

/** The parts of an engine that every operation on its tasks needs. */
export interface EngineContext {
  readonly deps: EngineDeps;
  readonly prefixes: PrefixCache;
  readonly running: RunningTasks;
  /** The queue of task starts. Each task has started before the next task is created or resumed. */
  readonly beginnings: LoopQueue;
  /** Runs the items of a template to their end. A template run does this instead of having a conversation. */
  readonly driveItems: (run: TaskRun) => Promise<TaskEnding>;
  readonly hookPorts: HookPorts;
  /** Starts the loop of a task that was created or resumed. Never throws: every end is written to the task's log. */
  readonly startLoop: (run: TaskRun) => void;
}

/** Returns the task that makes a call. A task runs as long as its calls do, so only a bug can make this throw. */
export function requireCaller(
  { running }: EngineContext,
  { taskId }: Pick<ToolContext, 'taskId'>,
): TaskRun {
  const caller = running.get(taskId);
  if (caller === undefined)
    throw new Error(`task ${taskId} makes a call but does not run in this process`);
  return caller;
}
