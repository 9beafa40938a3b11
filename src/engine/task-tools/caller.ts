import type { ToolContext } from '../../protocol/tool.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { EngineContext } from '../delegation/engine-context.ts';

/** The task that a call is of. It is at work as long as its calls are: throws for a bug alone. */
export function callerOf({ running }: EngineContext, { taskId }: ToolContext): TaskRun {
  const caller = running.get(taskId);
  if (caller === undefined) throw new Error(`task ${taskId} does not run here`);
  return caller;
}
