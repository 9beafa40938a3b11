import type { ErrorInfo } from '../../base/errors.ts';
import { collapseWhitespace, plural, truncate } from '../../base/text.ts';
import type { EndStatus } from '../../protocol/result.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { Ending } from '../task/endings.ts';
import { foldLog } from '../task/fold-log.ts';
import { limitMessage } from '../limits/limits.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** Items that went wrong of which the result of a run tells, and code points of each error. */
const SHOWN_ITEMS = 50;
const SHOWN_ERROR = 300;

/**
 * How a run of a template ends whose tasks all have: `failed` where one failed, else `partial` where one
 * was ended early or never begun, else `completed`.
 */
export function endOfItems(store: TaskStore, state: TaskState, hit: LimitHit | null): Ending {
  const ends = itemEnds(state);
  const counted = countsText(ends);
  const wrong = wrongItems(store, ends);
  const result = [`${counted}.`, ...wrong.lines].join('\n');
  const because = hit === null ? counted : `${limitMessage(hit)}: ${counted}`;
  const status = statusOf(ends);
  if (status === 'completed') {
    return { end: { status, error: null, because: 'every item is completed', by: null }, result };
  }
  const code = hit === null ? (wrong.first?.code ?? 'INTERNAL_ERROR') : 'LIMIT_EXCEEDED';
  const error = { code, message: because, retryable: false };
  return { end: { status, error, because, by: hit === null ? null : 'limit' }, result };
}

interface ItemEnd {
  /** From 1. */
  readonly number: number;
  readonly task: string | null;
  /** Null: it was not begun. */
  readonly status: EndStatus | null;
}

function itemEnds({ spec, items, children }: TaskState): readonly ItemEnd[] {
  return (spec.fanOut?.items ?? []).map((_, index) => {
    const task = items.get(index) ?? null;
    const status = task === null ? null : (children.get(task)?.status ?? null);
    return { number: index + 1, task, status };
  });
}

function statusOf(ends: readonly ItemEnd[]): 'completed' | 'partial' | 'failed' {
  if (ends.some(({ status }) => status === 'failed')) return 'failed';
  return ends.every(({ status }) => status === 'completed') ? 'completed' : 'partial';
}

function countsText(ends: readonly ItemEnd[]): string {
  const groups = Map.groupBy(ends, ({ status }) => status ?? 'not begun');
  const order = ['completed', 'partial', 'failed', 'stopped', 'killed', 'not begun'] as const;
  const counts = order.flatMap((name) => {
    const count = groups.get(name)?.length ?? 0;
    return count === 0 ? [] : [`${count} ${name}`];
  });
  return `${plural(ends.length, 'item')}: ${counts.join(', ')}`;
}

/** A line for each of the first that went wrong, and the error of the first that failed. */
function wrongItems(store: TaskStore, ends: readonly ItemEnd[]) {
  const wrong = ends.filter(({ status }) => status !== null && status !== 'completed');
  const inOrder = wrong.toSorted(
    (a, b) => Number(b.status === 'failed') - Number(a.status === 'failed'),
  );
  const shown = inOrder
    .slice(0, SHOWN_ITEMS)
    .map((end) => ({ end, error: errorOf(store, end.task) }));
  const lines = shown.map(({ end: { number, task, status }, error }) => {
    const why =
      error === null ? '' : `: ${truncate(collapseWhitespace(error.message), SHOWN_ERROR)}`;
    return `- item ${number} (task ${task}): ${status}${why}`;
  });
  const more = wrong.length - shown.length;
  if (more > 0) lines.push(`- and ${more} more`);
  return { lines, first: shown[0]?.error ?? null };
}

function errorOf(store: TaskStore, task: string | null): ErrorInfo | null {
  return task !== null && store.exists(task) ? (foldLog(store, task).end?.error ?? null) : null;
}
