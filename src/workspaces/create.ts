import { join } from 'node:path';
import { mkdir } from 'node:fs/promises';
import { MusterError } from '../base/errors.ts';
import { listNamesOnOneLine } from '../base/terminal-text.ts';
import { isInside } from '../base/path-inside.ts';
import { lstatIfPresent } from '../sys/files/path-lookup.ts';
import type { Environment } from '../sys/env.ts';
import { TreeCopier, type CopyLimits } from './copy-tree.ts';
import { WorkspaceGit, type GitPlace } from './git.ts';
import {
  copyEntries,
  linkEntries,
  listIgnored,
  listIncludedFiles,
  listPackageDirectories,
  type PackageOptions,
} from './ignored-files.ts';
import { describeIgnoredAtStart } from './ignored-work.ts';
import { prepareWorkspace, type SetupOptions } from './setup-cache.ts';
import type { WorkspacePlan } from './plan.ts';
import {
  isDamagedWorkspace,
  readWorkspaceRecord,
  writeWorkspaceRecord,
  type WorkspaceRecord,
} from './record.ts';
import { finishRemoval } from './remove.ts';
import { createWorktree, type WorktreeStart } from './worktree.ts';

/** The options of a new workspace. */
export interface WorkspaceOptions {
  /** The variables of the user. */
  readonly environment: Environment;
  readonly start: WorktreeStart;
  readonly limits: CopyLimits;
  /** With `setup`, nothing is linked: the mode `link` then has the effect of `none`. */
  readonly packages: PackageOptions;
  /** Only in a repository. Default: none. */
  readonly setup?: SetupOptions;
}

/** A workspace that a task can use. */
export interface CreatedWorkspace {
  readonly record: WorkspaceRecord;
  /** Sentences for the user and the task about what is not as in the tree of the user. */
  readonly notes: readonly string[];
}

/**
 * Creates a workspace as planned. What a killed process has left of the same workspace is deleted first. If the creation
 * fails or is aborted, nothing of it is left. Throws MusterError: a limit is reached, git fails, the disk is full, or the
 * task has a workspace already.
 */
export async function createWorkspace(
  plan: WorkspacePlan,
  options: WorkspaceOptions,
  signal: AbortSignal,
): Promise<CreatedWorkspace> {
  const { id, kind, source, tree, subdirectory, description, directory } = plan;
  if (lstatIfPresent(directory) !== undefined) {
    const earlier = readWorkspaceRecord(directory);
    if (
      isDamagedWorkspace(earlier)
        ? lstatIfPresent(tree) !== undefined
        : earlier.status !== 'creating' && earlier.status !== 'removed'
    ) {
      throw new MusterError(
        'CONFLICT',
        `task ${id} has a workspace already: ${directory}; look at it and remove it first`,
      );
    }
    if (!isDamagedWorkspace(earlier)) await finishRemoval(earlier, { ...options, signal });
  }
  const draft: WorkspaceRecord = {
    version: 1,
    id,
    kind,
    source,
    tree,
    subdirectory,
    description,
    createdAt: new Date().toISOString(),
    links: [],
    status: 'creating',
    ...(plan.git === undefined
      ? {}
      : {
          unfinished: {
            commonDirectory: plan.git.repository.commonDirectory,
            branch: plan.git.branch,
          },
        }),
  };
  writeWorkspaceRecord(draft);
  try {
    const { record, notes } =
      kind === 'copy'
        ? await createCopy(plan, draft, options, signal)
        : await createRepositoryWorkspace(plan, draft, options, signal);
    const { unfinished: _, ...finished } = record;
    const ready: WorkspaceRecord = { ...finished, status: 'ready' };
    writeWorkspaceRecord(ready);
    return { record: ready, notes };
  } catch (thrown) {
    // What was made is deleted although the signal may have aborted.
    await finishRemoval(draft, { ...options, signal: new AbortController().signal });
    signal.throwIfAborted();
    throw thrown;
  }
}

async function createRepositoryWorkspace(
  plan: WorkspacePlan,
  draft: WorkspaceRecord,
  { environment, start, limits, setup, packages: wanted }: WorkspaceOptions,
  signal: AbortSignal,
): Promise<CreatedWorkspace> {
  const { source, tree, workingDirectory } = plan;
  // A command such as `npm ci` deletes what is in these directories, through a link also the files of the user.
  const packages: PackageOptions =
    setup !== undefined && wanted.mode === 'link' ? { ...wanted, mode: 'none' } : wanted;
  const gitDirectory = plan.git?.repository.gitDirectory ?? '';
  const user: GitPlace = { gitDirectory, workTree: source };
  const git = await WorkspaceGit.open(user, { id: plan.id, environment, signal });
  const [created, links] = await waitForAll([
    createWorktree(git, plan, { start, limits }),
    listPackageDirectories(git, user, packages),
  ]);
  const record: WorkspaceRecord = { ...draft, git: created.git, links };
  const newCopier = (): TreeCopier => new TreeCopier(limits, signal);
  const included = await listIncludedFiles(git, user, links);
  const failed = [
    ...(packages.mode === 'link'
      ? await linkEntries(source, tree, links)
      : await copyEntries(newCopier(), source, tree, links)),
    ...(await copyEntries(newCopier(), source, tree, included)),
  ];
  await mkdir(workingDirectory, { recursive: true });
  const place: GitPlace = { gitDirectory: created.git.gitDirectory, workTree: tree };
  const brought = await listIgnored(git, place);
  const { dataDir } = plan;
  const setupNotes =
    setup === undefined
      ? []
      : await prepareWorkspace(setup, { dataDir, source, git, place, workingDirectory, newCopier });
  const notes = [...created.notes, ...describeMissing(failed), ...setupNotes];
  const all = setup === undefined ? brought : await listIgnored(git, place);
  const ignored = describeIgnoredAtStart({ brought, all }, packages.names);
  return { record: { ...record, ignored }, notes };
}

/** Waits for all parts. If one fails, the others have ended as well when this rejects. */
async function waitForAll<A, B>(parts: readonly [Promise<A>, Promise<B>]): Promise<[A, B]> {
  await Promise.allSettled(parts);
  return await Promise.all(parts);
}

function describeMissing(paths: readonly string[]): readonly string[] {
  return paths.length === 0 ? [] : [`not brought along: ${listNamesOnOneLine(paths, 5)}`];
}

/** Copies the directory twice: for the task, and as the state at the start. */
async function createCopy(
  plan: WorkspacePlan,
  draft: WorkspaceRecord,
  { limits }: WorkspaceOptions,
  signal: AbortSignal,
): Promise<CreatedWorkspace> {
  const base = join(plan.directory, 'base');
  const copier = new TreeCopier(limits, signal);
  // The source itself may be in the data directory: the workspace of a parent.
  const holdsData = isInside(plan.source, plan.dataDir);
  const isData = (path: string): boolean => holdsData && isInside(plan.dataDir, path);
  await mkdir(base);
  await copier.copyDirectory(plan.source, base, isData);
  // The copy is copied, so that both are the same even if a file of the user changes meanwhile.
  await mkdir(plan.tree);
  await new TreeCopier(limits, signal).copyDirectory(base, plan.tree);
  const { skipped } = copier;
  const names = listNamesOnOneLine(skipped, 5);
  const notes = skipped.length === 0 ? [] : [`the copy leaves out ${names}`];
  return { record: draft, notes };
}
