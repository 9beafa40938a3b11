import type { ErrorInfo } from '../../base/errors.ts';
import type { WorkScore } from '../../protocol/acceptance.ts';
import { modelName, paidTokens } from '../../protocol/model.ts';
import type { TaskStatus } from '../../protocol/result.ts';
import { countItemTasks, locateItemTask, type TemplateItem } from '../../protocol/template.ts';
import type { WorkspaceResult } from '../../protocol/workspace.ts';
import { formatFlags } from '../../receipts/answer-flags.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { foldLog } from '../task/fold-log.ts';
import { elapsedMs, fullResult } from '../results/result.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** The outcome of one item, or of one attempt of several. */
export interface ItemRow {
  /** The number of the item, from 1. */
  readonly index: number;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  readonly item: TemplateItem;
  /** The status of the item's task; `waiting` if the task has not started. */
  readonly status: TaskStatus | 'waiting';
  /** The id of the item's task, or null if no task was created yet. */
  readonly taskId: string | null;
  /** The model as `provider/id`, or null if no task was created yet. */
  readonly model: string | null;
  readonly turns: number;
  /** The paid tokens of the item's task, without those of its subagents. */
  readonly tokens: number;
  /** The cost in USD, or null if no price is known. */
  readonly costUsd: number | null;
  readonly durationMs: number;
  /** The full answer, or the part of it that exists so far. */
  readonly result: string;
  readonly error: ErrorInfo | null;
  /** The score of the work; null if it was not scored. */
  readonly score: WorkScore | null;
  /** The changes in the workspace of the task; null if it has none, or has not ended. */
  readonly changes: Pick<WorkspaceResult, 'fileCount' | 'addedLines' | 'deletedLines'> | null;
  /** The flags of the answer in one text, and the warnings of the task and its score, one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Reads the outcome of each item from the logs, in the order of the items and their attempts. A task that has not ended
 * and that no process owns gets the status `interrupted`.
 */
export function readItemRows(store: TaskStore, run: TaskState): readonly ItemRow[] {
  const { fanOut } = run.spec;
  if (fanOut === undefined) return [];
  return Array.from({ length: countItemTasks(fanOut) }, (_, index) => {
    const { item, attempt } = locateItemTask(fanOut, index);
    const place = { index: item + 1, attempt: attempt + 1, item: fanOut.items[item] ?? '' };
    return readItemRow(store, run, place, run.items.get(index) ?? null);
  });
}

function readItemRow(
  store: TaskStore,
  run: TaskState,
  place: Pick<ItemRow, 'index' | 'attempt' | 'item'>,
  taskId: string | null,
): ItemRow {
  const child = taskId !== null && store.exists(taskId) ? foldLog(store, taskId) : null;
  if (child === null) {
    const status = run.children.get(taskId ?? '')?.status ?? 'waiting';
    return { ...EMPTY_ROW, ...place, status, taskId };
  }
  return {
    ...place,
    status: isInterrupted(store, child) ? 'interrupted' : child.status,
    taskId,
    model: modelName(child.spec.model),
    turns: child.turns,
    tokens: paidTokens(child.usage),
    costUsd: child.costUsd,
    durationMs: elapsedMs(child),
    result: fullResult(child),
    error: child.end?.error ?? null,
    score: child.acceptance.checks.at(-1)?.outcome.score ?? null,
    changes: child.workspace.left,
    warnings: listWarnings(child),
  };
}

function listWarnings({ activation, acceptance, warnings }: TaskState): readonly string[] {
  const flags = formatFlags(activation.claims);
  const { notes = [], score } = acceptance.checks.at(-1)?.outcome ?? {};
  // Whoever compares scores has to know that some files were not used as the task left them.
  return [...(flags === '' ? [] : [flags]), ...warnings, ...(score === undefined ? [] : notes)];
}

function isInterrupted(store: TaskStore, { end, status, spec }: TaskState): boolean {
  return end === null && status !== 'parked' && store.getOwner(spec.id) === null;
}

const EMPTY_ROW = {
  model: null,
  turns: 0,
  tokens: 0,
  costUsd: 0,
  durationMs: 0,
  result: '',
  error: null,
  score: null,
  changes: null,
  warnings: [],
} as const;
