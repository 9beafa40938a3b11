import { newId } from '../../base/ids.ts';
import type { StopOrder } from './stop.ts';

/**
 * Ends what a task does now: its request, its calls, what it waits for. It ends with the task, too; the
 * task need not end with it.
 */
export class TurnSignal {
  private readonly task: AbortSignal;
  private own = new AbortController();
  private both: AbortSignal;

  constructor(task: AbortSignal) {
    this.task = task;
    this.both = AbortSignal.any([task, this.own.signal]);
  }

  get signal(): AbortSignal {
    return this.both;
  }

  interrupt(order: StopOrder): void {
    this.own.abort(order);
  }

  /** For what the task does next. Whether what it did before was interrupted. */
  renew(): boolean {
    if (!this.own.signal.aborted) return false;
    this.own = new AbortController();
    this.both = AbortSignal.any([this.task, this.own.signal]);
    return true;
  }
}

/** Begins the ids of the notices that tell a model of an interruption. */
const NOTICE = 'interrupted-';

export function interruptionId(): string {
  return `${NOTICE}${newId()}`;
}

/** Whether it is still to be said when a task goes on after its end: it says why its calls broke off. */
export function isInterruptionNotice(id: string): boolean {
  return id.startsWith(NOTICE);
}
