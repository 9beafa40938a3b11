import { MusterError } from '../../base/errors.ts';
import { truncate } from '../../base/text.ts';
import type { EngineContext } from './engine-context.ts';
import { interruption } from '../results/result.ts';
import { foldLog } from '../task/fold-log.ts';
import type { RunningTasks } from '../task/running-tasks.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** How many candidates an ambiguous prefix names. */
const MOST_CANDIDATES = 5;
/** Code points of what was given for an id: ids are shorter. */
const SHOWN_WORD = 64;

export type VisibleTask =
  | { readonly kind: 'task'; readonly id: string }
  /** A shell, and the task that started it. */
  | { readonly kind: 'shell'; readonly id: string; readonly owner: string };

/**
 * All that a task may see and reach: its own descendants, the tasks that it was handed, its own shells
 * and those of its descendants at work. Never itself, its parent's, its siblings' or another tree's.
 */
export function visibleTasks(
  state: TaskState,
  running: RunningTasks,
): ReadonlyMap<string, VisibleTask> {
  const reach = new Map<string, VisibleTask>();
  for (const id of state.handed) reach.set(id, { kind: 'task', id });
  addOwn(state, running, reach);
  // A parent may have told it its own id.
  reach.delete(state.spec.id);
  return reach;
}

function addOwn(state: TaskState, running: RunningTasks, reach: Map<string, VisibleTask>): void {
  for (const id of state.shells.keys()) {
    reach.set(id, { kind: 'shell', id, owner: state.spec.id });
  }
  for (const [id, { below }] of state.children) {
    reach.set(id, { kind: 'task', id });
    for (const lower of below) reach.set(lower, { kind: 'task', id: lower });
    const run = running.get(id);
    if (run !== undefined) addOwn(run.state, running, reach);
  }
}

/** What a task means by an id or the beginning of one. `field` is the argument that it stood in. */
export function findVisibleTask(
  caller: TaskRun,
  running: RunningTasks,
  { field, word }: { readonly field: string; readonly word: string },
): VisibleTask | MusterError {
  const reach = new Map(visibleTasks(caller.state, running));
  // Whoever handed them: a task that waits for what waits for it would never end.
  for (let at: TaskRun | null = caller; at !== null; at = at.parent) reach.delete(at.spec.id);
  const shown = truncate(word, SHOWN_WORD);
  const exact = reach.get(word);
  if (exact !== undefined) return exact;
  const found = [...reach.values()].filter(({ id }) => id.startsWith(word));
  const [first] = found;
  if (first === undefined) {
    return new MusterError('NOT_FOUND', `${field}: no task or shell of yours begins with ${shown}`);
  }
  if (found.length === 1) return first;
  const named = found.slice(0, MOST_CANDIDATES).map(({ id }) => id);
  const rest = found.length - named.length;
  return new MusterError(
    'INVALID_PARAM',
    `${field}: ${word} is the beginning of ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}; give more of the id`,
  );
}

/** Tasks that the sender can reach and that a text of its names: whoever gets the text may reach them. */
export function visibleTasksNamedIn(
  text: string,
  { state, tree }: Pick<TaskRun, 'state' | 'tree'>,
  running: RunningTasks,
): readonly string[] {
  // Most words have the form of an id and are none: all that a task reaches is gathered for real ones.
  const ids = [...new Set(text.match(/[a-z0-9]{8,32}/g) ?? [])].filter(
    (word) => state.handed.has(word) || tree.hasTask(word),
  );
  if (ids.length === 0) return [];
  const reach = visibleTasks(state, running);
  return ids.filter((id) => reach.get(id)?.kind === 'task');
}

/**
 * How a task stands, whether it is at work here or not. One without an end that is not at work reads
 * as interrupted. A MusterError where its log can't be read.
 */
export function readTaskState(
  { deps, running }: EngineContext,
  id: string,
): TaskState | MusterError {
  const run = running.get(id);
  if (run !== undefined) return run.outcome();
  try {
    const state = foldLog(deps.store, id);
    if (state.end !== null) return state;
    const error = interruption(state);
    const end = { status: 'failed', error, because: error.message, by: null } as const;
    return { ...state, status: 'interrupted', end };
  } catch (thrown) {
    if (thrown instanceof MusterError) return thrown;
    throw thrown;
  }
}
