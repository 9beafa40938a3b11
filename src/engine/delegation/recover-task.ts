import { MusterError } from '../../base/errors.ts';
import { runningShells } from '../../protocol/state/owned-work.ts';
import { unansweredCalls } from '../../protocol/state/conversation.ts';
import type { RequestPrefix } from '../../protocol/model.ts';
import { isStartedBy } from '../../protocol/state/activation.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import type { AnyTool } from '../../protocol/tool.ts';
import { expenseOf } from '../limits/budget.ts';
import { requestPrefix } from './create-task.ts';
import { recordEnd, recordLoss, tasksBelow } from './delivery.ts';
import type { EngineDeps } from '../task/deps.ts';
import { readUnmetRequests, formatUnmetRequests } from '../../protocol/unmet-request.ts';
import { prepareAgent, promptNow, toolsNamed, type Placement } from '../prompt/prepare-agent.ts';
import { foldLog, LogFold } from '../task/fold-log.ts';
import { openJournal } from '../task/journal.ts';
import { shellEnded } from '../shells/shell-end.ts';
import { fileVersionsInLogs } from './file-versions-in-logs.ts';
import { TaskRun } from '../task/task-run.ts';
import { Tree } from '../task/tree.ts';
import type { EngineContext } from './engine-context.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** Where a task that is opened again stands from now on. */
export interface Place {
  /** Null: at the top of a tree of its own. */
  readonly tree: Tree | null;
  /** Who gets its result; null: a person. */
  readonly parent: TaskRun | null;
}

/**
 * Takes over a task that nobody owns, and all below it that had not ended: the task itself first.
 * None of them is at work yet. Throws MusterError when the task itself can't be taken (`CONFLICT` while
 * somebody owns it); a child that can't be is told to its parent as failed.
 */
export function recoverTasks(
  engine: EngineContext,
  id: string,
  place: Place,
): readonly [TaskRun, ...TaskRun[]] {
  const run = openTask(engine, id, place);
  const below: TaskRun[] = [];
  try {
    closeLostShells(run);
    for (const child of run.state.openChildren) below.push(...openChild(engine, run, child));
  } catch (thrown) {
    // Some log can't be written: what is opened and never works would be waited for without end.
    for (const opened of [run, ...below]) opened.close();
    throw thrown;
  }
  return [run, ...below];
}

function openTask(engine: EngineContext, id: string, place: Place): TaskRun {
  const { deps, running } = engine;
  const before = new LogFold((visit) => void deps.store.scan(id, visit));
  const log = deps.store.claim(id, before.add);
  try {
    const tree = place.tree ?? new Tree(id, deps);
    const journal = openJournal(deps, tree, log, before.state);
    const { spec } = journal.state;
    tree.stamps.lookBack(() => fileVersionsInLogs(deps.store, spec.root));
    if (spec.fanOut !== undefined) tree.addItems(journal.state.children.keys());
    tree.addTasks(tasksBelow(journal.state));
    const tools = recordedTools(deps, journal.state);
    const known = engine.prefixes.load(spec.prefix);
    if (known === null) {
      const message = 'what its requests began with is lost; it is made anew and may differ';
      journal.record({ type: 'warning', message });
    }
    const run = new TaskRun(deps, {
      journal,
      prefix: requestPrefix(known ?? madeAnew(engine, spec, tools), spec),
      view: new Map(tools.map((tool) => [tool.name, tool])),
      tree,
      parent: place.parent,
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

function madeAnew(
  { deps, prefixes }: EngineContext,
  spec: TaskSpec,
  tools: readonly AnyTool[],
): RequestPrefix {
  const unmet = formatUnmetRequests(readUnmetRequests(spec.unmet));
  return prefixes.get({ ...promptNow(deps, postOf(spec), tools), unmet }, tools).prefix;
}

function postOf({ agent, rights, cwd, parent, prompt, model: { provider } }: TaskSpec): Placement {
  return { agent, rights, cwd, isRoot: parent === null, provider, firstPrompt: prompt };
}

/** The frozen view, as far as its tools may still run; a log from before views gets one by its rights. */
function recordedTools(deps: EngineDeps, { spec }: TaskState): readonly AnyTool[] {
  if (spec.tools.length === 0 && spec.prefix === '') return prepareAgent(deps, postOf(spec)).tools;
  return toolsNamed(deps, spec.tools);
}

/** They ended with their owner, or are ended by whoever opens the task. */
export function closeLostShells(run: Pick<TaskRun, 'journal' | 'state'>): void {
  for (const shell of runningShells(run.state)) {
    run.journal.record(...shellEnded(run.state, shell, { how: 'lost', exitCode: null }));
  }
}

function openChild(engine: EngineContext, parent: TaskRun, id: string): readonly TaskRun[] {
  const { deps } = engine;
  try {
    const child = deps.store.exists(id) ? foldLog(deps.store, id) : null;
    if (isLeftToItsCall(parent, id, child)) return [];
    if (child === null) throw new MusterError('NOT_FOUND', `the log of task ${id} is lost`);
    if (child.end === null) return recoverTasks(engine, id, { tree: parent.tree, parent });
    recordEnd(parent, child);
    parent.tree.addTasks(tasksBelow(child));
    // Not among what the parent knew to be spent when it was opened.
    parent.budget.recover(expenseOf(child.activation));
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    deps.onFault(id, thrown);
    recordLoss(parent, id, thrown.message);
  }
  return [];
}

/** The call that was about to make or resume it has no outcome: it does so when it is run again. */
function isLeftToItsCall(parent: TaskRun, id: string, child: TaskState | null): boolean {
  const callId = parent.state.children.get(id)?.callId;
  if (callId === undefined) return false;
  // A run of a template makes its items anew that were only announced.
  if (parent.spec.fanOut !== undefined && child === null) return true;
  const isOpen = unansweredCalls(parent.state.conversation).some(
    // A call that makes several children numbers them: `ID/0`.
    ({ id: call }) => callId === call || callId.startsWith(`${call}/`),
  );
  return isOpen && (child === null || !isStartedBy(child.activation, parent.spec.id, callId));
}
