import { statSync } from 'node:fs';
import { foldLog } from '../../engine/task/fold-log.ts';
import { findItemsToRetry } from '../../engine/fan-out/remaining-items.ts';
import { readItemRows, type ItemRow } from '../../engine/fan-out/item-rows.ts';
import { MusterError, UsageError } from '../../base/errors.ts';
import type { FanOut } from '../../protocol/template.ts';
import type { TaskStatus } from '../../protocol/result.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { itemChanges } from './plan-fan-out.ts';

/** A run of a template as the logs describe it. */
export interface TemplateReport {
  readonly id: string;
  readonly template: string;
  readonly status: TaskStatus;
  /** In the order of the items. */
  readonly rows: readonly ItemRow[];
}

/**
 * Reports a run of a template. Throws MusterError `NOT_FOUND`, and UsageError for a task that is no run of a
 * template.
 */
export function templateReport(store: TaskStore, id: string): TemplateReport {
  const run = foldLog(store, id);
  const { template } = fanOutOf(run.spec.fanOut, id);
  const isLeft = run.end === null && run.status !== 'parked' && store.getOwner(id) === null;
  const status = isLeft ? 'interrupted' : run.status;
  return { id, template, status, rows: readItemRows(store, run) };
}

/** The information that a user needs before a run continues. */
export interface TemplateResumePreview {
  readonly id: string;
  /**
   * The number of items whose tasks failed or were ended by a limit. They only run again on request.
   */
  readonly failed: number;
  /**
   * A sentence about changes of the items' source, or null if there are none or they are not known.
   */
  readonly changed: string | null;
}

/** Returns what a user should know before a run continues. Rejects as `templateReport` throws. */
export async function previewTemplateResume(
  store: TaskStore,
  id: string,
): Promise<TemplateResumePreview> {
  const run = foldLog(store, id);
  const fanOut = fanOutOf(run.spec.fanOut, id);
  const changed = await changedItems(fanOut, run.spec.cwd);
  return { id, failed: findItemsToRetry(run).length, changed };
}

/** Describes changes of the items. The run continues with those with which it began. */
async function changedItems(fanOut: FanOut, cwd: string): Promise<string | null> {
  const { source } = fanOut;
  if (source.kind === 'stdin' || (source.kind === 'file' && isPipe(source.path))) return null;
  const where = source.kind === 'file' ? source.path : source.pattern;
  const goesOn =
    'The run goes on with the items that it began with; a new one takes them as they are now';
  const { readItems } = await import('./read-items.ts');
  try {
    const changes = itemChanges(fanOut, await readItems(source, cwd));
    if (changes === null) return null;
    const { before, now, changed } = changes;
    const counts = before === now ? '' : `, and there are ${now} instead of ${before}`;
    return `the items of ${where} have changed since: ${changed} of them${counts}. ${goesOn}`;
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    return `the items can't be read again: ${thrown.message}. ${goesOn}`;
  }
}

function fanOutOf(fanOut: FanOut | undefined, id: string): FanOut {
  if (fanOut !== undefined) return fanOut;
  throw new UsageError(`task ${id} is no run of a template; muster tasks list shows which are`);
}

function isPipe(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
}
