import { catchMusterError, MusterError } from '../../base/errors.ts';
import { completePrefix, toToolParts } from './create-task.ts';
import type { EngineDeps } from '../task/deps.ts';
import {
  recordChildEnd,
  recordLostChild,
  listKnownDescendants,
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
import { readBoard } from '../task/tree-board.ts';
import type { EngineContext } from './engine-context.ts';
import type { RequestPrefix } from '../../protocol/model.ts';
import { isStartedBy } from '../../protocol/state/activation.ts';
import { toHookCallId } from '../../protocol/hook-fields.ts';
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
import { toSourcePath } from '../../protocol/workspace-paths.ts';
import { createServerPort } from '../calls/server-port.ts';
import { withdrawServerQuestion } from '../questions/ask-person.ts';
import type { PortSetup } from '../shells/remote-work.ts';
import { endStopped } from '../task/endings.ts';
import { stopOrder, type StopOrder } from '../task/stop-order.ts';

/** The position of a recovered task. */
export interface TreePosition {
  /** The tree that the task joins, or null to make the task the root of a new tree. */
  readonly tree: TaskTree | null;
  /** The task that gets the result, or null if a person gets it. */
  readonly parent: TaskRun | null;
}

/**
 * Takes over a task without an owner, and all its descendants that had not ended. Returns these tasks, the requested
 * task first. None of them runs yet. Throws MusterError if the requested task can't be claimed: `CONFLICT` while
 * another process owns it. A descendant that can't be claimed is reported to its parent as lost.
 */
export function recoverTasks(
  engine: EngineContext,
  id: string,
  position: TreePosition,
): readonly [TaskRun, ...TaskRun[]] {
  const run = recoverTask(engine, id, position);
  const descendants: TaskRun[] = [];
  try {
    // The log of somebody else must not decide what servers are asked for, and which files are written.
    const isOwn = engine.deps.store.importedUpTo(id) === null;
    closeLostShells(run, (shell) => {
      // The server asks again.
      withdrawServerQuestion(run, shell);
      const createPort = (setup: PortSetup) => createServerPort(engine.deps, run, setup);
      return isOwn && run.shells.resumeRemote(shell, createPort);
    });
    for (const child of run.state.openChildren)
      descendants.push(...recoverChild(engine, run, child));
  } catch (thrown) {
    // A log can't be written. The tasks are closed, since other tasks would wait forever for a task that never runs.
    for (const recovered of [run, ...descendants]) recovered.close();
    throw thrown;
  }
  return [run, ...descendants];
}

function recoverTask(engine: EngineContext, id: string, position: TreePosition): TaskRun {
  const { deps, running } = engine;
  const before = new LogFold((visit) => void deps.store.scan(id, visit));
  const log = deps.store.claim(id, before.add);
  try {
    const tree = position.tree ?? new TaskTree(id, deps);
    const journal = openJournal(deps, tree, log, before.state);
    const { spec } = journal.state;
    requireOwnWorkspace(deps, spec);
    tree.fileVersions.setEarlierVersions(() => readFileVersions(deps.store, spec.root));
    if (position.tree === null)
      tree.board.setEarlierFindings(() => readBoard(deps.store, [spec.root, id]));
    else tree.board.add(journal.state.findings);
    if (spec.fanOut !== undefined) tree.addItems(journal.state.children.keys());
    tree.addTasks(listKnownDescendants(journal.state));
    const tools = selectRecordedTools(deps, journal.state);
    const storedPrefix = engine.prefixes.load(spec.prefix);
    if (storedPrefix === null) {
      const message =
        'the stored prompt prefix of this task is lost. It was built anew and may differ from the prefix of earlier requests';
      journal.record({ type: 'warning', message });
    }
    const run = new TaskRun(deps, {
      journal,
      prefix: completePrefix(storedPrefix ?? rebuildPrefix(engine, spec, tools), spec),
      ...toToolParts(deps, tools, spec),
      tree,
      parent: position.parent,
      importedUpTo: deps.store.importedUpTo(id) ?? -1,
      ...(spec.fanOut === undefined ? {} : { drive: engine.driveItems }),
      hookPorts: engine.hookPorts,
    });
    running.add(run);
    return run;
  } catch (thrown) {
    log.close();
    throw thrown;
  }
}

/**
 * Throws MusterError if a task in a workspace was imported. Its workspace is on another machine, and a log of somebody
 * else must not decide which directory stands for those of the session.
 */
function requireOwnWorkspace(
  { store }: Pick<EngineDeps, 'store'>,
  { id, workspace, rights }: TaskSpec,
) {
  if (workspace === undefined && rights.workspace === undefined) return;
  if (store.importedUpTo(id) === null) return;
  throw new MusterError(
    'CONFLICT',
    `task ${id} was imported, and it worked in a workspace that is not on this machine; it can only be read`,
  );
}

/** Builds the prompt prefix of a task anew from its recorded specification. */
function rebuildPrefix(
  { deps, prefixes }: EngineContext,
  spec: TaskSpec,
  tools: readonly AnyTool[],
): RequestPrefix {
  const unmet = formatUnmetRequests(readUnmetRequests(spec.unmet));
  const { listed, ...input } = currentPromptInput(deps, toPlacement(spec), tools);
  return prefixes.get({ ...input, unmet }, listed).prefix;
}

/** Returns the placement that was recorded for a task. */
function toPlacement({ agent, rights, parent, prompt, model, ...spec }: TaskSpec): Placement {
  const { workspace } = spec;
  const cwd = workspace === undefined ? spec.cwd : (toSourcePath(spec.cwd, workspace) ?? spec.cwd);
  const isIsolated = workspace !== undefined;
  return { agent, rights, cwd, isIsolated, isRoot: parent === null, model, firstPrompt: prompt };
}

/** Selects the recorded tools that still exist. For an old log without recorded tools, prepares the agent anew. */
function selectRecordedTools(deps: EngineDeps, { spec }: TaskState): readonly AnyTool[] {
  if (spec.tools.length === 0 && spec.prefix === '')
    return prepareAgent(deps, toPlacement(spec)).tools;
  return selectTools(deps, spec.agent, spec.tools);
}

/**
 * Records the end of the shells that were lost when the previous owner of the task ended.
 *
 * @param resume follows the work of a server again; returns false if the shell is none
 */
function closeLostShells(
  run: Pick<TaskRun, 'journal' | 'state'>,
  resume: (shell: string) => boolean = () => false,
): void {
  for (const shell of runningShells(run.state)) {
    if (resume(shell)) continue;
    run.journal.record(...shellEndEvents(run.state, shell, { how: 'lost', exitCode: null }));
  }
}

/** Recovers an open child with its descendants. Records the end of a child that has ended or is lost. */
function recoverChild(engine: EngineContext, parent: TaskRun, id: string): readonly TaskRun[] {
  const { deps } = engine;
  try {
    const child = deps.store.exists(id) ? foldLog(deps.store, id) : null;
    if (isStartedByItsCall(parent, id, child)) return [];
    if (child === null && parent.state.children.get(id)?.callId === toHookCallId(id)) {
      recordLostChild(parent, id, 'the process ended before it started');
      return [];
    }
    if (child === null) throw new MusterError('NOT_FOUND', `the log of task ${id} is lost`);
    if (child.end === null) {
      const recovered = recoverTasks(engine, id, { tree: parent.tree, parent });
      // The hook that asked it does not wait any more.
      if (child.spec.source === 'hook')
        recovered[0].stop(stopOrder('parent', 'the process of the hook that asked it has ended'));
      return recovered;
    }
    recordChildEnd(parent, child);
    parent.tree.addTasks(listKnownDescendants(child));
    // The parent's budget was restored from the parent's log, which did not contain this end.
    parent.budget.addEarlierUse(activationExpense(child.activation));
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    deps.onFault(id, thrown);
    recordLostChild(parent, id, thrown.message);
  }
  return [];
}

/**
 * Returns true if the call that was about to create or resume the child has no outcome. Such a call runs again and then
 * creates or resumes the child.
 */
function isStartedByItsCall(parent: TaskRun, id: string, child: TaskState | null): boolean {
  const callId = parent.state.children.get(id)?.callId;
  if (callId === undefined) return false;
  // A template run creates the tasks itself whose ids were only reserved.
  if (parent.spec.fanOut !== undefined && child === null) return true;
  const isOpen = unansweredCalls(parent.state.conversation).some(
    // A call that creates several children appends a number to its id: `ID/0`.
    ({ id: call }) => callId === call || callId.startsWith(`${call}/`),
  );
  return isOpen && (child === null || !isStartedBy(child.activation, parent.spec.id, callId));
}

/**
 * Reads from the logs of a tree which task wrote the current version of each file. `root` is the id of its root task.
 */
function readFileVersions(store: TaskStore, root: string): FileVersions {
  const versions = new FileVersions();
  const tasks = store.list().filter((task) => task.root === root);
  // The logs of ancestors contain a change too. The deepest task whose log contains it made the change, so the deepest
  // tasks come last and replace the others.
  for (const { id } of tasks.toSorted((a, b) => a.depth - b.depth)) {
    const state = catchMusterError(() => foldLog(store, id));
    // Without a readable log, changes are still noticed, but not which task made them.
    if (!(state instanceof MusterError)) addVersions(versions, state);
  }
  return versions;
}

function addVersions(versions: FileVersions, { spec, filesChanged, knownFiles }: TaskState): void {
  for (const { path, after, byCommand } of filesChanged.values()) {
    // A task that has not read a file again after a descendant changed it does not know this version.
    const isKnown = knownFiles.has(path) && knownFiles.get(path) === after;
    if (isKnown || byCommand === true) {
      versions.set(path, { task: spec.id, agent: spec.agent.name, hash: after });
    }
  }
}

/** A task without an owner whose log this process has claimed. */
interface Orphan {
  readonly state: TaskState;
  readonly journal: Journal;
}

/** The ports that `reapOrphans` needs. */
type OrphanDeps = Pick<EngineDeps, 'store' | 'onFault'>;

/**
 * Ends a task whose process has ended without recording an end, and all its descendants. The processes that they had
 * started are killed, and an end is written to each log. Throws MusterError (`CONFLICT`) while another process owns one
 * of the tasks; then none of them is ended.
 */
export async function reapOrphans(deps: OrphanDeps, id: string, order: StopOrder): Promise<void> {
  const tasks: Orphan[] = [];
  try {
    claimTree(deps, id, tasks);
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

/**
 * Claims the logs of a task and of its descendants without an end. Each parent comes before its children in `tasks`.
 */
function claimTree(deps: OrphanDeps, id: string, tasks: Orphan[]): void {
  const { store } = deps;
  const task = claimTask(deps, id);
  tasks.push(task);
  // Another process ended the task immediately before this process claimed it.
  if (task.state.end !== null) return;
  closeLostShells(task);
  for (const child of task.state.openChildren) {
    if (!isId(child) || !store.exists(child)) continue;
    if (foldLog(store, child).end === null) claimTree(deps, child, tasks);
  }
}

/** Claims the log of one task, and folds it. */
function claimTask(deps: OrphanDeps, id: string): Orphan {
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
