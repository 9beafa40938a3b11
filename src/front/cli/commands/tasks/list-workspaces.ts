import type { Tasks, TaskSummary, WorkspaceSummary } from '../../../../api/index.ts';
import { MusterError } from '../../../../base/errors.ts';
import { findOverlaps, type Overlap } from '../../../../protocol/state/overlaps.ts';
import {
  formatWorkspaceMark,
  listChangedPaths,
  showLanding,
} from '../../../../protocol/state/workspace-view.ts';
import { isTaskAtWork } from './rows.ts';

/** The maximum number of workspaces whose logs are read for a listing, the newest first. */
const MAX_COMPARED = 32;

/** Describes the workspace of a task, and the commands that end a landing; empty if there is nothing to say. */
export function workspaceNote(task: TaskSummary, workspace: WorkspaceSummary | undefined): string {
  if (workspace === undefined) return '';
  const { id, kind, branch, landing, status } = workspace;
  if (status === 'removed' && landing === 'gone') return '';
  const ends = `: muster tasks apply ${id} --continue, or --abort`;
  const state = isTaskAtWork(task) ? 'working' : status === 'ended' ? 'changed' : 'left as it is';
  const view = showLanding({ kind, branch, state }, landing);
  const shown = landing === 'unfinished' ? { ...view, state: `${view.state}${ends}` } : view;
  return `  ${formatWorkspaceMark(shown)}`;
}

/** Finds the files that several of these tasks have changed and that wait in their workspaces, from their logs. */
export function findListedOverlaps(
  tasks: Pick<Tasks, 'state'>,
  workspaces: readonly WorkspaceSummary[],
): readonly Overlap[] {
  const waiting = workspaces.filter(
    ({ landing, status }) =>
      status !== 'removed' && (landing === 'open' || landing === 'unfinished'),
  );
  if (waiting.length < 2) return [];
  const changes = waiting.slice(0, MAX_COMPARED).map(({ id, source }) => {
    return { id, source, paths: readChangedPaths(tasks, id) };
  });
  return findOverlaps(changes);
}

function readChangedPaths(tasks: Pick<Tasks, 'state'>, id: string): readonly string[] {
  try {
    return listChangedPaths(tasks.state(id));
  } catch (thrown) {
    // The log is damaged or has just been deleted; `muster tasks show` reports the reason.
    if (thrown instanceof MusterError) return [];
    throw thrown;
  }
}
