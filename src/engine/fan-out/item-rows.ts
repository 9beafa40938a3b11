import type { ErrorInfo } from '../../base/errors.ts';
import { paidTokens } from '../../protocol/model.ts';
import type { TaskStatus } from '../../protocol/result.ts';
import type { TemplateItem } from '../../protocol/template.ts';
import { formatFlags } from '../../receipts/answer-flags.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { foldLog } from '../task/fold-log.ts';
import { elapsedMs, fullResult } from '../results/result.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** The outcome of one item. */
export interface ItemRow {
  /** The number of the item, from 1. */
  readonly index: number;
  readonly item: TemplateItem;
  /** The status of the item's task; `waiting` if the task has not started. */
  readonly status: TaskStatus | 'waiting';
  /** The id of the item's task, or null if no task was created yet. */
  readonly taskId: string | null;
  readonly turns: number;
  /** The paid tokens of the item's task, without those of its subagents. */
  readonly tokens: number;
  /** The cost in USD, or null if no price is known. */
  readonly costUsd: number | null;
  readonly durationMs: number;
  /** The full answer, or the part of it that exists so far. */
  readonly result: string;
  readonly error: ErrorInfo | null;
  /** The flags of the answer in one text, and the warnings of the task, one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Reads the outcome of each item from the logs, in the order of the items. A task that has not ended and that no
 * process owns gets the status `interrupted`.
 */
export function readItemRows(store: TaskStore, run: TaskState): readonly ItemRow[] {
  const { items = [] } = run.spec.fanOut ?? {};
  return items.map((item, index) => readItemRow(store, run, { item, index }));
}

function readItemRow(
  store: TaskStore,
  run: TaskState,
  { item, index }: { readonly item: TemplateItem; readonly index: number },
): ItemRow {
  const taskId = run.items.get(index) ?? null;
  const child = taskId !== null && store.exists(taskId) ? foldLog(store, taskId) : null;
  if (child === null) {
    const status = run.children.get(taskId ?? '')?.status ?? 'waiting';
    return { ...EMPTY_ROW, status, index: index + 1, item, taskId };
  }
  return {
    index: index + 1,
    item,
    status: isInterrupted(store, child) ? 'interrupted' : child.status,
    taskId,
    turns: child.turns,
    tokens: paidTokens(child.usage),
    costUsd: child.costUsd,
    durationMs: elapsedMs(child),
    result: fullResult(child),
    error: child.end?.error ?? null,
    warnings: listWarnings(child),
  };
}

function listWarnings({ activation, warnings }: TaskState): readonly string[] {
  const flags = formatFlags(activation.claims);
  return [...(flags === '' ? [] : [flags]), ...warnings];
}

function isInterrupted(store: TaskStore, { end, status, spec }: TaskState): boolean {
  return end === null && status !== 'parked' && store.getOwner(spec.id) === null;
}

const EMPTY_ROW = {
  turns: 0,
  tokens: 0,
  costUsd: 0,
  durationMs: 0,
  result: '',
  error: null,
  warnings: [],
} as const;
