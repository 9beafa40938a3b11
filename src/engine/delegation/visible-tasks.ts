import { catchMusterError, MusterError } from '../../base/errors.ts';
import { truncate } from '../../base/text.ts';
import type { EngineContext } from './engine-context.ts';
import { foldLog } from '../task/fold-log.ts';
import type { RunningTasks } from '../task/running-tasks.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { interruptionError } from '../results/result.ts';

/** The maximum number of ids in the error about an ambiguous reference. */
const MAX_CANDIDATES = 5;
/** The maximum length, in code points, of a wrong reference in its error. Ids are shorter. */
const MAX_SHOWN_LENGTH = 64;

/** A task or shell that a task can see. */
export type VisibleTask =
  | { readonly kind: 'task'; readonly id: string }
  /** A shell, and the task that started it. */
  | { readonly kind: 'shell'; readonly id: string; readonly owner: string };

/**
 * Lists the tasks and shells that a task may see, by id: its descendants, the tasks whose ids were passed to it, its
 * own shells and those of its running descendants. A task never sees itself. It sees its siblings and other tasks only
 * if their ids were passed to it.
 */
export function listVisibleTasks(
  state: TaskState,
  running: RunningTasks,
): ReadonlyMap<string, VisibleTask> {
  const visible = new Map<string, VisibleTask>();
  for (const id of state.handed) visible.set(id, { kind: 'task', id });
  addWork(state, running, visible);
  // The parent may have passed this task its own id.
  visible.delete(state.spec.id);
  return visible;
}

/** Adds the shells and descendants of a task, and recursively the shells of its running descendants. */
function addWork(state: TaskState, running: RunningTasks, visible: Map<string, VisibleTask>): void {
  for (const id of state.shells.keys()) {
    visible.set(id, { kind: 'shell', id, owner: state.spec.id });
  }
  for (const [id, { below }] of state.children) {
    visible.set(id, { kind: 'task', id });
    for (const lower of below) visible.set(lower, { kind: 'task', id: lower });
    const run = running.get(id);
    if (run !== undefined) addWork(run.state, running, visible);
  }
}

/**
 * Finds the task or shell that an id, or the beginning of an id, refers to. Returns an error that begins with `field`,
 * the name of the argument, if there is none or more than one.
 */
export function findVisibleTask(
  caller: TaskRun,
  running: RunningTasks,
  { field, reference }: { readonly field: string; readonly reference: string },
): VisibleTask | MusterError {
  const visible = new Map(listVisibleTasks(caller.state, running));
  // The ancestors are left out even if their ids were passed: two tasks that wait for each other would never end.
  for (let ancestor: TaskRun | null = caller; ancestor !== null; ancestor = ancestor.parent)
    visible.delete(ancestor.spec.id);
  const shown = truncate(reference, MAX_SHOWN_LENGTH);
  const exact = visible.get(reference);
  if (exact !== undefined) return exact;
  const found = [...visible.values()].filter(({ id }) => id.startsWith(reference));
  const [first] = found;
  if (first === undefined) {
    return new MusterError('NOT_FOUND', `${field}: no task or shell of yours begins with ${shown}`);
  }
  if (found.length === 1) return first;
  const named = found.slice(0, MAX_CANDIDATES).map(({ id }) => id);
  const rest = found.length - named.length;
  const message = `${field}: ${reference} is the beginning of ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}; give more of the id`;
  return new MusterError('INVALID_PARAM', message);
}

/** Finds the ids of visible tasks in a text of the sender. The recipient of the text may see these tasks too. */
export function findVisibleTasksInText(
  text: string,
  { state, tree }: Pick<TaskRun, 'state' | 'tree'>,
  running: RunningTasks,
): readonly string[] {
  // Many words only look like an id. The visible tasks are listed only if one of the words is an id.
  const ids = [...new Set(text.match(/[a-z0-9]{8,32}/g) ?? [])].filter(
    (word) => state.handed.has(word) || tree.hasTask(word),
  );
  if (ids.length === 0) return [];
  const visible = listVisibleTasks(state, running);
  return ids.filter((id) => visible.get(id)?.kind === 'task');
}

/**
 * Returns the state of a task, whether or not it runs in this process. A task that has not ended and does not run in
 * this process gets the status `interrupted`. Returns a MusterError if the log can't be read.
 */
export function readTaskState(
  { deps, running }: EngineContext,
  id: string,
): TaskState | MusterError {
  const run = running.get(id);
  if (run !== undefined) return run.outcome();
  const state = catchMusterError(() => foldLog(deps.store, id));
  if (state instanceof MusterError || state.end !== null) return state;
  const error = interruptionError(state);
  const end = { status: 'failed', error, because: error.message, by: null } as const;
  return { ...state, status: 'interrupted', end };
}
