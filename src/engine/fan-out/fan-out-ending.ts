import type { ErrorInfo } from '../../base/errors.ts';
import { collapseWhitespace, plural, truncate } from '../../base/text.ts';
import type { EndStatus } from '../../protocol/result.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { TaskEnding } from '../task/endings.ts';
import { foldLog } from '../task/fold-log.ts';
import { limitMessage } from '../limits/limit-message.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** Maximum number of items that the result of a run lists as not completed. */
const SHOWN_ITEMS = 50;
/** Maximum length of an item's error in that list, in code points. */
const SHOWN_ERROR = 300;

/**
 * Decides the end of a template run whose tasks have all ended. It is `failed` if a task failed, otherwise `partial`
 * if a task was ended early or never started, otherwise `completed`. `hit` is the limit that stopped the run, or null.
 */
export function fanOutEnding(store: TaskStore, state: TaskState, hit: LimitHit | null): TaskEnding {
  const ends = itemEnds(state);
  const counted = countsText(ends);
  const wrong = wrongItems(store, ends);
  const result = [`${counted}.`, ...wrong.lines].join('\n');
  const reason = hit === null ? counted : `${limitMessage(hit)}: ${counted}`;
  const status = statusOf(ends);
  if (status === 'completed') {
    return { end: { status, error: null, because: 'every item is completed', by: null }, result };
  }
  const code = hit === null ? (wrong.first?.code ?? 'INTERNAL_ERROR') : 'LIMIT_EXCEEDED';
  const error = { code, message: reason, retryable: false };
  return { end: { status, error, because: reason, by: hit === null ? null : 'limit' }, result };
}

interface ItemEnd {
  /** Its number, from 1. */
  readonly number: number;
  readonly task: string | null;
  /** Null if it was not started. */
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

/** Returns a line for each of the first items that did not complete, and the error of the first. */
function wrongItems(store: TaskStore, ends: readonly ItemEnd[]) {
  const wrong = ends.filter(({ status }) => status !== null && status !== 'completed');
  const inOrder = wrong.toSorted(
    (a, b) => Number(b.status === 'failed') - Number(a.status === 'failed'),
  );
  const shown = inOrder
    .slice(0, SHOWN_ITEMS)
    .map((end) => ({ end, error: errorOf(store, end.task) }));
  const lines = shown.map(({ end: { number, task, status }, error }) => {
    const reason =
      error === null ? '' : `: ${truncate(collapseWhitespace(error.message), SHOWN_ERROR)}`;
    return `- item ${number} (task ${task}): ${status}${reason}`;
  });
  const more = wrong.length - shown.length;
  if (more > 0) lines.push(`- and ${more} more`);
  return { lines, first: shown[0]?.error ?? null };
}

function errorOf(store: TaskStore, task: string | null): ErrorInfo | null {
  return task !== null && store.exists(task) ? (foldLog(store, task).end?.error ?? null) : null;
}
