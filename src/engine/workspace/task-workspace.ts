import { errorMessage } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { createNotice } from '../../protocol/notice-text.ts';
import type { WorkspaceTask } from '../../protocol/workspace.ts';
import { truncate } from '../../base/text.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import { runInDirectory } from './run-in-directory.ts';

/**
 * Creates the workspace of a task, or finds the one that it has from an earlier activation. The first request need not
 * wait for this, but the first call must. Rejects if there can be no workspace: the task then fails, because it must
 * never work anywhere else.
 */
export async function openWorkspace(deps: EngineDeps, run: TaskRun): Promise<void> {
  const { workspaces } = deps;
  const task = toWorkspaceTask(run);
  if (task === null) return;
  if (workspaces === undefined) throw new Error('there is nothing that could create a workspace');
  await workspaces.prepare();
  const { start: earlier } = run.state.workspace;
  const { signal } = run.cancellation;
  const start = await workspaces.open(task, {
    signal,
    runSetup: (command, directory) => {
      const { roots } = run.permissions.rights;
      return runInDirectory(deps, run, { command, directory, roots, signal });
    },
  });
  if (start === null) return;
  const notes = earlier === null || start.isKept ? start.notes : [CREATED_AGAIN, ...start.notes];
  const text = notes.join('\n');
  run.journal.record(
    { type: 'workspace.opened', ...start, notes },
    ...(notes.length === 0
      ? []
      : [{ type: 'input.queued', input: createNotice(newId(), text) } as const]),
  );
}

const CREATED_AGAIN =
  'Your workspace was created again from the present state of its source: your earlier changes were merged or discarded, or you had made none.';

/**
 * Reads what a task left in its workspace and records it. If this is impossible, the workspace stays as it is, and the
 * result of the task says so.
 */
export async function closeWorkspace({ workspaces }: EngineDeps, run: TaskRun): Promise<void> {
  const task = toWorkspaceTask(run);
  if (task === null || workspaces === undefined || run.state.workspace.start === null) return;
  try {
    const left = await workspaces.close(task);
    if (left !== null) run.journal.record({ type: 'workspace.closed', left });
  } catch (thrown) {
    const { tree } = task.workspace;
    const message = `what the task left in its workspace could not be recorded, so it stays in ${tree}: ${truncate(errorMessage(thrown), MAX_ERROR_LENGTH)}`;
    run.journal.record({ type: 'warning', message });
  }
}

const MAX_ERROR_LENGTH = 500;

function toWorkspaceTask({ spec }: TaskRun): WorkspaceTask | null {
  const { id, root, description, workspace } = spec;
  return workspace === undefined ? null : { id, root, description, workspace };
}
