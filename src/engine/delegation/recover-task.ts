import { catchMusterError, MusterError } from '../../base/errors.ts';
import { requestPrefix } from './create-task.ts';
import type { EngineDeps } from '../task/deps.ts';
import {
  recordChildEnd,
  recordLostChild,
  knownDescendants,
  closeOpenChildren,
} from './deliver-end.ts';
import { activationExpense } from '../limits/budget.ts';
import {
  prepareAgent,
  selectTools,
  type Placement,
  currentPromptInput,
} from '../prompt/prepare-agent.ts';
import { foldLog, LogFold } from '../task/fold-log.ts';
import { openJournal, type Journal } from '../task/journal.ts';
import { shellEndEvents } from '../shells/shell-end.ts';
import { TaskRun } from '../task/task-run.ts';
import { TaskTree } from '../task/task-tree.ts';
import type { EngineContext } from './engine-context.ts';
import type { RequestPrefix } from '../../protocol/model.ts';
import { isStartedBy } from '../../protocol/state/activation.ts';
import { unansweredCalls } from '../../protocol/state/conversation.ts';
import { runningShells } from '../../protocol/state/owned-work.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import type { AnyTool } from '../../protocol/tool.ts';
import { readUnmetRequests, formatUnmetRequests } from '../../protocol/unmet-request.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { FileVersions } from '../task/shared-files.ts';
import { isId } from '../../base/ids.ts';
import { TASK_VARIABLE } from '../../sys/processes/command-environment.ts';
import { endMarkedProcesses } from '../../sys/processes/process-group.ts';
import { closeOpenCalls } from '../calls/calls.ts';
import { endStopped } from '../task/endings.ts';
import type { StopOrder } from '../task/stop-order.ts';

/** The position that a recovered task gets. */
export interface TreePosition {
  /** The tree that it joins, or null to make it the root of a new one. */
  readonly tree: TaskTree | null;
  /** The task that gets its result, or null if a person does. */
  readonly parent: TaskRun | null;
}

/**
 * Takes over a task without an owner, and all its descendants that had not ended. Returns the task first; none of
 * them runs yet. Throws MusterError if the task itself can't be claimed: `CONFLICT` while another process owns it.
 * A descendant that can't be claimed is reported to its parent as lost.
 */
export function recoverTasks(
  engine: EngineContext,
  id: string,
  position: TreePosition,
): readonly [TaskRun, ...TaskRun[]] {
  const run = recoverTask(engine, id, position);
  const below: TaskRun[] = [];
  try {
    closeLostShells(run);
    for (const child of run.state.openChildren) below.push(...recoverChild(engine, run, child));
  } catch (thrown) {
    // A log can't be written. A task that is open and never runs would be waited for forever.
    for (const recovered of [run, ...below]) recovered.close();
    throw thrown;
  }
  return [run, ...below];
}

function recoverTask(engine: EngineContext, id: string, position: TreePosition): TaskRun {
  const { deps, running } = engine;
  const before = new LogFold((visit) => void deps.store.scan(id, visit));
  const log = deps.store.claim(id, before.add);
  try {
    const tree = position.tree ?? new TaskTree(id, deps);
    const journal = openJournal(deps, tree, log, before.state);
    const { spec } = journal.state;
    tree.fileVersions.setEarlierVersions(() => readFileVersions(deps.store, spec.root));
    if (spec.fanOut !== undefined) tree.addItems(journal.state.children.keys());
    tree.addTasks(knownDescendants(journal.state));
    const tools = recordedTools(deps, journal.state);
    const known = engine.prefixes.load(spec.prefix);
    if (known === null) {
      const message =
        'the stored beginning of its requests is lost; it is rebuilt and may differ from what was sent';
      journal.record({ type: 'warning', message });
    }
    const run = new TaskRun(deps, {
      journal,
      prefix: requestPrefix(known ?? rebuildPrefix(engine, spec, tools), spec),
      view: new Map(tools.map((tool) => [tool.name, tool])),
      tree,
      parent: position.parent,
      importedUpTo: deps.store.importedUpTo(id) ?? -1,
      ...(spec.fanOut === undefined ? {} : { drive: engine.driveItems }),
    });
    running.add(run);
    return run;
  } catch (thrown) {
    log.close();
    throw thrown;
  }
}

function rebuildPrefix(
  { deps, prefixes }: EngineContext,
  spec: TaskSpec,
  tools: readonly AnyTool[],
): RequestPrefix {
  const unmet = formatUnmetRequests(readUnmetRequests(spec.unmet));
  return prefixes.get({ ...currentPromptInput(deps, placementOf(spec), tools), unmet }, tools)
    .prefix;
}

function placementOf({ agent, rights, cwd, parent, prompt, model }: TaskSpec): Placement {
  const { provider } = model;
  return { agent, rights, cwd, isRoot: parent === null, provider, firstPrompt: prompt };
}

/** Returns the recorded tools that may still run. A log from before tools were recorded gets them by its rights. */
function recordedTools(deps: EngineDeps, { spec }: TaskState): readonly AnyTool[] {
  if (spec.tools.length === 0 && spec.prefix === '')
    return prepareAgent(deps, placementOf(spec)).tools;
  return selectTools(deps, spec.tools);
}

