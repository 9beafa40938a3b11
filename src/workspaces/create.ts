import { join } from 'node:path';
import { mkdir } from 'node:fs/promises';
import { MusterError } from '../base/errors.ts';
import { listNamesOnOneLine } from '../base/terminal-text.ts';
import { isInside } from '../base/path-inside.ts';
import { lstatIfPresent } from '../sys/files/path-lookup.ts';
import type { Environment } from '../sys/env.ts';
import { TreeCopier, type CopyLimits } from './copy-tree.ts';
import { WorkspaceGit } from './git.ts';
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
        : earlier.status !== 'creating'
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
  { environment, start, limits }: WorkspaceOptions,
  signal: AbortSignal,
): Promise<CreatedWorkspace> {
  const gitDirectory = plan.git?.repository.gitDirectory ?? '';
  const place = { gitDirectory, workTree: plan.source };
  const git = await WorkspaceGit.open(place, { id: plan.id, environment, signal });
  const created = await createWorktree(git, plan, { start, limits });
  return { record: { ...draft, git: created.git }, notes: created.notes };
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
  const isWorkspace = (path: string): boolean => isInside(path, plan.directory);
  await mkdir(base);
  await copier.copyDirectory(plan.source, base, isWorkspace);
  // The copy is copied, so that both are the same even if a file of the user changes meanwhile.
  await mkdir(plan.tree);
  await new TreeCopier(limits, signal).copyDirectory(base, plan.tree);
  const { skipped } = copier;
  const names = listNamesOnOneLine(skipped, 5);
  const notes = skipped.length === 0 ? [] : [`the copy leaves out ${names}`];
  return { record: draft, notes };
}
