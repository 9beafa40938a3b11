import type { ErrorInfo } from '../../base/errors.ts';
import { collapseWhitespace, plural, truncate } from '../../base/text.ts';
import type { EndStatus } from '../../protocol/result.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { countItemTasks, locateItemTask, type FanOut } from '../../protocol/template.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { limitMessage } from '../limits/limit-message.ts';
import type { TaskEnding } from '../task/endings.ts';
import { foldLog } from '../task/fold-log.ts';

/** The maximum number of incomplete items that the result of a run lists. */
const MAX_SHOWN_ITEMS = 50;
/** The maximum length of an item's error in this list, in code points. */
const MAX_ERROR_LENGTH = 300;

/**
 * Decides the ending of a template run whose tasks have all ended. The status is `failed` if an item failed, `partial`
 * if one ended early or never started, and otherwise `completed`. An item with several attempts is completed if one of
 * them is and all were made.
 *
 * @param hit the limit because of which no further item was started, or null
 */
export function decideFanOutEnding(
  store: TaskStore,
  state: TaskState,
  hit: LimitHit | null,
): TaskEnding {
  const ends = listItemEnds(state);
  const attempts = state.spec.fanOut?.attempts ?? 1;
  const counts = formatCounts(ends, attempts === 1 ? 'item' : 'attempt');
  const incomplete = describeIncompleteItems(store, ends);
  const result = [`${counts}.`, ...incomplete.lines].join('\n');
  const reason = hit === null ? counts : `${limitMessage(hit)}: ${counts}`;
  const status = summarizeStatus(ends);
  if (status === 'completed') {
    return { end: { status, error: null, because: 'every item is completed', by: null }, result };
  }
  const code = hit === null ? (incomplete.first?.code ?? 'INTERNAL_ERROR') : 'LIMIT_EXCEEDED';
  const error = { code, message: reason, retryable: false };
  return { end: { status, error, because: reason, by: hit === null ? null : 'limit' }, result };
}

/** The end of an item, or of one attempt of several. */
interface ItemEnd {
  /** The number of the item, from 0. */
  readonly item: number;
  /** The item, and the attempt if there are several, with their numbers from 1. */
  readonly name: string;
  /** The id of the item's task, or null if no task was created. */
  readonly task: string | null;
  /** The status of the item's task, or null if the task was not started. */
  readonly status: EndStatus | null;
}

function listItemEnds({ spec, items, children }: TaskState): readonly ItemEnd[] {
  const { fanOut } = spec;
  if (fanOut === undefined) return [];
  return Array.from({ length: countItemTasks(fanOut) }, (_, index) => {
    const task = items.get(index) ?? null;
    const status = task === null ? null : (children.get(task)?.status ?? null);
    return { ...nameItemTask(fanOut, index), task, status };
  });
}

function nameItemTask(fanOut: FanOut, index: number): Pick<ItemEnd, 'item' | 'name'> {
  const { item, attempt } = locateItemTask(fanOut, index);
  const parts = [
    ...((fanOut.attempts ?? 1) === 1 ? [] : [`attempt ${attempt + 1}`]),
    ...(fanOut.items.length === 1 && fanOut.attempts !== undefined ? [] : [`item ${item + 1}`]),
  ];
  return { item, name: parts.join(' of ') };
}

function summarizeStatus(ends: readonly ItemEnd[]): 'completed' | 'partial' | 'failed' {
  const byItem = Map.groupBy(ends, ({ item }) => item);
  const statuses = [...byItem.values()].map((attempts) =>
    summarizeAttempts(attempts.map(({ status }) => status)),
  );
  if (statuses.includes('failed')) return 'failed';
  return statuses.every((status) => status === 'completed') ? 'completed' : 'partial';
}

function summarizeAttempts(
  statuses: readonly (EndStatus | null)[],
): 'completed' | 'partial' | 'failed' {
  if (statuses.includes('completed')) return statuses.includes(null) ? 'partial' : 'completed';
  return statuses.includes('failed') ? 'failed' : 'partial';
}

function formatCounts(ends: readonly ItemEnd[], noun: 'item' | 'attempt'): string {
  const groups = Map.groupBy(ends, ({ status }) => status ?? 'not started');
  const order = ['completed', 'partial', 'failed', 'stopped', 'killed', 'not started'] as const;
  const counts = order.flatMap((name) => {
    const count = groups.get(name)?.length ?? 0;
    return count === 0 ? [] : [`${count} ${name}`];
  });
  return `${plural(ends.length, noun)}: ${counts.join(', ')}`;
}

/**
 * Returns a line for each of the first items that ended without completing, failed items first, and the first error.
 */
function describeIncompleteItems(store: TaskStore, ends: readonly ItemEnd[]) {
  const incomplete = ends.filter(({ status }) => status !== null && status !== 'completed');
  const failedFirst = incomplete.toSorted(
    (a, b) => Number(b.status === 'failed') - Number(a.status === 'failed'),
  );
  const shown = failedFirst
    .slice(0, MAX_SHOWN_ITEMS)
    .map((end) => ({ end, error: readTaskError(store, end.task) }));
  const lines = shown.map(({ end: { name, task, status }, error }) => {
    const reason =
      error === null ? '' : `: ${truncate(collapseWhitespace(error.message), MAX_ERROR_LENGTH)}`;
    return `- ${name} (task ${task}): ${status}${reason}`;
  });
  const more = incomplete.length - shown.length;
  if (more > 0) lines.push(`- and ${more} more`);
  return { lines, first: shown[0]?.error ?? null };
}

function readTaskError(store: TaskStore, task: string | null): ErrorInfo | null {
  return task !== null && store.exists(task) ? (foldLog(store, task).end?.error ?? null) : null;
}
