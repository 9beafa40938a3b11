import type { ToolOutput } from '../../protocol/tool.ts';
import { shellNoticeId } from '../shells/shell-end.ts';
import { formatShellReport } from '../shells/shell-report.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { EngineContext } from '../delegation/engine-context.ts';

/** A task's request to read a shell. */
export interface ShellReadRequest {
  readonly caller: TaskRun;
  /** The task that started the shell; undefined if it does not run any more. */
  readonly owner: TaskRun | undefined;
  readonly id: string;
  /** Offset in the output, in bytes, as in `ShellReading`. */
  readonly offset: number | null;
}

/** Reads a shell for a task. After it has read the end of its own shell, the task needs no notice of it. */
export function readShellForTask(
  { deps: { settings, clock } }: EngineContext,
  { caller, owner, id, offset }: ShellReadRequest,
): ToolOutput {
  const shell = owner?.state.shells.get(id);
  if (owner === undefined || shell === undefined) {
    return { text: `task_id: shell ${id} is gone with its task`, error: 'NOT_FOUND' };
  }
  const text = formatShellReport(id, shell, {
    offset,
    caps: settings.caps,
    now: clock.monotonic(),
    problem: owner.shells.outputProblem(id),
  });
  return shell.end !== null && owner === caller ? { text, told: [shellNoticeId(id)] } : { text };
}
