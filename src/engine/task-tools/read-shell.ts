import type { ToolOutput } from '../../protocol/tool.ts';
import { shellNoticeId } from '../shells/shell-end.ts';
import { shellReport } from '../shells/shell-report.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { EngineContext } from '../delegation/engine-context.ts';

export interface ShellReadRequest {
  readonly caller: TaskRun;
  /** The task that started it; undefined when that is gone. */
  readonly owner: TaskRun | undefined;
  readonly id: string;
  /** As in ShellReading. */
  readonly offset: number | null;
}

/** What a task reads of a shell. That its own has ended need not be told any more. */
export function readShellForTask(
  { deps: { settings, clock } }: EngineContext,
  { caller, owner, id, offset }: ShellReadRequest,
): ToolOutput {
  const shell = owner?.state.shells.get(id);
  if (owner === undefined || shell === undefined) {
    return { text: `task_id: shell ${id} is gone with its task`, error: 'NOT_FOUND' };
  }
  const text = shellReport(id, shell, {
    offset,
    caps: settings.caps,
    now: clock.monotonic(),
    problem: owner.shells.outputProblem(id),
  });
  return shell.end !== null && owner === caller ? { text, told: [shellNoticeId(id)] } : { text };
}
