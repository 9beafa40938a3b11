import { plural } from '../base/text.ts';
import type { TaskWorkspace, WorkspaceResult } from '../protocol/workspace.ts';

/**
 * Describes for a person what a conversation has left in its workspace, and how to land it. Returns null if it changed
 * nothing.
 *
 * @param left the changes, or the error because of which they could not be recorded
 */
export function describeLeftChanges(
  id: string,
  { tree, branch }: Pick<TaskWorkspace, 'tree'> & { readonly branch?: string | null },
  left: WorkspaceResult | Error,
): string | null {
  if (left instanceof Error) {
    return `the changes in ${tree} could not be recorded, so they stay there: ${left.message}`;
  }
  if (!left.isChanged) return null;
  const { fileCount, addedLines, deletedLines } = left;
  const changes = `${plural(fileCount, 'changed file')} (+${addedLines} −${deletedLines})`;
  const place = branch === undefined || branch === null ? tree : `${tree}, branch ${branch}`;
  return `${changes} in ${place}; muster tasks diff ${id} shows them, and muster tasks apply ${id} merges them into your files`;
}
