import { lstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { dropMissing } from '../../base/drop-missing.ts';
import { systemErrorCode, UsageError } from '../../base/errors.ts';
import { foldLog } from '../../engine/task/fold-log.ts';
import { buildResultEnvelope } from '../../engine/results/result.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import { openMemoryStore } from '../../store/memory-store.ts';
import { readEnvironment, type Environment } from '../../sys/env.ts';
import { dataDirectory } from '../../config/paths.ts';
import { openDataDirectory } from '../setup/data-dir.ts';
import type { DeletedTask } from './delete-tasks.ts';
import type { TaskDirectory } from './ask-process.ts';
import type { Tasks, TasksOptions } from './contract.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** The most tasks that one sweep deletes, so that a longer deletion can be interrupted. */
const PRUNED_AT_ONCE = 500;

/** Opens the tasks of a data directory. Throws UsageError for one that cannot be used. */
export function openTasks(options: TasksOptions = {}): Tasks {
  const environment = options.environment ?? readEnvironment();
  const home = environment['HOME'] || homedir();
  const { dataDir: chosen, onNotice = () => {} } = options;
  const directory = dataDirectory(
    { environment, home },
    { cwd: process.cwd(), ...dropMissing({ dataDir: chosen }) },
  );
  const { create = false } = options;
  if (chosen !== undefined && !create && isMissing(directory)) {
    throw new UsageError(`there is no data directory ${directory}`);
  }
  // Where nothing was ever kept, nothing is: to look is no reason to make it.
  const store =
    create || !isMissing(join(directory, 'tasks'))
      ? openDataDirectory({ dataDir: directory, durability: 'safe', onProblem: onNotice })
      : openMemoryStore();
  return storedTasks({ store, dataDir: directory, environment }, onNotice);
}

/**
 * Returns whether a name does not exist, not even as a broken link. Opening it reports other problems.
 */
function isMissing(path: string): boolean {
  try {
    lstatSync(path);
    return false;
  } catch (thrown) {
    return systemErrorCode(thrown) === 'ENOENT';
  }
}

/** Creates the tasks of a store. Code that only some commands need is loaded when it is used. */
function storedTasks(
  { environment, ...place }: TaskDirectory & { readonly environment: Environment },
  onNotice: (line: string) => void,
): Tasks {
  const { store } = place;
  const idOf = (prefix: string): string => store.resolveId(prefix);
  const stateOf = (prefix: string): TaskState => {
    const id = idOf(prefix);
    const isOwned = store.getOwner(id) !== null;
    // Read after the owner was looked for: an end is written before the log is given up.
    const state = foldLog(store, id);
    if (state.end === null && !isOwned && state.status !== 'parked') state.status = 'interrupted';
    return state;
  };
  return {
    list: () => store.list(),
    async usage(query) {
      const { usageReport } = await import('./usage-report.ts');
      const task = query.task === null ? null : idOf(query.task);
      return usageReport(store.list({ withLedgers: true }), { ...query, task });
    },
    state: stateOf,
    envelope(state) {
      const { id } = state.spec;
      const paths = { transcript: store.logPath(id), outputFile: store.outputPath(id) };
      return buildResultEnvelope(state, paths);
    },
    async report(prefix, visit) {
      const { treeReport } = await import('../../report/tree-report.ts');
      // It names what is wrong with a log that has lost its beginning.
      const { id } = stateOf(prefix).spec;
      const source = {
        scan: (task: string, each: (event: TaskEvent) => void) => void store.scan(task, each),
        isOwned: (task: string) => store.getOwner(task) !== null,
      };
      return treeReport(source, id, { now: Date.now(), ...dropMissing({ visit }) });
    },
    async context(prefix, turn) {
      const { contextOfTask } = await import('./task-context.ts');
      return contextOfTask(store, { id: idOf(prefix), turn }, environment);
    },
    events: (prefix, fromSeq = 0) => store.streamEvents(idOf(prefix), fromSeq),
    async watch(prefix, options) {
      const { watchTasks } = await import('./watch-tasks.ts');
      return watchTasks(store, prefix === null ? null : idOf(prefix), options);
    },
    async follow(prefix, options) {
      const id = idOf(prefix);
      const { followTree } = await import('./follow-tree.ts');
      return followTree(store, id, options);
    },
    async rerun(prefix) {
      const { rerunFromLogs } = await import('./rerun.ts');
      return rerunFromLogs(store, idOf(prefix), environment);
    },
    async planRewind(prefix, wish) {
      const { planIdleRewind } = await import('./rewind.ts');
      return planIdleRewind(store, idOf(prefix), wish);
    },
    async rewind(plan) {
      const { rewind } = await import('../../engine/rewind/rewind.ts');
      return rewind(store, plan);
    },
    async stop(prefix, because) {
      const { stopTask } = await import('./stop-task.ts');
      return stopTask(place, { id: idOf(prefix), because, onNotice });
    },
    async questions() {
      const { listQuestions } = await import('./questions.ts');
      return listQuestions(place, onNotice);
    },
    async question(prefix) {
      const { findQuestion } = await import('./questions.ts');
      return findQuestion(place, prefix, onNotice);
    },
    async answer(prefix, wish) {
      const { answerTaskQuestion } = await import('./questions.ts');
      return answerTaskQuestion(place, prefix, wish, onNotice);
    },
    async processFor(prefix) {
      const { processFor } = await import('./send-message.ts');
      return processFor(place, foldLog(store, idOf(prefix)));
    },
    async tell(prefix, message) {
      const { sendToTask } = await import('./send-message.ts');
      return sendToTask(place, idOf(prefix), message);
    },
    async detach(prefix) {
      const { detachTask } = await import('./send-message.ts');
      return detachTask(place, idOf(prefix));
    },
    exportTree: (prefix) => store.exportTree(idOf(prefix)),
    importTree: (text) => store.importTree(text),
    async delete(prefixes) {
      const { deleteTasksWithDescendants } = await import('./delete-tasks.ts');
      return deleteTasksWithDescendants(store, prefixes.map(idOf));
    },
    async prune(endedBefore) {
      const known = new Map(store.list().map((task) => [task.id, task]));
      const pruned: DeletedTask[] = [];
      for (;;) {
        const ids = await store.sweep({ endedBefore, maxTasks: PRUNED_AT_ONCE });
        if (ids.length === 0) return pruned.toSorted(oldestFirst);
        for (const id of ids) pruned.push({ id, was: known.get(id) ?? null });
      }
    },
    close: () => store.close(),
  };
}

/** Sorts parents before their children. */
function oldestFirst(a: DeletedTask, b: DeletedTask): number {
  return (a.was?.created ?? 0) - (b.was?.created ?? 0) || (a.was?.depth ?? 0) - (b.was?.depth ?? 0);
}
