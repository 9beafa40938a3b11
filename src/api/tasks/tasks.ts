import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { dropMissing } from '../../base/drop-missing.ts';
import { systemErrorCode, UsageError } from '../../base/errors.ts';
import { dataDirectory } from '../../config/paths.ts';
import { foldLog } from '../../engine/task/fold-log.ts';
import { buildResultEnvelope } from '../../engine/results/result.ts';
import { openMemoryStore } from '../../store/memory-store.ts';
import { plural } from '../../base/text.ts';
import { homeDirectory, readEnvironment, type Environment } from '../../sys/env.ts';
import { openDataDirectory } from '../setup/data-dir.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { LandingState } from '../../protocol/workspace.ts';
import { hasWorkspaces } from '../workspaces/has-workspaces.ts';
import { openWorkspacesLater } from '../workspaces/open-later.ts';
import type { TaskDirectory } from './ask-process.ts';
import type { Tasks, TasksOptions } from './contract.ts';
import type { DeletedTask } from './delete-tasks.ts';

/** The maximum number of tasks that one sweep of the store deletes, so that a long deletion can be interrupted. */
const MAX_TASKS_PER_SWEEP = 500;

/** Opens the tasks of a data directory. Throws UsageError for a directory that cannot be used. */
export function openTasks(options: TasksOptions = {}): Tasks {
  const environment = options.environment ?? readEnvironment();
  const { dataDir: chosen, onNotice = () => {}, create = false } = options;
  const directory = dataDirectory(
    { environment, home: homeDirectory(environment) },
    { cwd: process.cwd(), ...(chosen === undefined ? {} : { dataDir: chosen }) },
  );
  if (chosen !== undefined && !create && isMissing(directory)) {
    throw new UsageError(`there is no data directory ${directory}`);
  }
  // If the directory contains no tasks yet, reading must not create it, so use an empty store.
  const store =
    create || !isMissing(join(directory, 'tasks'))
      ? openDataDirectory({ dataDir: directory, durability: 'safe', onProblem: onNotice })
      : openMemoryStore();
  return createTasks({ store, dataDir: directory }, onNotice, environment);
}

/**
 * Checks whether a path does not exist, not even as a broken link. For other problems returns false: opening the path
 * reports them.
 */
function isMissing(path: string): boolean {
  try {
    lstatSync(path);
    return false;
  } catch (thrown) {
    return systemErrorCode(thrown) === 'ENOENT';
  }
}

