import type { ErrorInfo } from '../../base/errors.ts';
import { paidTokens } from '../../protocol/model.ts';
import type { TaskStatus } from '../../protocol/result.ts';
import type { TemplateItem } from '../../protocol/template.ts';
import { flagsText } from '../../receipts/answer-flags.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { foldLog } from '../task/fold-log.ts';
import { elapsedMs, fullResult } from '../results/result.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** The outcome of one item. */
export interface ItemRow {
  /** From 1. */
  readonly index: number;
  readonly item: TemplateItem;
  /** `waiting`: nothing was begun for it. */
  readonly status: TaskStatus | 'waiting';
  /** Null: it has none yet. */
  readonly taskId: string | null;
  readonly turns: number;
  /** Paid ones, of its task alone. */
  readonly tokens: number;
  /** Null where no price is known. */
  readonly costUsd: number | null;
  readonly durationMs: number;
  /** The whole answer, or what there is of one. */
  readonly result: string;
  readonly error: ErrorInfo | null;
  /** The flags of its answer in one text, and a sentence for each request of its definition that was not met. */
  readonly warnings: readonly string[];
}

/**
 * What came of each item, in their order, from the logs. A task whose log says no end shows as
 * `interrupted`, unless it is at work.
 */
export function readItemRows(store: TaskStore, run: TaskState): readonly ItemRow[] {
  const { items = [] } = run.spec.fanOut ?? {};
  return items.map((item, index) => rowOf(store, run, { item, index }));
}

function rowOf(
  store: TaskStore,
  run: TaskState,
  { item, index }: { readonly item: TemplateItem; readonly index: number },
): ItemRow {
  const taskId = run.items.get(index) ?? null;
  const child = taskId !== null && store.exists(taskId) ? foldLog(store, taskId) : null;
  if (child === null) {
    const status = run.children.get(taskId ?? '')?.status ?? 'waiting';
    return { ...NOTHING_DONE, status, index: index + 1, item, taskId };
  }
  return {
    index: index + 1,
    item,
    status: isLeft(store, child) ? 'interrupted' : child.status,
    taskId,
    turns: child.turns,
    tokens: paidTokens(child.usage),
    costUsd: child.costUsd,
    durationMs: elapsedMs(child),
    result: fullResult(child),
    error: child.end?.error ?? null,
    warnings: warningsOf(child),
  };
}

function warningsOf({ activation, warnings }: TaskState): readonly string[] {
  const flags = flagsText(activation.claims);
  return [...(flags === '' ? [] : [flags]), ...warnings];
}

function isLeft(store: TaskStore, { end, status, spec }: TaskState): boolean {
  return end === null && status !== 'parked' && store.owner(spec.id) === null;
}

const NOTHING_DONE = {
  turns: 0,
  tokens: 0,
  costUsd: 0,
  durationMs: 0,
  result: '',
  error: null,
  warnings: [],
} as const;
