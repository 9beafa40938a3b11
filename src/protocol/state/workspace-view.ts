import { isInside } from '../../base/path-inside.ts';
import { plural } from '../../base/text.ts';
import type { TaskStatus } from '../result.ts';
import type { LandingState, TaskWorkspace } from '../workspace.ts';
import type { TaskState } from './task-state.ts';

/** The place in which a task works, as views show it, if it differs from that of its parent. */
export interface WorkspaceView {
  readonly kind: TaskWorkspace['kind'] | 'process';
  /** The branch of a worktree; null for a copy and a process. */
  readonly branch: string | null;
  /** A few words about what the task does in the workspace, or what has become of its changes. */
  readonly state: string;
}

/** The part of the state of a task that concerns its workspace. */
export type WorkspaceFacts = Pick<TaskState, 'spec' | 'workspace' | 'status' | 'filesChanged'>;

const AT_WORK: ReadonlySet<TaskStatus> = new Set(['queued', 'running', 'parked']);

/**
 * Describes the workspace or the process of a task. Returns null for a task that has none, that ended before it needed
 * one, or whose process has ended.
 *
 * @param landing what has become of its changes
 */
export function viewWorkspace(task: WorkspaceFacts, landing: LandingState): WorkspaceView | null {
  const { workspace, isolation } = task.spec;
  if (isolation === 'process' && AT_WORK.has(task.status))
    return { kind: isolation, branch: null, state: 'working' };
  if (workspace === undefined) return null;
  const state = describeState(task, landing);
  return state === null ? null : { kind: workspace.kind, branch: workspace.branch ?? null, state };
}

function describeState(task: WorkspaceFacts, landing: LandingState): string | null {
  const { status, workspace } = task;
  const { start, left } = workspace;
  if (landing === 'unfinished') return LANDING_TEXTS.unfinished;
  if (AT_WORK.has(status)) {
    if (start === null) return 'not needed yet';
    const { length } = listChangedPaths(task);
    return length === 0 ? 'working' : `working, ${plural(length, 'file')} changed`;
  }
  if (start === null) return null;
  if (left === null) return 'left as it is';
  if (!left.isChanged) return 'unchanged, removed';
  return LANDING_TEXTS[landing] ?? `${plural(left.fileCount, 'file')} changed`;
}

/** Shows what has become of the changes of a task that has ended. */
export function showLanding(view: WorkspaceView, landing: LandingState): WorkspaceView {
  const state = LANDING_TEXTS[landing];
  return state === undefined ? view : { ...view, state };
}

/** Formats the mark of a workspace in a listing: `[worktree muster/4f2k9x/fix-sum: landed]`. */
export function formatWorkspaceMark({ kind, branch, state }: WorkspaceView): string {
  return `[${kind}${branch === null ? '' : ` ${branch}`}: ${state}]`;
}

const LANDING_TEXTS = {
  open: undefined,
  unfinished: 'landing not finished',
  landed: 'landed',
  undone: 'landing undone',
  discarded: 'discarded',
  gone: 'not there any more',
} as const satisfies Readonly<Record<LandingState, string | undefined>>;

/**
 * Lists the files that a task has changed in its workspace, as paths relative to it: what it left, or while it works, what
 * its calls are known to have changed. Empty for a task without a workspace.
 */
export function listChangedPaths({
  spec,
  workspace: { left },
  filesChanged,
}: WorkspaceFacts): readonly string[] {
  if (spec.workspace === undefined) return [];
  if (left !== null) {
    const landed = left.files.filter(({ notLanded }) => notLanded === undefined);
    return landed.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]));
  }
  const { tree } = spec.workspace;
  return [...filesChanged.keys()]
    .filter((path) => path !== tree && isInside(tree, path))
    .map((path) => path.slice(tree.length + 1));
}