/** Creates the methods for the tasks of a store. Code that only some methods need is loaded at their first call. */
function createTasks(
  taskDirectory: TaskDirectory,
  onNotice: (line: string) => void,
  environment: Environment,
): Tasks {
  const { store, dataDir } = taskDirectory;
  const workspaces = openWorkspacesLater({ store, dataDir, environment, onNotice });
  const state: Tasks['state'] = (prefix) => {
    const id = store.resolveId(prefix);
    const isOwned = store.getOwner(id) !== null;
    // Read the log after the owner: an owner writes the end before it releases the log.
    const task = foldLog(store, id);
    if (task.end === null && !isOwned && task.status !== 'parked') task.status = 'interrupted';
    return task;
  };
  const logs = {
    scan: (task: string, each: (event: TaskEvent) => void) => void store.scan(task, each),
    isOwned: (task: string) => store.getOwner(task) !== null,
  };
  return {
    state,
    list: (options) => store.list(options),
    async usage(query) {
      const { usageReport } = await import('./usage-report.ts');
      const task = query.task === null ? null : store.resolveId(query.task);
      return usageReport(store.list({ withLedgers: true }), { ...query, task });
    },
    envelope(task) {
      const { id } = task.spec;
      const paths = { transcript: store.logPath(id), outputFile: store.outputPath(id) };
      return buildResultEnvelope(task, paths);
    },
    async report(prefix, visit) {
      const { createTreeReport } = await import('../../report/tree-report.ts');
      // `state` throws an error that names the damage if the log has lost its beginning.
      const { id } = state(prefix).spec;
      const now = Date.now();
      const landingOf = await openLandingStates(dataDir);
      return createTreeReport(logs, id, { now, landingOf, ...dropMissing({ visit }) });
    },
    async boundedReport(prefix, maxTasks) {
      const { createTreeReportInSlices } = await import('../../report/tree-report.ts');
      const landingOf = await openLandingStates(dataDir);
      const options = { now: Date.now(), landingOf, maxTasks };
      return createTreeReportInSlices(logs, store.resolveId(prefix), options);
    },
    async diff(prefix, maxLength) {
      const { readTaskDiff } = await import('./task-diff.ts');
      const { createEnvironmentRedactor } = await import('../setup/secrets.ts');
      return readTaskDiff(taskDirectory, state(prefix), {
        maxLength,
        redact: createEnvironmentRedactor(environment),
        openWorkspaces: () => workspaces.open(new AbortController().signal),
      });
    },
    async context(prefix, turn) {
      const { readTaskContext, createSettingsDetails } = await import('./task-context.ts');
      const details = createSettingsDetails(environment, taskDirectory.dataDir);
      return readTaskContext(store, { id: store.resolveId(prefix), turn }, details);
    },
    async board(prefix) {
      const { readTaskBoard } = await import('./task-board.ts');
      return readTaskBoard(store, store.resolveId(prefix));
    },
    events: (prefix, fromSeq = 0) => store.streamEvents(store.resolveId(prefix), fromSeq),
    tail: (prefix) => store.openTail(store.resolveId(prefix)),
    async watch(prefix, options) {
      const { watchTasks } = await import('./watch-tasks.ts');
      const id = prefix === null ? null : store.resolveId(prefix);
      return watchTasks(store, id, options);
    },
    async follow(prefix, options) {
      const id = store.resolveId(prefix);
      const { followTree } = await import('./follow-tree.ts');
      return followTree(store, id, options);
    },
    async trace(prefix) {
      const { buildTrace } = await import('./task-trace.ts');
      return buildTrace(store, store.resolveId(prefix), environment);
    },
    async sendTrace(prefix) {
      const { sendTrace } = await import('./task-trace.ts');
      return sendTrace(store, store.resolveId(prefix), environment);
    },
    async rerun(prefix) {
      const { rerunFromLogs } = await import('./rerun.ts');
      return rerunFromLogs(store, store.resolveId(prefix), environment);
    },
    async planRewind(prefix, request) {
      const { planIdleRewind } = await import('./rewind.ts');
      return planIdleRewind(store, store.resolveId(prefix), request);
    },
    async rewind(plan) {
      const { rewind } = await import('../../engine/rewind/rewind.ts');
      return rewind(store, plan);
    },
    async stop(prefix, because) {
      const { stopTask } = await import('./stop-task.ts');
      return stopTask(taskDirectory, { id: store.resolveId(prefix), because, onNotice });
    },
    async questions() {
      const { listQuestions } = await import('./questions.ts');
      return listQuestions(taskDirectory, onNotice);
    },
    async question(prefix) {
      const { findQuestion } = await import('./questions.ts');
      return findQuestion(taskDirectory, prefix, onNotice);
    },
    async answer(prefix, request) {
      const { answerTaskQuestion } = await import('./questions.ts');
      return answerTaskQuestion(taskDirectory, prefix, request, onNotice);
    },
    async processFor(prefix) {
      const { findReceivingProcess } = await import('./send-message.ts');
      return findReceivingProcess(taskDirectory, foldLog(store, store.resolveId(prefix)));
    },
    async tell(prefix, message) {
      const { sendToTask } = await import('./send-message.ts');
      return sendToTask(taskDirectory, store.resolveId(prefix), message);
    },
    async detach(prefix) {
      const { detachTask } = await import('./send-message.ts');
      return detachTask(taskDirectory, store.resolveId(prefix));
    },
    exportTree: (prefix) => store.exportTree(store.resolveId(prefix)),
    async exportTrajectory(prefix) {
      const { exportTrajectory } = await import('./trajectory.ts');
      const { createEnvironmentRedactor } = await import('../setup/secrets.ts');
      const id = store.resolveId(prefix);
      return exportTrajectory(store, id, createEnvironmentRedactor(environment));
    },
    importTree: (text) => store.importTree(text),
    workspaces: (signal) => workspaces.open(signal),
    async workspaceSummaries() {
      if (!hasWorkspaces(dataDir)) return [];
      const { listWorkspaceSummaries } = await import('../../workspaces/landing-state.ts');
      return listWorkspaceSummaries(dataDir);
    },
    async delete(prefixes) {
      const { deleteTasksWithDescendants } = await import('./delete-tasks.ts');
      const ids = prefixes.map((prefix) => store.resolveId(prefix));
      return deleteTasksWithDescendants(store, ids);
    },
    async prune(endedBefore) {
      const { kept } = await workspaces.prune(endedBefore);
      if (kept.length > 0)
        onNotice(
          `changes of ${plural(kept.length, 'task')} wait in workspaces, which are kept: ${kept.join(', ')} (muster tasks apply or discard)`,
        );
      const known = new Map(store.list().map((task) => [task.id, task]));
      const pruned: DeletedTask[] = [];
      for (;;) {
        const ids = await store.sweep({ endedBefore, maxTasks: MAX_TASKS_PER_SWEEP });
        if (ids.length === 0) return pruned.toSorted(compareOldestFirst);
        for (const id of ids) pruned.push({ id, was: known.get(id) ?? null });
      }
    },
    close: () => store.close(),
  };
}

/** Returns a function that tells what has become of the changes of a task. Loads nothing if there are no workspaces. */
async function openLandingStates(dataDir: string): Promise<(id: string) => LandingState> {
  if (!hasWorkspaces(dataDir)) return () => 'gone';
  const { readLandingState } = await import('../../workspaces/landing-state.ts');
  return (id) => readLandingState(dataDir, id);
}

/** Compares tasks so that older tasks come first, and parents come before their children. */
function compareOldestFirst(a: DeletedTask, b: DeletedTask): number {
  return (a.was?.created ?? 0) - (b.was?.created ?? 0) || (a.was?.depth ?? 0) - (b.was?.depth ?? 0);
}
