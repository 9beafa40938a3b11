import { symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemErrorCode } from '../base/errors.ts';
import { holdDirectory } from '../sys/files/held-directory.ts';
import { lstatIfPresent } from '../sys/files/path-lookup.ts';
import type { TreeCopier } from './copy-tree.ts';
import { toBytes, toPath, type GitPlace, type WorkspaceGit } from './git.ts';

/** The treatment of directories of installed packages that git ignores, such as `node_modules`. */
export interface PackageOptions {
  /** The names of the directories, at any depth. */
  readonly names: readonly string[];
  /** `link`: a link to the directory of the user. `copy`: a copy that shares blocks where the file system can. */
  readonly mode: 'link' | 'copy' | 'none';
}

/** The file in which a repository selects ignored files for worktrees, in the syntax of `.gitignore`. */
const INCLUDE_FILE = '.worktreeinclude';

/** Lists what git ignores in a working tree: files, and directories (ending with `/`) of which it ignores everything. */
export async function listIgnored(git: WorkspaceGit, place: GitPlace): Promise<readonly string[]> {
  const listed = await git.list(place, [
    'ls-files',
    '-z',
    '--others',
    '--ignored',
    '--exclude-standard',
    '--directory',
  ]);
  return listed.flatMap((bytes) => toPath(bytes) ?? []);
}

/** Lists the directories of installed packages that git ignores in the working tree of the user. */
export async function listPackageDirectories(
  git: WorkspaceGit,
  source: GitPlace,
  { names, mode }: PackageOptions,
): Promise<readonly string[]> {
  if (mode === 'none' || names.length === 0) return [];
  const ignored = (await listIgnored(git, source)).map((path) => path.replace(/\/$/, ''));
  return ignored.filter((path) => names.includes(basename(path)));
}

/**
 * Lists the ignored files that `.worktreeinclude` selects. The file is at the top of the working tree; without it,
 * there are none. `leaveOut` are directories that are brought along in another way.
 */
export async function listIncludedFiles(
  git: WorkspaceGit,
  source: GitPlace,
  leaveOut: readonly string[],
): Promise<readonly string[]> {
  const file = join(source.workTree, INCLUDE_FILE);
  if (lstatIfPresent(file)?.isFile() !== true) return [];
  const select = ['ls-files', '-z', '--others', '--ignored', `--exclude-from=${file}`];
  const selected = await git.list(source, select);
  const left = leaveOut.map((path) => `${toBytes(path)}/`);
  const wanted = selected.filter(
    (path) => !path.endsWith('/') && !left.some((each) => path.startsWith(each)),
  );
  if (wanted.length === 0) return [];
  const input = wanted.map((path) => `${path}\0`).join('');
  // The exit code is 1 if git ignores none of the files.
  const ignored = await git.list(source, ['check-ignore', '-z', '--stdin'], {
    input,
    codes: [0, 1],
  });
  return ignored.flatMap((bytes) => toPath(bytes) ?? []);
}

/** Links entries of the user into the tree of a workspace. Returns the paths that could not be linked. */
export async function linkEntries(
  from: string,
  to: string,
  paths: readonly string[],
): Promise<readonly string[]> {
  return await placeEntries(to, paths, (path, target) => symlink(join(from, path), target));
}

/**
 * Copies files and directories to the same paths below another directory. Returns the paths that could not be copied
 * because something stands in the way or has just been deleted.
 */
export async function copyEntries(
  copier: TreeCopier,
  from: string,
  to: string,
  paths: readonly string[],
): Promise<readonly string[]> {
  return await placeEntries(to, paths, (path, target) =>
    copier.copyEntry(join(from, path), target),
  );
}

/** Calls `place` for each path, with a path by which nothing can be created outside of `top`. */
async function placeEntries(
  top: string,
  paths: readonly string[],
  place: (path: string, target: string) => Promise<void>,
): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const path of paths) {
    const full = join(top, path);
    try {
      using parent = holdDirectory(top, dirname(full), { create: true });
      await place(path, parent.at(basename(full)));
    } catch (thrown) {
      // The path or a link is in the commit, or the user has just deleted the file.
      const code = systemErrorCode(thrown) ?? '';
      if (!['EEXIST', 'ELOOP', 'ENOTDIR', 'ENOENT'].includes(code)) throw thrown;
      failed.push(path);
    }
  }
  return failed;
}
