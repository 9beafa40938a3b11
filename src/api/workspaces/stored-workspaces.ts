import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { foldLog } from '../../engine/task/fold-log.ts';
import { hasCriteria, type AcceptanceCriteria } from '../../protocol/acceptance.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { Environment } from '../../sys/env.ts';
import { endWorkspace, type WorkspaceEnd } from '../../workspaces/end.ts';
import { formatDiff } from '../../workspaces/format-diff.ts';
import { planLanding } from '../../workspaces/landing/plan-landing.ts';
import { readLandingState } from '../../workspaces/landing-state.ts';
import {
  undoLanding,
  recoverLanding,
  type FinishedLanding,
} from '../../workspaces/landing/land.ts';
import { listUnfinishedLandings } from '../../workspaces/landing/unfinished.ts';
import {
  isDamagedWorkspace,
  listWorkspaces,
  readWorkspaceRecord,
  workspaceDirectory,
  type WorkspaceRecord,
} from '../../workspaces/record.ts';
import { discardWorkspace } from '../../workspaces/remove.ts';
import { findHolder, requireNotHeld, withWorkspaceHold } from './workspace-hold.ts';
import { createCommandRunner, findHiddenPaths } from './command-runner.ts';
import { createLandingContext, proposeLanding, toLandingConflict } from './propose-landing.ts';
import { hasFiles, noChanges, readLandableWork, type LandableWork } from './landable-work.ts';
import { readLeftDiff } from './left-diff.ts';
import { pruneWorkspaces } from './prune-workspaces.ts';
import { removeRecovered } from './remove-landed.ts';
import type { LandingForm, LandingOutcome, StoredWorkspaces } from './contract.ts';

/** The surroundings of stored workspaces. */
export interface StoredParts {
  readonly store: TaskStore;
  /** Absolute. */
  readonly dataDir: string;
  readonly environment: Environment;
  readonly signal: AbortSignal;
  readonly onNotice: (line: string) => void;
}

/** The maximum length of a diff, in UTF-16 units. */
const MAX_DIFF_LENGTH = 16 * 1024 * 1024;

/** Opens the workspaces of a data directory, for use without a session. */
export function openStoredWorkspaces(parts: StoredParts): StoredWorkspaces {
  const { dataDir, environment, signal } = parts;
  const access = { environment, signal };
  return {
    list: () => listWorkspaces(dataDir).flatMap((each) => (isDamagedWorkspace(each) ? [] : [each])),
    unfinished: () => listUnfinishedLandings(join(dataDir, 'workspaces')),
    async diff(prefix) {
      const { differences } = await readLandableWork(findRecord(parts, prefix), access);
      return formatDiff(differences, MAX_DIFF_LENGTH);
    },
    async preview(prefix) {
      const found = findRecord(parts, prefix);
      requireIdle(parts, found);
      const work = await readWorkOfEnded(parts, found);
      if (work === null) return { diff: '', files: 0, conflicts: [] };
      const { record, differences } = work;
      const diff = formatDiff(differences, MAX_DIFF_LENGTH);
      const plan = planLanding(differences, record.source);
      return plan.kind === 'conflicts'
        ? { diff, files: differences.length, conflicts: plan.conflicts.map(toLandingConflict) }
        : { diff, files: plan.changes.length, conflicts: [] };
    },
    leftDiff: (id, maxLength) => readLeftDiff(id, maxLength, { dataDir, ...access }),
    landingState: (id) => readLandingState(dataDir, id),
    apply: (prefix, form) =>
      withIdleTask(parts, prefix, (record) => applyWork(parts, record, form)),
    undo: (prefix) =>
      withHold(parts, prefix, async ({ id }) => {
        const outcome = await undoLanding(createLandingContext(id, parts));
        if (outcome.kind === 'conflicts')
          return { kind: 'conflicts', id, conflicts: outcome.conflicts.map(toLandingConflict) };
        return { ...NOTHING_LANDED, id, ...toDone(outcome) };
      }),
    recover: (prefix, action) =>
      withHold(parts, prefix, async (record) => {
        const { id } = record;
        const outcome = await recoverLanding(action, createLandingContext(id, parts));
        if (outcome.kind === 'aborted') return { ...outcome, id };
        await removeRecovered(record, parts);
        return { ...NOTHING_LANDED, id, ...toDone(outcome) };
      }),
    prune: (endedBefore) =>
      pruneWorkspaces({ ...parts, isActive: createActivityTest(parts) }, endedBefore),
    discard: (prefix) =>
      withIdleTask(parts, prefix, async (found) => {
        const record = requireOpen(found);
        const files = existsSync(record.tree) ? (await readEnd(parts, record)).files : [];
        await discardWorkspace(record, access);
        return { id: record.id, files };
      }),
  };
}

/** A landing that has changed nothing. */
const NOTHING_LANDED = {
  kind: 'landed',
  paths: [],
  left: [],
  leftInGit: [],
  commit: null,
  kept: null,
  checkInputs: [],
} as const;

function toDone({ paths, left, leftInGit }: FinishedLanding) {
  return { paths, left, leftInGit };
}

