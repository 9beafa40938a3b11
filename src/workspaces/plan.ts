import { accessSync, constants } from 'node:fs';
import { join, relative } from 'node:path';
import { MusterError } from '../base/errors.ts';
import { lstatIfPresent, realPathIfPresent, statIfPresent } from '../sys/files/path-lookup.ts';
import { resolveInRoots } from '../sys/files/real-path.ts';
import { isInGitDirectory } from '../sys/git/control-paths.ts';
import { findRepository, type Repository } from '../sys/git/repository.ts';
import { workspaceDirectory, type WorkspaceRecord } from './record.ts';

/** A workspace of which nothing exists yet. */
export interface WorkspacePlan extends Pick<
  WorkspaceRecord,
  'id' | 'kind' | 'source' | 'tree' | 'subdirectory' | 'description'
> {
  /** The data directory. Absolute, without links. */
  readonly dataDir: string;
  /** The directory of the workspace, which holds its record and its tree. Absolute. */
  readonly directory: string;
  /** The directory in which the task works: `subdirectory` of the tree. Absolute. */
  readonly workingDirectory: string;
  /** Only if the directory is in a repository: the repository of the parent, and the branch that the task will get. */
  readonly git?: { readonly repository: Repository; readonly branch: string };
}

/** The request for a workspace. */
interface WorkspaceRequest {
  /** The directory in which the parent works. Absolute. */
  readonly cwd: string;
  /** The id of the task. */
  readonly id: string;
  /** The description of the task, from which the name of the branch is made. Outside text. */
  readonly description: string;
  /** The data directory. Absolute. */
  readonly dataDir: string;
}

const MAX_SLUG_LENGTH = 40;

/**
 * Plans the workspace of a task without creating anything and without starting a process. Throws MusterError if there
 * can be none: the directory does not exist, lies in a git directory or in a bare repository, or its repository is
 * damaged or read-only.
 */
export function planWorkspace({ cwd, id, description, dataDir }: WorkspaceRequest): WorkspacePlan {
  const real = realPathIfPresent(cwd);
  if (real === undefined || statIfPresent(real)?.isDirectory() !== true) {
    throw new MusterError('NOT_FOUND', `${cwd} is no directory, so a task cannot get a copy of it`);
  }
  const repository = findRepository(real);
  if (isInGitDirectory(join(real, 'file'), repository?.top ?? '/')) {
    throw new MusterError(
      'INVALID_PARAM',
      `${real} is in a bare repository or a git directory, which has no working tree; start in a working tree of it (git worktree add DIRECTORY)`,
    );
  }
  if (repository !== undefined) checkRepository(repository);
  const source = repository?.top ?? real;
  const subdirectory = relative(source, real);
  const realDataDir = resolveInRoots(dataDir, []).real;
  const directory = workspaceDirectory(realDataDir, id);
  const tree = join(directory, 'tree');
  return {
    id,
    kind: repository === undefined ? 'copy' : 'worktree',
    source,
    subdirectory,
    description,
    dataDir: realDataDir,
    directory,
    tree,
    workingDirectory: join(tree, subdirectory),
    ...(repository === undefined
      ? {}
      : { git: { repository, branch: `muster/${id}/${toSlug(description)}` } }),
  };
}

/** Throws MusterError if git could not create a worktree in the repository. */
function checkRepository({ top, gitDirectory, commonDirectory }: Repository): void {
  if (lstatIfPresent(join(gitDirectory, 'HEAD')) === undefined) {
    throw new MusterError(
      'INVALID_PARAM',
      `${join(top, '.git')} leads to ${gitDirectory}, which is no git directory; repair the repository (git worktree repair) or start outside of it`,
    );
  }
  const written = [
    commonDirectory,
    ...['objects', 'refs/heads', 'worktrees'].map((name) => join(commonDirectory, name)),
  ];
  for (const path of written) {
    if (statIfPresent(path) === undefined || isWritable(path)) continue;
    throw new MusterError(
      'PERMISSION_DENIED',
      `${path} is read-only, so git cannot create a worktree for the task; make it writable or run the task without isolation`,
    );
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    // The permissions forbid it or the file system is read-only; for the caller both are the same.
    return false;
  }
}

/** Makes the last part of the name of a branch from a description. */
function toSlug(description: string): string {
  const words =
    description
      .slice(0, 1000)
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  const slug = words.join('-').slice(0, MAX_SLUG_LENGTH).replace(/-$/, '');
  return slug === '' ? 'task' : slug;
}
