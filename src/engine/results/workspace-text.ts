import { collapseWhitespace, plural, truncate } from '../../base/text.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { ChangedFile, ExpectedConflict, WorkspaceResult } from '../../protocol/workspace.ts';

/** The maximum numbers of files and of conflicts that a result names, and the length of each path. */
const MAX_NAMED_FILES = 20;
const MAX_NAMED_CONFLICTS = 10;
const MAX_PATH_LENGTH = 200;

/**
 * Formats what a task left in its workspace, for its parent: the changes, and how to get them. Returns '' for a task
 * without a workspace.
 */
export function formatWorkspace({ spec, workspace, status }: TaskState): string {
  if (spec.workspace === undefined) return '';
  const { kind, tree } = spec.workspace;
  const { start, left } = workspace;
  const name = kind === 'worktree' ? 'worktree' : 'copy';
  if (left === null) {
    if (start === null) return '';
    return status === 'running' || status === 'queued' || status === 'parked'
      ? `[It works in its own ${name}, ${tree}.]`
      : `[It worked in its own ${name}, ${tree}, which stays as it left it.]`;
  }
  if (!left.isChanged) return `[It changed nothing in its own ${name}, which was removed.]`;
  if (left.fileCount === 0 && left.commits === 0)
    return `[It changed nothing in its own ${name}, ${tree}, which stays because workspaces of its own tasks began there and were neither landed nor discarded.]`;
  const how =
    spec.parent === null
      ? `See them with \`muster tasks diff ${spec.id}\`, merge them with \`muster tasks apply ${spec.id}\`.`
      : `TaskLand(task_id: "${spec.id}", action: "diff", "apply" or "discard") shows, merges or drops them.`;
  return `[Its changes are in its own ${name}, not in yours: ${formatChanges(left)}. ${how}${formatConflicts(left.conflicts)}]`;
}

/** Formats the number of changed files and lines, and the names of the files. */
function formatChanges(left: WorkspaceResult): string {
  const { files, fileCount, addedLines, deletedLines } = left;
  const names = files
    .slice(0, MAX_NAMED_FILES)
    .map(({ path, notLanded }) => `${showPath(path)}${describeNotLanded(notLanded)}`);
  const more = fileCount - names.length;
  const list = more > 0 ? [...names, `${more} more`] : names;
  return `${plural(fileCount, 'file')}, +${addedLines} −${deletedLines}: ${list.join(', ')}`;
}

function describeNotLanded(reason: ChangedFile['notLanded']): string {
  if (reason === undefined) return '';
  return reason === 'ignored'
    ? ' (git ignores it: it stays there and is not merged)'
    : ' (a repository or submodule: it stays there and is not merged)';
}

function formatConflicts(conflicts: readonly ExpectedConflict[]): string {
  if (conflicts.length === 0) return '';
  const named = conflicts
    .slice(0, MAX_NAMED_CONFLICTS)
    .map(
      (each) =>
        `${showPath(each.path)} (${each.with === 'parent' ? 'your files' : `task ${each.with.task}`})`,
    );
  const more = conflicts.length - named.length;
  return ` Conflicts to expect: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}

function showPath(path: string): string {
  const text = truncate(collapseWhitespace(path), MAX_PATH_LENGTH);
  return /[\p{Cc}\s,"]/u.test(path) ? JSON.stringify(text) : text;
}