async function applyWork(
  parts: StoredParts,
  found: WorkspaceRecord,
  form: LandingForm,
): Promise<LandingOutcome> {
  const { id } = found;
  if (!existsSync(found.source)) {
    throw new MusterError(
      'NOT_FOUND',
      `the changes of task ${id} cannot be landed: their source ${found.source} no longer exists; restore that directory, or discard the changes (muster tasks discard ${id})`,
    );
  }
  const work = await readWorkOfEnded(parts, found);
  if (work === null) return { ...NOTHING_LANDED, id };
  const { record } = work;
  const criteria = readCriteria(parts.store, id);
  const check =
    criteria === null
      ? null
      : {
          criteria,
          hidden: await findHiddenPaths(record.source, parts),
          run: createCommandRunner(parts),
        };
  const proposal = await proposeLanding(work, { ...parts, check, form });
  if (!proposal.ok) return { kind: 'conflicts', id, conflicts: proposal.conflicts };
  const paths = proposal.files.map(({ path }) => relative(record.source, path));
  if (paths.length === 0) return { ...NOTHING_LANDED, id };
  return { ...NOTHING_LANDED, id, paths, ...(await proposal.land()) };
}

/**
 * Does work with the workspace of a task while no process works on the task, and none can begin to. Throws CONFLICT if
 * one does, or has its conversation open.
 */
async function withIdleTask<T>(
  parts: StoredParts,
  prefix: string,
  work: (record: WorkspaceRecord) => Promise<T>,
): Promise<T> {
  return await withHold(parts, prefix, async (record) => {
    requireNotAtWork(parts, record.id);
    return await work(record);
  });
}

/** Does work while this process holds the workspace of a task. Throws CONFLICT if another process holds it. */
async function withHold<T>(
  parts: StoredParts,
  prefix: string,
  work: (record: WorkspaceRecord) => Promise<T>,
): Promise<T> {
  const { id, tree } = findRecord(parts, prefix);
  // The record may have changed before the hold.
  return await withWorkspaceHold(id, dirname(tree), () => work(findRecord(parts, id)));
}

/**
 * Reads the changes of a task on which no process works. Null if it has left none. Throws NOT_FOUND if they have landed or
 * were discarded.
 */
async function readWorkOfEnded(
  parts: StoredParts,
  found: WorkspaceRecord,
): Promise<LandableWork | null> {
  if (!hasFiles(found)) return await readLandableWork(found, parts);
  const { record } = await readEnd(parts, found);
  return hasFiles(record) ? await readLandableWork(record, parts) : null;
}

/**
 * Commits what a task left when its process died. Does nothing for a task that has ended. If its files were deleted, its
 * recorded commit still has its changes.
 */
async function readEnd(
  { environment, signal }: StoredParts,
  record: WorkspaceRecord,
): Promise<Pick<WorkspaceEnd, 'record' | 'files'>> {
  if (!existsSync(record.tree) && typeof record.result?.commit === 'string')
    return { record, files: [] };
  return await endWorkspace(record, { environment, signal });
}

/** Returns the acceptance criteria of a task, if its log is still there. */
function readCriteria(store: TaskStore, id: string): AcceptanceCriteria | null {
  if (!store.exists(id)) return null;
  const { accept } = foldLog(store, id).spec;
  return accept !== undefined && hasCriteria(accept) ? accept : null;
}

function findRecord({ dataDir }: StoredParts, prefix: string): WorkspaceRecord {
  const all = listWorkspaces(dataDir).map((each) =>
    isDamagedWorkspace(each) ? (each.directory.split('/').at(-1) ?? '') : each.id,
  );
  const matching = all.filter((id) => id.startsWith(prefix));
  const [id] = all.includes(prefix) ? [prefix] : matching;
  if (id === undefined) throw new MusterError('NOT_FOUND', `no task ${prefix} has a workspace`);
  if (id !== prefix && matching.length > 1)
    throw new MusterError(
      'INVALID_PARAM',
      `${prefix} is the beginning of several ids: ${matching.join(', ')}`,
    );
  const record = readWorkspaceRecord(workspaceDirectory(dataDir, id));
  if (!isDamagedWorkspace(record)) return record;
  throw new MusterError('CONFLICT', `the workspace of task ${id} is damaged: ${record.problem}`);
}

function requireOpen(record: WorkspaceRecord): WorkspaceRecord {
  if (hasFiles(record)) return record;
  throw noChanges(record);
}

/** Returns a function that tells whether a process works on a task, or has its conversation open. */
function createActivityTest({ store, dataDir }: StoredParts): (id: string) => boolean {
  return (id) =>
    (store.exists(id) && store.getOwner(id) !== null) ||
    findHolder(workspaceDirectory(dataDir, id)) !== null;
}

/** Throws CONFLICT while a process works on the task, or has its conversation open. */
function requireIdle(parts: StoredParts, { id, tree }: WorkspaceRecord): void {
  requireNotHeld(id, dirname(tree));
  requireNotAtWork(parts, id);
}

function requireNotAtWork({ store }: StoredParts, id: string): void {
  if (!store.exists(id) || store.getOwner(id) === null) return;
  throw new MusterError(
    'CONFLICT',
    `task ${id} is still at work; wait for its end or stop it (muster tasks stop ${id})`,
  );
}
