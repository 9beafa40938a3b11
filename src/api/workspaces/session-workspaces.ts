import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { isInside } from '../../base/path-inside.ts';
import { directoryNames } from '../../sys/files/path-lookup.ts';
import type { Config } from '../../config/config.ts';
import {
  MAX_LISTED_CHANGES,
  type TaskWorkspace,
  type WorkspacePort,
  type ExpectedConflict,
  type LandingProposal,
  type LandingState,
  type SetupRunner,
  type WorkspaceResult,
  type WorkspaceTask,
} from '../../protocol/workspace.ts';
import type { Environment } from '../../sys/env.ts';
import type { WorkspaceEnd } from '../../workspaces/end.ts';
import type { WorkspacePlan } from '../../workspaces/plan.ts';
import type { WorkspaceRecord } from '../../workspaces/record.ts';

/** The parts of a session that its workspaces need. */
interface WorkspaceParts {
  readonly settings: Config['workspaces'];
  readonly environment: Environment;
  /** The data directory, in which the workspaces lie. Null if this session keeps nothing. */
  readonly dataDir: string | null;
  /** Whether workspaces of conversations stay open until the session ends, and not only until an answer. */
  readonly keepsOpen: boolean;
  /** Ends the programs that were started for a workspace, given by its directory, and waits for their ends. */
  endPrograms(tree: string): Promise<void>;
}

/** The changes that a conversation has left in its workspace. */
export interface LeftWorkspace {
  readonly task: WorkspaceTask;
  /** The changes, or the reason why they could not be recorded. */
  readonly left: WorkspaceResult | MusterError;
}

/** The workspaces of the tasks of a session. */
export interface SessionWorkspacePort extends WorkspacePort {
  /** Ends the workspaces of conversations that have stayed open, and returns what is in them. */
  closeOpen(): Promise<readonly LeftWorkspace[]>;
}

type PlanModule = typeof import('../../workspaces/plan.ts');

/** Creates the workspaces of the tasks of a session. Loads the module that does it when a task needs one. */
export function createSessionWorkspaces(parts: WorkspaceParts): SessionWorkspacePort {
  return new SessionWorkspaces(parts);
}

class SessionWorkspaces implements SessionWorkspacePort {
  readonly #parts: WorkspaceParts;
  #plans: PlanModule | null = null;
  /** The open workspaces of conversations, by the ids of their tasks. */
  readonly #open = new Map<
    string,
    { readonly task: WorkspaceTask; readonly release: () => void }
  >();

  constructor(parts: WorkspaceParts) {
    this.#parts = parts;
  }

  async prepare(): Promise<void> {
    this.#plans ??= await import('../../workspaces/plan.ts');
  }

