import { dirname, join, relative } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { foldLog } from '../../engine/task/fold-log.ts';
import { hasCriteria, type AcceptanceCriteria } from '../../protocol/acceptance.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { Environment } from '../../sys/env.ts';
import { endWorkspace, type WorkspaceEnd } from '../../workspaces/end.ts';
import { formatDiff } from '../../workspaces/format-diff.ts';
import { listDifferences } from '../../workspaces/list-differences.ts';
import { undoLanding, recoverLanding } from '../../workspaces/landing/land.ts';
import { listUnfinishedLandings } from '../../workspaces/landing/unfinished.ts';
import {
  isDamagedWorkspace,
  listWorkspaces,
  readWorkspaceRecord,
  workspaceDirectory,
  type WorkspaceRecord,
} from '../../workspaces/record.ts';
import {
  finishRemoval,
  findAbandonedWorkspaces,
  removeWorkspace,
} from '../../workspaces/remove.ts';
import { readJournal, unfinishedDirectory } from '../../workspaces/landing/journal.ts';
import { deleteDirectory } from '../../workspaces/worktree-files.ts';
import { findHolder, requireNotHeld } from './workspace-hold.ts';
import { createCommandRunner } from './command-runner.ts';
import { createLandingContext, proposeLanding, toLandingConflict } from './propose-landing.ts';
import type { LandingForm, LandingOutcome, StoredWorkspaces } from './contract.ts';

/** The surroundings of stored workspaces. */
interface StoredParts {
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
      const record = requireOpen(findRecord(parts, prefix));
      return formatDiff(await listDifferences(record, access), MAX_DIFF_LENGTH);
    },
    apply: (prefix, form) => applyWorkspace(parts, prefix, form),
    async undo(prefix) {
      const { id } = findRecord(parts, prefix);
      const outcome = await undoLanding(createLandingContext(id, parts));
      return outcome.kind === 'conflicts'
        ? { kind: 'conflicts', id, conflicts: outcome.conflicts.map(toLandingConflict) }
        : { kind: 'landed', id, paths: outcome.paths, left: outcome.left, commit: null };
    },
    async recover(prefix, action) {
      const { id } = findRecord(parts, prefix);
      const outcome = await recoverLanding(action, createLandingContext(id, parts));
      return outcome.kind === 'aborted'
        ? { kind: 'aborted', id, left: outcome.left }
        : { kind: 'landed', id, paths: outcome.paths, left: outcome.left, commit: null };
    },
    prune: (endedBefore) => pruneWorkspaces(parts, endedBefore),
    async discard(prefix) {
      const record = requireOpen(findRecord(parts, prefix));
      requireIdle(parts, record);
      const { files } = await readEnd(parts, record);
      await removeWorkspace(record, { ...access, discard: 'changes' });
      return { id: record.id, files };
    },
  };
}

async function pruneWorkspaces(
  parts: StoredParts,
  endedBefore: number,
): Promise<{ readonly kept: readonly string[] }> {
  const { store, dataDir, environment, signal } = parts;
  const isActive = (id: string): boolean =>
    findHolder(workspaceDirectory(dataDir, id)) !== null ||
    (store.exists(id) && store.getOwner(id) !== null);
  for (const { workspace, state } of findAbandonedWorkspaces(dataDir, isActive)) {
    if (isDamagedWorkspace(workspace) || state === 'open') continue;
    await finishRemoval(workspace, { environment, signal });
  }
  const kept: string[] = [];
  for (const record of listWorkspaces(dataDir)) {
    if (isDamagedWorkspace(record)) continue;
    const { id, status, result } = record;
    if (status === 'ready' || status === 'ended') kept.push(id);
    const hasExpired = result !== undefined && Date.parse(result.endedAt) < endedBefore;
    const directory = workspaceDirectory(dataDir, id);
    const isFinished = readJournal(unfinishedDirectory(directory)) === null;
    if (status === 'removed' && hasExpired && isFinished) await deleteDirectory(directory);
  }
  return { kept };
}

async function applyWorkspace(
  parts: StoredParts,
  prefix: string,
  form: LandingForm,
): Promise<LandingOutcome> {
  const found = requireOpen(findRecord(parts, prefix));
  requireIdle(parts, found);
  const { id } = found;
  const { record, commits } = await readEnd(parts, found);
  if (record.status !== 'ended') return { kind: 'landed', id, paths: [], left: [], commit: null };
  const criteria = readCriteria(parts.store, id);
  const check = criteria === null ? null : { criteria, run: createCommandRunner(parts) };
  // Without commits of the task itself, there is nothing to keep apart.
  const chosen = form === 'commits' && commits === 0 ? 'squash' : form;
  const proposal = await proposeLanding(record, { ...parts, check, form: chosen });
  if (!proposal.ok) return { kind: 'conflicts', id, conflicts: proposal.conflicts };
  const paths = proposal.files.map(({ path }) => relative(record.source, path));
  if (paths.length === 0) return { kind: 'landed', id, paths, left: [], commit: null };
  const { commit } = await proposal.land();
  return { kind: 'landed', id, paths, left: [], commit };
}

/** Commits what a task left when its process died. Does nothing for a task that has ended. */
async function readEnd(
  { environment, signal }: StoredParts,
  record: WorkspaceRecord,
): Promise<WorkspaceEnd> {
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
  if (record.status === 'ready' || record.status === 'ended') return record;
  const { id, status } = record;
  throw new MusterError(
    'NOT_FOUND',
    `the workspace of task ${id} is ${status}, so there are no changes`,
  );
}

/** Throws CONFLICT while a process works on the task, or has its conversation open. */
function requireIdle({ store }: StoredParts, { id, tree }: WorkspaceRecord): void {
  requireNotHeld(id, dirname(tree));
  if (!store.exists(id) || store.getOwner(id) === null) return;
  throw new MusterError(
    'CONFLICT',
    `task ${id} is still at work; wait for its end or stop it (muster tasks stop ${id})`,
  );
}
