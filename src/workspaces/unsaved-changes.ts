import { dirname, join } from 'node:path';
import { existsSync } from 'node:fs';
import { listNamesOnOneLine } from '../base/terminal-text.ts';
import { plural } from '../base/text.ts';
import { compareDirectories } from './compare-copies.ts';
import { hasChangedSince } from './changed-since.ts';
import { listIgnoredWork } from './ignored-work.ts';
import type { WorkspaceRecord, WorktreeRecord } from './record.ts';
import { listTreeChanges } from './tree-changes.ts';
import { OpenWorktree, type WorkspaceAccess } from './worktree-state.ts';

/**
 * Says what would be lost if a workspace were removed: files or commits of the task that are nowhere else. Returns null
 * if nothing would be.
 *
 * @param access `hasLanded`: the recorded result of the task has landed, so it is somewhere else
 */
export async function describeUnsavedChanges(
  record: WorkspaceRecord,
  access: WorkspaceAccess & { readonly hasLanded: boolean },
): Promise<string | null> {
  if (record.status === 'creating' || record.status === 'removed') return null;
  if (record.git === undefined) {
    if (!existsSync(record.tree)) return null;
    if (access.hasLanded) {
      const { endedAt = record.createdAt } = record.result ?? {};
      const isChanged = hasChangedSince(record.tree, endedAt, record.links);
      return isChanged ? 'files in it were changed after the end of the task' : null;
    }
    const changed = await compareDirectories(
      join(dirname(record.tree), 'base'),
      record.tree,
      record.links,
    );
    return changed.length === 0 ? null : `${plural(changed.length, 'changed file')} would be lost`;
  }
  return await describeWorktree(record, record.git, access);
}

async function describeWorktree(
  record: WorkspaceRecord,
  parts: WorktreeRecord,
  { hasLanded, ...access }: WorkspaceAccess & { readonly hasLanded: boolean },
): Promise<string | null> {
  const worktree = await OpenWorktree.open(record, parts, access);
  const { git, place } = worktree;
  const saved = record.result?.commit ?? parts.base;
  const [tip = null] = await git.resolve(place, [`${worktree.ref}^{commit}`]);
  const expected = record.result?.commit ?? parts.head;
  if (tip !== null && tip !== expected) return `the branch ${parts.branch} has other commits now`;
  if (!hasLanded && expected !== parts.head) return 'its changes were not landed';
  if (!worktree.hasTree) return null;
  return await worktree.capture(async ({ tree, nested }, index) => {
    const changes = await listTreeChanges(git, place, saved, tree);
    if (changes.length > 0) return `${plural(changes.length, 'changed file')} would be lost`;
    if (nested.length > 0) return `${nested[0]} holds another repository or other files`;
    const ignored = await listIgnoredWork(git, { ...place, index }, record);
    return ignored.length > 0
      ? `git ignores ${listNamesOnOneLine(ignored, 5)}, so it cannot be landed and would be lost`
      : null;
  });
}
