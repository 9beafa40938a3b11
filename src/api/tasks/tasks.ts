import { lstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { systemErrorCode, UsageError } from '../../base/errors.ts';
import { foldLog } from '../../engine/task/fold-log.ts';
import type { AnswerRequest } from '../../engine/questions/record-answer.ts';
import { buildResultEnvelope } from '../../engine/results/result.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { ResultEnvelope } from '../../protocol/result.ts';
import { openMemoryStore } from '../../store/memory-store.ts';
import type { TaskOwner, TaskStore, TaskSummary } from '../../store/task-store.ts';
import { readEnvironment, type Environment } from '../../sys/env.ts';
import { dataDirectory } from '../../config/paths.ts';
import { openDataDirectory } from '../setup/data-dir.ts';
import type { DeletedTask } from './delete-tasks.ts';
import type { TreeReport } from '../../report/tree-report.ts';
import type { RewindPlan, RewindRequest } from '../../engine/rewind/plan-rewind.ts';
import type { TaskDirectory } from './ask-process.ts';
import type { RewindOutcome } from '../../engine/rewind/rewind.ts';
import type { TreeRerun } from '../../replay/rerun-tree.ts';
import type { TaskContext } from './task-context.ts';
import type { AnswerOutcome, AskedQuestion } from './questions.ts';
import type { StopOutcome } from './stop-task.ts';
import type { TaskMessage, SentMessage } from './send-message.ts';
import type { UsageQuery, UsageReport } from './usage-report.ts';
import type { WatchEnd, WatchListener } from './watch-tasks.ts';
import type { TreeListener } from './follow-tree.ts';
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
    { cwd: process.cwd(), ...(chosen === undefined ? {} : { dataDir: chosen }) },
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
  return new StoredTasks({ store, dataDir: directory }, { onNotice, environment });
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

/** The tasks of a store. Code that only some commands need is loaded when it is used. */
class StoredTasks implements Tasks {
  private readonly place: TaskDirectory;
  private readonly store: TaskStore;
  private readonly onNotice: (line: string) => void;
  private readonly environment: Environment;

  constructor(
    place: TaskDirectory,
    {
      onNotice,
      environment,
    }: { readonly onNotice: (line: string) => void; readonly environment: Environment },
  ) {
    this.place = place;
    this.store = place.store;
    this.onNotice = onNotice;
    this.environment = environment;
  }

  list(): readonly TaskSummary[] {
    return this.store.list();
  }

  async usage(query: UsageQuery): Promise<UsageReport> {
    const { usageReport } = await import('./usage-report.ts');
    const task = query.task === null ? null : this.store.resolveId(query.task);
    return usageReport(this.store.list({ withLedgers: true }), { ...query, task });
  }

  state(prefix: string): TaskState {
    const id = this.store.resolveId(prefix);
    const isOwned = this.store.getOwner(id) !== null;
    // Read after the owner was looked for: an end is written before the log is given up.
    const state = foldLog(this.store, id);
    if (state.end === null && !isOwned && state.status !== 'parked') state.status = 'interrupted';
    return state;
  }

  envelope(state: TaskState): ResultEnvelope {
    const { id } = state.spec;
    return buildResultEnvelope(state, {
      transcript: this.store.logPath(id),
      outputFile: this.store.outputPath(id),
    });
  }

  async report(prefix: string, visit?: (event: TaskEvent) => void): Promise<TreeReport> {
    const { treeReport } = await import('../../report/tree-report.ts');
    // It names what is wrong with a log that has lost its beginning.
    const { id } = this.state(prefix).spec;
    const source = {
      scan: (task: string, each: (event: TaskEvent) => void) => void this.store.scan(task, each),
      isOwned: (task: string) => this.store.getOwner(task) !== null,
    };
    return treeReport(source, id, { now: Date.now(), ...(visit === undefined ? {} : { visit }) });
  }

  async context(prefix: string, turn: number | null): Promise<TaskContext> {
    const { contextOfTask } = await import('./task-context.ts');
    return contextOfTask(this.store, { id: this.store.resolveId(prefix), turn }, this.environment);
  }

  events(prefix: string, fromSeq = 0): AsyncIterable<TaskEvent> {
    return this.store.streamEvents(this.store.resolveId(prefix), fromSeq);
  }

  async watch(
    prefix: string | null,
    options: { readonly listener: WatchListener; readonly signal: AbortSignal },
  ): Promise<WatchEnd> {
    const { watchTasks } = await import('./watch-tasks.ts');
    const id = prefix === null ? null : this.store.resolveId(prefix);
    return watchTasks(this.store, id, options);
  }

  async follow(
    prefix: string,
    options: { readonly listener: TreeListener; readonly signal: AbortSignal },
  ): Promise<void> {
    const id = this.store.resolveId(prefix);
    const { followTree } = await import('./follow-tree.ts');
    return followTree(this.store, id, options);
  }

  async rerun(prefix: string): Promise<TreeRerun> {
    const { rerunFromLogs } = await import('./rerun.ts');
    return rerunFromLogs(this.store, this.store.resolveId(prefix), this.environment);
  }

  async planRewind(prefix: string, wish: RewindRequest): Promise<RewindPlan> {
    const { planIdleRewind } = await import('./rewind.ts');
    return planIdleRewind(this.store, this.store.resolveId(prefix), wish);
  }

  async rewind(plan: RewindPlan): Promise<RewindOutcome> {
    const { rewind } = await import('../../engine/rewind/rewind.ts');
    return rewind(this.store, plan);
  }

  async stop(prefix: string, because: string): Promise<StopOutcome> {
    const { stopTask } = await import('./stop-task.ts');
    const { onNotice } = this;
    return stopTask(this.place, { id: this.store.resolveId(prefix), because, onNotice });
  }

  async questions(): Promise<readonly AskedQuestion[]> {
    const { listQuestions } = await import('./questions.ts');
    return listQuestions(this.place, this.onNotice);
  }

  async question(prefix: string): Promise<AskedQuestion> {
    const { findQuestion } = await import('./questions.ts');
    return findQuestion(this.place, prefix, this.onNotice);
  }

  async answer(prefix: string, wish: AnswerRequest): Promise<AnswerOutcome> {
    const { answerTaskQuestion } = await import('./questions.ts');
    return answerTaskQuestion(this.place, prefix, wish, this.onNotice);
  }

  async processFor(prefix: string): Promise<TaskOwner | null> {
    const { processFor } = await import('./send-message.ts');
    return processFor(this.place, foldLog(this.store, this.store.resolveId(prefix)));
  }

  async tell(prefix: string, message: TaskMessage): Promise<SentMessage | null> {
    const { sendToTask } = await import('./send-message.ts');
    return sendToTask(this.place, this.store.resolveId(prefix), message);
  }

  async detach(prefix: string): Promise<SentMessage> {
    const { detachTask } = await import('./send-message.ts');
    return detachTask(this.place, this.store.resolveId(prefix));
  }

  exportTree(prefix: string): AsyncIterable<string> {
    return this.store.exportTree(this.store.resolveId(prefix));
  }

  importTree(text: AsyncIterable<string>): Promise<readonly string[]> {
    return this.store.importTree(text);
  }

  async delete(prefixes: readonly string[]): Promise<readonly DeletedTask[]> {
    const { deleteTasksWithDescendants } = await import('./delete-tasks.ts');
    const ids = prefixes.map((prefix) => this.store.resolveId(prefix));
    return deleteTasksWithDescendants(this.store, ids);
  }

  async prune(endedBefore: number): Promise<readonly DeletedTask[]> {
    const known = new Map(this.store.list().map((task) => [task.id, task]));
    const pruned: DeletedTask[] = [];
    for (;;) {
      const ids = await this.store.sweep({ endedBefore, maxTasks: PRUNED_AT_ONCE });
      if (ids.length === 0) return pruned.toSorted(oldestFirst);
      for (const id of ids) pruned.push({ id, was: known.get(id) ?? null });
    }
  }

  close(): Promise<void> {
    return this.store.close();
  }
}

/** Sorts parents before their children. */
function oldestFirst(a: DeletedTask, b: DeletedTask): number {
  return (a.was?.created ?? 0) - (b.was?.created ?? 0) || (a.was?.depth ?? 0) - (b.was?.depth ?? 0);
}
