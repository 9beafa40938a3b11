import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compareDirectories, MAX_DIFFERENCE_BYTES, tooManyChanges } from './compare-copies.ts';
import type { PathDifference, PathState } from './difference.ts';
import { toBytes, toPath, type GitPlace } from './git.ts';
import type { WorkspaceRecord } from './record.ts';
import {
  LINK_MODE,
  listTreeChanges,
  SUBMODULE_MODE,
  type TreeChange,
  type TreeEntryVersion,
} from './tree-changes.ts';
import { OpenWorktree, type WorkspaceAccess } from './worktree-state.ts';
import { findFilteredPaths } from './worktree.ts';

/**
 * Lists what a task has changed: since its end, what it left; before, its files as they are now. Contents are as a
 * checkout writes them, those before the task with the attributes of the source. Throws MusterError `LIMIT_EXCEEDED` if
 * they are larger than 256 MiB together.
 */
export async function listDifferences(
  record: WorkspaceRecord,
  access: WorkspaceAccess,
): Promise<readonly PathDifference[]> {
  if (record.git === undefined) {
    return await compareDirectories(join(dirname(record.tree), 'base'), record.tree, record.links);
  }
  const worktree = await OpenWorktree.open(record, record.git, access);
  const commit = record.result?.commit;
  if (typeof commit === 'string') return await compare(worktree, commit);
  return await worktree.capture(({ tree }) => compare(worktree, tree));
}

async function compare(worktree: OpenWorktree, after: string): Promise<readonly PathDifference[]> {
  const { git, place, parts, record } = worktree;
  const links = record.links.map(toBytes);
  const all = await listTreeChanges(git, place, parts.base, after);
  const changes = all.filter(
    ({ path }) => !links.some((link) => path === link || path.startsWith(`${link}/`)),
  );
  const filtered = await findFilteredPaths(
    git,
    place,
    changes.map(({ path }) => path),
  );
  const source: GitPlace = existsSync(record.source)
    ? { ...place, workTree: record.source }
    : place;
  const before = await readVersions(
    worktree,
    source,
    changes.map(({ before: version, from, path }) => ({ version, path: from ?? path })),
  );
  const now = await readVersions(
    worktree,
    place,
    changes.map(({ after: version, path }) => ({ version, path })),
  );
  const differences: PathDifference[] = [];
  for (const [index, change] of changes.entries()) {
    const { path, from } = change;
    const unmergeable = findObstacleOf(change, filtered);
    differences.push({
      path: toPath(path) ?? path,
      ...(from === undefined ? {} : { from: toPath(from) ?? from }),
      before: before[index] ?? null,
      after: now[index] ?? null,
      ...(unmergeable === null ? {} : { unmergeable }),
    });
  }
  return differences;
}

/** Says why a change can't be merged by its lines; null if it can. */
function findObstacleOf(
  { path, from, before, after }: TreeChange,
  filtered: ReadonlySet<string>,
): string | null {
  if (before.mode === SUBMODULE_MODE || after.mode === SUBMODULE_MODE) return 'it is a submodule';
  if (toPath(path) === null || toPath(from ?? path) === null) return 'its name is not UTF-8';
  return filtered.has(path) ? 'a filter of git manages its content' : null;
}

interface PathVersion {
  readonly version: TreeEntryVersion;
  readonly path: string;
}

/** Reads the contents of the versions, in their order. A submodule has none. */
async function readVersions(
  { git, record }: OpenWorktree,
  place: GitPlace,
  versions: readonly PathVersion[],
): Promise<readonly PathState[]> {
  const isRead = ({ version }: PathVersion): boolean =>
    version.mode !== '000000' && version.mode !== SUBMODULE_MODE;
  const read = versions.filter(isRead);
  const input = read.map(({ version }) => `${version.object}\n`).join('');
  const sizes = await git.line(place, ['cat-file', '--batch-check=%(objectsize)'], { input });
  const total = sizes.split('\n').reduce((sum, size) => sum + Number(size), 0);
  if (total > MAX_DIFFERENCE_BYTES) throw tooManyChanges(record.tree);
  const isLink = ({ version }: PathVersion): boolean => version.mode === LINK_MODE;
  const toFile = ({ version, path }: PathVersion) => ({ object: version.object, path });
  const links = await git.readFiles(place, read.filter(isLink).map(toFile), 'stored');
  const files = await git.readFiles(
    place,
    read.filter((each) => !isLink(each)).map(toFile),
    'working',
  );
  const [nextLink, nextFile] = [links.values(), files.values()];
  return versions.map((each) => {
    if (!isRead(each)) return null;
    const bytes = (isLink(each) ? nextLink : nextFile).next().value ?? Buffer.alloc(0);
    return isLink(each)
      ? { kind: 'link', target: bytes.toString('utf8') }
      : { kind: 'file', executable: each.version.mode === '100755', bytes };
  });
}
