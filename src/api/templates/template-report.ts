import { statSync } from 'node:fs';
import { foldLog } from '../../engine/task/fold-log.ts';
import { findItemsToRetry } from '../../engine/fan-out/remaining-items.ts';
import { findBestAttempts } from '../../engine/fan-out/best-attempts.ts';
import { readItemRows, type ItemRow } from '../../engine/fan-out/item-rows.ts';
import { MusterError, UsageError } from '../../base/errors.ts';
import { comparesAttempts, type FanOut } from '../../protocol/template.ts';
import type { TaskStatus } from '../../protocol/result.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { compareItems } from './plan-fan-out.ts';

/** A run of a template, from its logs. */
export interface TemplateReport {
  readonly id: string;
  readonly template: string;
  readonly status: TaskStatus;
  /** The outcome of each item, in the order of the items and their attempts. */
  readonly rows: readonly ItemRow[];
  /** Set if attempts are compared or scored. */
  readonly comparison?: AttemptComparison;
}

/** The comparison of the attempts of a run. */
export interface AttemptComparison {
  /** The number of attempts for each item. */
  readonly attempts: number;
  /** The command that scores the work; null if there is none. */
  readonly score: string | null;
  /** The best attempt for each item that has one; none if there is only one attempt for each item. */
  readonly best: readonly ItemRow[];
}

/**
 * Reports a run of a template. Throws MusterError `NOT_FOUND`, and UsageError if the task is not a run of a template.
 */
export function createTemplateReport(store: TaskStore, id: string): TemplateReport {
  const run = foldLog(store, id);
  const fanOut = requireFanOut(run.spec.fanOut, id);
  const { template, attempts = 1, score = null } = fanOut;
  const isAbandoned = run.end === null && run.status !== 'parked' && store.getOwner(id) === null;
  const status = isAbandoned ? 'interrupted' : run.status;
  const rows = readItemRows(store, run);
  const report = { id, template, status, rows } as const;
  if (!comparesAttempts(fanOut)) return report;
  const best = attempts === 1 ? [] : findBestAttempts(rows, score !== null);
  return { ...report, comparison: { attempts, score, best } };
}

/** The information that a user needs before a run of a template continues. */
export interface TemplateResumePreview {
  readonly id: string;
  /**
   * The number of items whose tasks failed or were ended by a limit. These items only run again on request.
   */
  readonly failed: number;
  /**
   * A sentence about changes in the source of the items; null if nothing has changed or changes cannot be detected.
   */
  readonly itemChanges: string | null;
}

/**
 * Returns the information that a user needs before a run continues. Rejects with the errors of `createTemplateReport`.
 */
export async function previewTemplateResume(
  store: TaskStore,
  id: string,
): Promise<TemplateResumePreview> {
  const run = foldLog(store, id);
  const fanOut = requireFanOut(run.spec.fanOut, id);
  const changed = await describeItemChanges(fanOut, run.spec.cwd);
  return { id, failed: findItemsToRetry(run).length, itemChanges: changed };
}

/** Describes how the items have changed since the run began; null if they are unchanged or cannot be compared. */
async function describeItemChanges(fanOut: FanOut, cwd: string): Promise<string | null> {
  const { source } = fanOut;
  if (source.kind === 'stdin' || source.kind === 'arguments') return null;
  if (source.kind === 'file' && isPipe(source.path)) return null;
  const sourceName = source.kind === 'file' ? source.path : source.pattern;
  const consequence = 'The run continues with its original items; a new run uses the current items';
  const { readItems } = await import('./read-items.ts');
  try {
    const changes = compareItems(fanOut, await readItems(source, cwd));
    if (changes === null) return null;
    const { before, now, changed } = changes;
    const counts = before === now ? '' : `, and there are ${now} instead of ${before}`;
    return `the items of ${sourceName} have changed since the run began: ${changed} of them${counts}. ${consequence}`;
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    return `the items cannot be read again: ${thrown.message}. ${consequence}`;
  }
}

function requireFanOut(fanOut: FanOut | undefined, id: string): FanOut {
  if (fanOut !== undefined) return fanOut;
  throw new UsageError(
    `task ${id} is not a run of a template: \`muster tasks list\` shows the source of each task`,
  );
}

function isPipe(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
}