/** Writes the end of shells that were lost with the owner of their task. */
function closeLostShells(run: Pick<TaskRun, 'journal' | 'state'>): void {
  for (const shell of runningShells(run.state)) {
    run.journal.record(...shellEndEvents(run.state, shell, { how: 'lost', exitCode: null }));
  }
}

function recoverChild(engine: EngineContext, parent: TaskRun, id: string): readonly TaskRun[] {
  const { deps } = engine;
  try {
    const child = deps.store.exists(id) ? foldLog(deps.store, id) : null;
    if (isStartedByItsCall(parent, id, child)) return [];
    if (child === null) throw new MusterError('NOT_FOUND', `the log of task ${id} is lost`);
    if (child.end === null) return recoverTasks(engine, id, { tree: parent.tree, parent });
    recordChildEnd(parent, child);
    parent.tree.addTasks(knownDescendants(child));
    // The parent did not know of these costs when it was recovered.
    parent.budget.addEarlierUse(activationExpense(child.activation));
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    deps.onFault(id, thrown);
    recordLostChild(parent, id, thrown.message);
  }
  return [];
}

/** Returns true if the call that was about to create or resume the child has no outcome, and so will do it when it runs again. */
function isStartedByItsCall(parent: TaskRun, id: string, child: TaskState | null): boolean {
  const callId = parent.state.children.get(id)?.callId;
  if (callId === undefined) return false;
  // A template run creates the items itself that were only reserved.
  if (parent.spec.fanOut !== undefined && child === null) return true;
  const isOpen = unansweredCalls(parent.state.conversation).some(
    // A call that creates several children numbers them: `ID/0`.
    ({ id: call }) => callId === call || callId.startsWith(`${call}/`),
  );
  return isOpen && (child === null || !isStartedBy(child.activation, parent.spec.id, callId));
}

/** Reads from the logs of a tree which task wrote the current version of each file. `root`: the id of its root. */
function readFileVersions(store: TaskStore, root: string): FileVersions {
  const versions = new FileVersions();
  const tasks = store.list().filter((task) => task.root === root);
  // A change is also in the logs of the ancestors: the deepest task that has it is the one that made it.
  for (const { id } of tasks.toSorted((a, b) => a.depth - b.depth)) {
    const state = catchMusterError(() => foldLog(store, id));
    // The changes in a damaged or deleted log are still noticed, but not who made them.
    if (!(state instanceof MusterError)) addVersions(versions, state);
  }
  return versions;
}

function addVersions(versions: FileVersions, { spec, filesChanged, knownFiles }: TaskState): void {
  for (const { path, after } of filesChanged.values()) {
    // The task knows a descendant's version of a file only once it has read the file again.
    if (knownFiles.has(path) && knownFiles.get(path) === after) {
      versions.set(path, { task: spec.id, agent: spec.agent.name, hash: after });
    }
  }
}

/** A task without an owner whose log this process has claimed. */
interface Orphan {
  readonly state: TaskState;
  readonly journal: Journal;
}

/** The ports that reaping needs. */
type OrphanDeps = Pick<EngineDeps, 'store' | 'onFault'>;

/**
 * Ends a task that its process left without an end, and all its descendants: the processes that they had started are
 * killed, and an end is written to each log. Throws MusterError: `CONFLICT` while another process owns one of the
 * tasks, in which case none is ended.
 */
export async function reapOrphans(deps: OrphanDeps, id: string, order: StopOrder): Promise<void> {
  const tasks: Orphan[] = [];
  try {
    open(deps, id, tasks);
    const forced = await endMarkedProcesses(
      TASK_VARIABLE,
      tasks.map(({ state }) => state.spec.id),
    );
    for (const task of tasks.toReversed()) {
      if (task.state.end !== null) continue;
      closeOpenCalls(task, order.reason);
      closeOpenChildren(deps, task);
      const ending = endStopped(task.state, order, { forced });
      task.journal.record({ type: 'task.ended', ...ending });
      await task.journal.sync();
    }
  } finally {
    for (const { journal } of tasks) journal.close();
  }
}

/** Claims the logs of a task and of its descendants without an end; each parent comes before its children. */
function open(deps: OrphanDeps, id: string, tasks: Orphan[]): void {
  const { store } = deps;
  const task = take(deps, id);
  tasks.push(task);
  // Another process ended it just before this one claimed it.
  if (task.state.end !== null) return;
  closeLostShells(task);
  for (const child of task.state.openChildren) {
    if (!isId(child) || !store.exists(child)) continue;
    if (foldLog(store, child).end === null) open(deps, child, tasks);
  }
}

function take(deps: OrphanDeps, id: string): Orphan {
  const before = new LogFold((visit) => void deps.store.scan(id, visit));
  const log = deps.store.claim(id, before.add);
  try {
    const journal = openJournal({ ...deps, onEvent: () => {} }, { id }, log, before.state);
    return { state: journal.state, journal };
  } catch (thrown) {
    log.close();
    throw thrown;
  }
}
