import { constants, copyFileSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemErrorCode } from '../base/errors.ts';
import { toBytes, toPath, type GitPlace, type WorkspaceGit } from './git.ts';

/** The files of a working tree as git stores them. */
export interface CapturedTree {
  /** The id of the tree object. */
  readonly tree: string;
  /** Repositories inside the working tree, which git cannot store. Paths relative to it. */
  readonly nested: readonly string[];
}

/** Which changes of a working tree are captured. */
export interface CaptureOptions {
  /** Paths that never are part of the changes, with everything below them. */
  readonly leaveOut?: readonly string[];
  /** Called with the changed paths (latin1). Returns those to capture, or throws. Default: all. */
  readonly select?: (changed: readonly string[]) => Promise<readonly string[]>;
}

/** Copies the index of a git directory to a file. If there is none, the file does not exist afterwards. */
export function copyIndex(from: string, to: string): void {
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
  } catch (thrown) {
    if (systemErrorCode(thrown) !== 'ENOENT') throw thrown;
  }
}

/**
 * Stores the files of a working tree as a tree of git: those in the index `place.index`, as they are now, and new files
 * that git does not ignore. The index must be one that nobody else uses, with the stats of the files at an earlier
 * moment, and has the captured files afterwards.
 */
export async function captureTree(
  git: WorkspaceGit,
  place: GitPlace,
  { leaveOut = [], select = (changed) => Promise.resolve(changed) }: CaptureOptions = {},
): Promise<CapturedTree> {
  // With this setting git also looks at files that a sparse checkout leaves out but that exist.
  const sparse = ['-c', 'core.sparseCheckout=true'];
  const listed = await git.list(place, [
    ...sparse,
    'ls-files',
    '-z',
    '--modified',
    '--others',
    '--exclude-standard',
  ]);
  const left = leaveOut.map(toBytes);
  const changed = [...new Set(listed)].filter(
    (path) => !left.some((each) => path === each || path.startsWith(`${each}/`)),
  );
  // A repository without a commit, or one that is not in the index, is listed as a directory.
  const files = changed.filter((path) => !path.endsWith('/'));
  const selected = await select(files);
  if (selected.length > 0) {
    const input = selected.map((path) => `${path}\0`).join('');
    await git.run(
      place,
      [...sparse, 'update-index', '--add', '--remove', '--replace', '-z', '--stdin'],
      { input },
    );
  }
  const nested = changed.filter((path) => path.endsWith('/'));
  return {
    tree: await git.line(place, ['write-tree']),
    nested: nested.map((path) => toPath(path.slice(0, -1)) ?? path),
  };
}

/** Tells whether a directory of the working tree, such as that of a submodule, holds anything. */
export function holdsEntries(tree: string, path: string): boolean {
  const full = join(tree, path);
  return lstatSync(full, { throwIfNoEntry: false })?.isDirectory() === true
    ? readdirSync(full).length > 0
    : false;
}