  findProblem(cwd: string): string | null {
    if (this.#parts.dataDir === null)
      return 'this run keeps no log, so the changes of a workspace could not be found again.';
    if (this.#plans === null)
      return 'the session began before a definition asked for a workspace; a new session can give one.';
    try {
      this.#plan({ id: 'aaaaaaaa', cwd, description: '' });
      return null;
    } catch (thrown) {
      if (!(thrown instanceof MusterError)) throw thrown;
      return `${thrown.message}.`;
    }
  }

  plan(task: Parameters<WorkspacePort['plan']>[0]): TaskWorkspace {
    const { kind, source, tree, git } = this.#plan(task);
    if (git === undefined) return { kind, source, tree };
    const { branch, repository } = git;
    return { kind, source, tree, branch, commonDirectory: repository.commonDirectory };
  }

  #plan(task: { readonly id: string; readonly cwd: string; readonly description: string }) {
    const { dataDir } = this.#parts;
    if (this.#plans === null || dataDir === null) throw new Error('workspaces are not prepared');
    return this.#plans.planWorkspace({ ...task, dataDir });
  }

  async open(task: WorkspaceTask, options: Parameters<WorkspacePort['open']>[1]) {
    const { id, root, workspace } = task;
    const directory = dirname(workspace.tree);
    const { holdWorkspace, requireNotHeld } = await import('./workspace-hold.ts');
    if (!this.#open.has(id)) requireNotHeld(id, directory);
    const start = await this.#openTree(task, options);
    if (this.#parts.keepsOpen && id === root && !this.#open.has(id))
      this.#open.set(id, { task, release: holdWorkspace(id, directory) });
    return start;
  }

  async #openTree(task: WorkspaceTask, options: Parameters<WorkspacePort['open']>[1]) {
    const { id, description } = task;
    const record = await this.#findRecord(id);
    if (record !== null && OPEN_STATUSES.has(record.status)) {
      const { writeWorkspaceRecord } = await import('../../workspaces/record.ts');
      const { result: _, ...again } = record;
      writeWorkspaceRecord({ ...again, status: 'ready' });
      return { base: describeBase(record), isKept: true, notes: [] };
    }
    const { environment, settings } = this.#parts;
    const plan = this.#planAgain(task, description);
    const { createWorkspace } = await import('../../workspaces/create.ts');
    const created = await createWorkspace(
      plan,
      {
        environment,
        start: settings.uncommitted ? 'uncommitted' : 'commit',
        limits: { bytes: settings.maxCopyBytes, files: settings.maxCopyFiles },
        packages: { mode: settings.packages, names: settings.packageDirectories },
        ...(settings.setup === null
          ? {}
          : { setup: { command: settings.setup, run: failUnlessZero(options.runSetup) } }),
      },
      options.signal,
    );
    return { base: describeBase(created.record), isKept: false, notes: created.notes };
  }

  async close(task: WorkspaceTask): Promise<WorkspaceResult | null> {
    return this.#open.has(task.id) ? null : await this.#end(task);
  }

  async closeOpen(): Promise<readonly LeftWorkspace[]> {
    const all = [...this.#open.values()];
    this.#open.clear();
    return await Promise.all(
      all.map(async ({ task, release }): Promise<LeftWorkspace> => {
        try {
          return { task, left: await this.#end(task) };
        } catch (thrown) {
          if (!(thrown instanceof MusterError)) throw thrown;
          return { task, left: thrown };
        } finally {
          release();
        }
      }),
    );
  }

  async #end({ id, workspace }: WorkspaceTask): Promise<WorkspaceResult> {
    // Nothing may change the files while they are recorded.
    await this.#parts.endPrograms(workspace.tree);
    const record = await this.#requireOpen(id);
    const { endWorkspace } = await import('../../workspaces/end.ts');
    // What the task left is recorded even if it was stopped.
    const { signal } = new AbortController();
    const end = await endWorkspace(record, { environment: this.#parts.environment, signal });
    const conflicts = end.isChanged ? await this.#findConflicts(end.record, signal) : [];
    return toResult(end, conflicts);
  }

  async #findConflicts(
    record: WorkspaceRecord,
    signal: AbortSignal,
  ): Promise<readonly ExpectedConflict[]> {
    const { environment, dataDir } = this.#parts;
    const { findExpectedConflicts } = await import('./expected-conflicts.ts');
    return await findExpectedConflicts(record, { environment, signal, dataDir: dataDir ?? '' });
  }

  async landingStates(ids: readonly string[]): Promise<ReadonlyMap<string, LandingState>> {
    const { dataDir } = this.#parts;
    if (dataDir === null) return new Map();
    const { readLandingState } = await import('../../workspaces/landing-state.ts');
    return new Map(ids.map((id) => [id, readLandingState(dataDir, id)]));
  }

  async diff(id: string, maxLength: number, signal: AbortSignal): Promise<string> {
    const record = await this.#requireRecord(id);
    const [{ formatDiff }, { readLandableWork }] = await Promise.all([
      import('../../workspaces/format-diff.ts'),
      import('./landable-work.ts'),
    ]);
    const { environment } = this.#parts;
    const { differences } = await readLandableWork(record, { environment, signal });
    return formatDiff(differences, maxLength);
  }

  async discard(id: string, signal: AbortSignal): Promise<void> {
    const record = await this.#requireOpen(id);
    const { discardWorkspace } = await import('../../workspaces/remove.ts');
    await discardWorkspace(record, { environment: this.#parts.environment, signal });
  }

  async proposeLanding(
    id: string,
    { signal, check }: Parameters<WorkspacePort['proposeLanding']>[1],
  ): Promise<LandingProposal> {
    const found = await this.#requireRecord(id);
    const { dataDir, environment } = this.#parts;
    const [{ NOTHING_TO_LAND, proposeLanding }, { endWorkspace }, { readLandableWork }] =
      await Promise.all([
        import('./propose-landing.ts'),
        import('../../workspaces/end.ts'),
        import('./landable-work.ts'),
      ]);
    // If the process of the task has died, what it left is not recorded yet.
    const isRecorded = found.result !== undefined || !OPEN_STATUSES.has(found.status);
    const record = isRecorded ? found : (await endWorkspace(found, { environment, signal })).record;
    if (!isRecorded && record.status === 'removed') return NOTHING_TO_LAND;
    return await proposeLanding(await readLandableWork(record, { environment, signal }), {
      dataDir: dataDir ?? '',
      environment,
      signal,
      check,
      form: 'files',
    });
  }

  #planAgain({ id, workspace }: WorkspaceTask, description: string): WorkspacePlan {
    // The directory below the source does not matter here: the task knows its working directory.
    const plan = this.#plan({ id, cwd: workspace.source, description });
    const { git } = plan;
    // The branch may have a name that the user has chosen.
    return git === undefined || workspace.branch === undefined
      ? plan
      : { ...plan, git: { ...git, branch: workspace.branch } };
  }

  async #findRecord(id: string): Promise<WorkspaceRecord | null> {
    const { dataDir } = this.#parts;
    if (dataDir === null) return null;
    const { isDamagedWorkspace, readWorkspaceRecord, workspaceDirectory } =
      await import('../../workspaces/record.ts');
    const record = readWorkspaceRecord(workspaceDirectory(dataDir, id));
    return isDamagedWorkspace(record) ? null : record;
  }

  async #requireRecord(id: string): Promise<WorkspaceRecord> {
    const record = await this.#findRecord(id);
    if (record === null) throw new MusterError('NOT_FOUND', `task ${id} has no workspace`);
    return record;
  }

  async #requireOpen(id: string): Promise<WorkspaceRecord> {
    const record = await this.#requireRecord(id);
    if (OPEN_STATUSES.has(record.status)) return record;
    throw new MusterError(
      'NOT_FOUND',
      `task ${id} has no workspace any more: it was ${record.status}`,
    );
  }
}

/**
 * Finishes the landings of killed processes in the directories of a session. Their changes are then complete. Reports
 * each of them, and what could not be finished.
 */
export async function finishLandings(
  { dataDir, environment }: { readonly dataDir: string; readonly environment: Environment },
  roots: readonly string[],
  onNotice: (line: string) => void,
): Promise<void> {
  const all = join(dataDir, 'workspaces');
  if (!directoryNames(all).some((id) => existsSync(join(all, id, 'landing')))) return;
  const [
    { listUnfinishedLandings },
    { recoverLanding },
    { createLandingContext },
    { removeRecovered },
    { withWorkspaceHold },
    { isDamagedWorkspace, readWorkspaceRecord, workspaceDirectory },
  ] = await Promise.all([
    import('../../workspaces/landing/unfinished.ts'),
    import('../../workspaces/landing/land.ts'),
    import('./propose-landing.ts'),
    import('./remove-landed.ts'),
    import('./workspace-hold.ts'),
    import('../../workspaces/record.ts'),
  ]);
  const { signal } = new AbortController();
  for (const { task, source, kind } of listUnfinishedLandings(all)) {
    if (!roots.some((root) => isInside(source, root) || isInside(root, source))) continue;
    try {
      const context = createLandingContext(task, { dataDir, environment, signal });
      const { left, leftInGit } = await withWorkspaceHold(task, context.directory, () =>
        recoverLanding('continue', context),
      );
      const record = readWorkspaceRecord(workspaceDirectory(dataDir, task));
      if (!isDamagedWorkspace(record)) await removeRecovered(record, { dataDir, environment });
      const skipped =
        left.length + leftInGit.length === 0
          ? ''
          : `; left as they are, because they changed since: ${[...left, ...leftInGit].join(', ')}`;
      onNotice(
        kind === 'apply'
          ? `the changes of task ${task}, whose landing in ${source} was interrupted, are complete now (muster tasks apply ${task} --undo takes them back)${skipped}`
          : `the undoing of the landing of task ${task} in ${source}, which was interrupted, is complete now${skipped}`,
      );
    } catch (thrown) {
      if (!(thrown instanceof MusterError)) throw thrown;
      // Another process was at work on the landing, and has ended it meanwhile.
      if (!existsSync(join(all, task, 'landing'))) continue;
      onNotice(
        `the interrupted ${kind === 'apply' ? 'landing' : 'undoing of the landing'} of task ${task} could not be finished: ${thrown.message}; muster tasks apply ${task} --continue finishes it later, and --abort takes it back`,
      );
    }
  }
}

/** Makes a runner of commands that rejects with the end of the output if the command fails. */
function failUnlessZero(run: SetupRunner): (command: string, cwd: string) => Promise<void> {
  return async (command, cwd) => {
    const { exitCode, output } = await run(command, cwd);
    if (exitCode === 0) return;
    const how = exitCode === null ? 'was ended' : `failed with exit code ${exitCode}`;
    throw new MusterError('CONFLICT', `${how}: ${output.trim().slice(-MAX_SETUP_OUTPUT)}`);
  };
}

const MAX_SETUP_OUTPUT = 1_000;

/** The states in which a workspace has files. */
const OPEN_STATUSES: ReadonlySet<WorkspaceRecord['status']> = new Set(['ready', 'ended']);

function describeBase({ git, createdAt }: WorkspaceRecord): string {
  return git?.base ?? createdAt;
}

function toResult(end: WorkspaceEnd, conflicts: readonly ExpectedConflict[]): WorkspaceResult {
  const { isChanged, files, commits, commit } = end;
  const count = (lines: readonly (number | null)[]): number =>
    lines.reduce<number>((sum, each) => sum + (each ?? 0), 0);
  return {
    isChanged,
    files: files.slice(0, MAX_LISTED_CHANGES),
    fileCount: files.length,
    addedLines: count(files.map(({ added }) => added)),
    deletedLines: count(files.map(({ deleted }) => deleted)),
    commits,
    commit,
    conflicts,
  };
}
