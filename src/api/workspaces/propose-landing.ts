import { dirname, join } from 'node:path';
import { selectLikelyInputs } from '../../acceptance/check-inputs.ts';
import { MusterError } from '../../base/errors.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import { titleOf } from '../../base/title.ts';
import type {
  LandedFile,
  LandingCheck,
  LandingConflict,
  LandingProposal,
} from '../../protocol/workspace.ts';
import type { Environment } from '../../sys/env.ts';
import { withDirectoryLock } from '../../store/locks/directory-lock.ts';
import type { PathDifference, PathState } from '../../workspaces/difference.ts';
import { createGitPort, prepareCommit } from '../../workspaces/landing/commit.ts';
import type { GitChange } from '../../workspaces/landing/git-change.ts';
import type { HeadTree } from '../../workspaces/landing/head-tree.ts';
import { land, type LandingContext } from '../../workspaces/landing/land.ts';
import { planLanding, type LandingPlan } from '../../workspaces/landing/plan-landing.ts';
import { mergeDifferences } from '../../workspaces/merge/merge-differences.ts';
import type { Conflict } from '../../workspaces/merge/conflict.ts';
import type { ConflictHunk } from '../../workspaces/merge/merge-text.ts';
import { workspaceDirectory } from '../../workspaces/record.ts';
import type { LandingForm } from './contract.ts';
import type { LandableWork } from './landable-work.ts';
import { removeLanded } from './remove-landed.ts';
import { checkMergedFiles } from './check-merged-files.ts';

/** The surroundings of a landing. */
export interface LandingOptions {
  readonly dataDir: string;
  readonly environment: Environment;
  readonly signal: AbortSignal;
  /** The criteria that the merged files must meet, or null for none. */
  readonly check: LandingCheck | null;
  readonly form: LandingForm;
}

/** The landing of a task that has changed nothing. */
export const NOTHING_TO_LAND: LandingProposal = {
  ok: true,
  files: [],
  land: () => Promise.resolve({ commit: null, kept: null, checkInputs: [] }),
};

/** Merges the changes of a task with the present files of the source of its workspace. Writes nothing. */
export async function proposeLanding(
  work: LandableWork,
  options: LandingOptions,
): Promise<LandingProposal> {
  const { signal } = options;
  const { record, repeats } = work;
  const plan = planLanding(work.differences, record.source);
  if (plan.kind === 'conflicts') {
    return { ok: false, conflicts: plan.conflicts.map(toLandingConflict) };
  }
  return {
    ok: true,
    files: listLandedFiles(plan),
    land: async () => {
      const { check } = options;
      const { subdirectory } = record;
      if (check !== null) await checkMergedFiles(plan, check, { subdirectory, signal });
      const commit =
        options.form === 'files' || record.git === undefined
          ? null
          : await prepareLandingCommit(work, options);
      signal.throwIfAborted();
      await land(plan, createLandingContext(record.id, options), { git: commit, repeats });
      // The workspace of an undone landing is gone already.
      const kept = repeats === null ? await removeLanded(record, options) : null;
      const hasRun = check !== null && check.criteria.commands.length > 0;
      const checkInputs = hasRun ? selectLikelyInputs(plan.changes.map(({ path }) => path)) : [];
      return { commit: commit?.ref?.after ?? null, kept, checkInputs };
    },
  };
}

/** Makes the commit of a landing. Throws CONFLICT if the changes can't be merged with the last commit. */
async function prepareLandingCommit(
  { record, differences, tip }: LandableWork,
  { form, environment, signal }: LandingOptions,
): Promise<GitChange | null> {
  const { id, description } = record;
  const title = sanitizeLine(titleOf(description));
  const request = {
    record,
    paths: differences.flatMap(({ path, from }) => (from === undefined ? [path] : [from, path])),
    message: `${title === '' ? 'Land the changes of a task' : title}\n\nTask: ${id}\n`,
    ...(form !== 'commits' || tip === null ? {} : { mergedCommit: tip }),
    merge: (head: HeadTree) => {
      const { changes, conflicts } = mergeDifferences(differences, head);
      if (conflicts.length === 0) return changes;
      const paths = conflicts.map(({ path }) => path).join(', ');
      throw new MusterError(
        'CONFLICT',
        `nothing was changed: the changes fit your files, but not your last commit (${paths}), so a commit would need your uncommitted changes; commit them first, or use --no-commit`,
      );
    },
  };
  return await prepareCommit(request, { environment, signal });
}

/**
 * Creates the surroundings of a landing of one workspace. An abort of the signal ends only the wait for the lock: a landing
 * that has begun is completed, or taken back.
 */
export function createLandingContext(
  id: string,
  { dataDir, environment, signal }: Pick<LandingOptions, 'dataDir' | 'environment' | 'signal'>,
): LandingContext {
  return {
    directory: workspaceDirectory(dataDir, id),
    git: createGitPort(id, { environment, signal: new AbortController().signal }),
    lock: (path, work) =>
      withDirectoryLock(dirname(path), (ms) => sleepUnlessAborted(ms, signal), work),
  };
}

async function sleepUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise((resolve) => setTimeout(resolve, ms));
}

function listLandedFiles({ changes, source }: LandingPlan): readonly LandedFile[] {
  return changes.flatMap(({ path, from, before, after }: PathDifference) => {
    const file = { path: join(source, path), before: from === undefined ? before : null, after };
    const files =
      from === undefined ? [file] : [{ path: join(source, from), before, after: null }, file];
    return files.map((each) => ({
      path: each.path,
      before: toContent(each.before),
      after: toContent(each.after),
    }));
  });
}

function toContent(state: PathState): Buffer | null {
  if (state === null) return null;
  return state.kind === 'file' ? state.bytes : Buffer.from(state.target);
}

/** Formats both sides of a conflict like git does, with the numbers of the lines. */
function formatHunk({ ours, theirs }: ConflictHunk): string {
  const side = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);
  return `<<<<<<< your file, line ${ours.line}\n${side(ours.text)}=======\n${side(theirs.text)}>>>>>>> the task, line ${theirs.line}`;
}

export function toLandingConflict({ path, message, hunks }: Conflict): LandingConflict {
  return { path, reason: message, hunks: hunks.map(formatHunk).join('\n') };
}
