import { formatDiff } from '../../workspaces/format-diff.ts';
import {
  findNewestLanding,
  findUndoneLanding,
  readLandedChanges,
} from '../../workspaces/landing-state.ts';
import { listDifferences } from '../../workspaces/list-differences.ts';
import {
  isDamagedWorkspace,
  readWorkspaceRecord,
  workspaceDirectory,
} from '../../workspaces/record.ts';
import type { WorkspaceAccess } from '../../workspaces/worktree-state.ts';
import type { LeftDiff } from './contract.ts';

/**
 * Reads the changes of a task as a unified diff: from its workspace, or after a landing from the journal of the landing.
 * Returns null if both are gone. Throws MusterError if one of them cannot be read.
 *
 * @param id a full id
 * @param maxLength UTF-16 units
 */
export async function readLeftDiff(
  id: string,
  maxLength: number,
  { dataDir, ...access }: WorkspaceAccess & { readonly dataDir: string },
): Promise<LeftDiff | null> {
  const directory = workspaceDirectory(dataDir, id);
  const record = readWorkspaceRecord(directory);
  if (isDamagedWorkspace(record)) return null;
  if (record.status === 'ready' || record.status === 'ended') {
    const text = formatDiff(await listDifferences(record, access), maxLength);
    return { text, hasLanded: false };
  }
  const undone = findUndoneLanding(directory);
  const landing = undone ?? findNewestLanding(directory, 'apply');
  if (landing === null) return null;
  const text = formatDiff(readLandedChanges(landing), maxLength);
  return { text, hasLanded: undone === null };
}
