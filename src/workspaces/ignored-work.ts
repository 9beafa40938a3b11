import { basename, dirname, join } from 'node:path';
import { isSummarizedDirectory } from '../sys/files/changes/summarized-directories.ts';
import { lstatIfPresent, readDirectoryNames } from '../sys/files/path-lookup.ts';
import { hasChangedSince } from './changed-since.ts';
import type { GitPlace, WorkspaceGit } from './git.ts';
import { listIgnored } from './ignored-files.ts';
import type { IgnoredAtStart, WorkspaceRecord } from './record.ts';

/** The maximum length of the paths that are kept of the start, in UTF-16 units. Later ones count as new. */
const MAX_KEPT_LENGTH = 1024 * 1024;

/** The ignored entries of a new worktree, as `listIgnored` lists them. */
interface IgnoredEntries {
  /** The entries that are links to files of the user, or copies. */
  readonly brought: readonly string[];
  /** The entries after the setup command. */
  readonly all: readonly string[];
}

/** Describes the ignored entries of a new worktree for its record, with the names of package directories. */
export function describeIgnoredAtStart(
  { brought, all }: IgnoredEntries,
  packageDirectories: readonly string[],
): IgnoredAtStart {
  const before = new Set(brought);
  let length = 0;
  const fits = (path: string): boolean => {
    length += path.length;
    return length <= MAX_KEPT_LENGTH;
  };
  return {
    at: new Date().toISOString(),
    brought: brought.filter(fits),
    prepared: all.filter((path) => !before.has(path)).filter(fits),
    packageDirectories,
  };
}

/**
 * Lists what a task has written where git ignores it: entries that were not there at the start, and copies of ignored
 * files of the user that it has changed. Directories (ending with `/`) count as a whole. Dependencies, caches and what
 * the setup command has made do not count.
 *
 * @param place with the index that has the files of the task
 */
export async function listIgnoredWork(
  git: WorkspaceGit,
  place: GitPlace,
  { tree, links, ignored: start }: WorkspaceRecord,
): Promise<readonly string[]> {
  if (start === undefined) return [];
  const prepared = new Set(start.prepared);
  const brought = new Set(start.brought);
  const found = await listIgnored(git, place);
  return found.filter((entry) => {
    const path = entry.replace(/\/$/, '');
    if (prepared.has(entry) || links.includes(path) || isEmptyDirectory(join(tree, path)))
      return false;
    if (isDependencyPath(tree, path, start.packageDirectories)) return false;
    return !brought.has(entry) || hasChangedSince(join(tree, path), start.at, []);
  });
}

/** Tells whether a path is a directory of dependencies or a cache, or is inside of one. */
function isDependencyPath(tree: string, path: string, names: readonly string[]): boolean {
  for (let at = path; at !== '.'; at = dirname(at)) {
    const beside = dirname(join(tree, at));
    const exists = (name: string): boolean => lstatIfPresent(join(beside, name)) !== undefined;
    const name = basename(at);
    if (names.includes(name) || isSummarizedDirectory(name, exists)) return true;
  }
  return false;
}

function isEmptyDirectory(path: string): boolean {
  const isDirectory = lstatIfPresent(path)?.isDirectory() === true;
  return isDirectory && readDirectoryNames(path)?.length === 0;
}
