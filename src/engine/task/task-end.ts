import { deferred } from '../../base/async.ts';
import type { ErrorInfo } from '../../base/errors.ts';
import type { EndReason } from '../../protocol/end-reason.ts';

/** How far a task has come to its end. */
export class TaskEnd {
  /** Resolves once the end is in the log, or is known not to get there. */
  readonly written: Promise<void>;
  private readonly finished = deferred<void>();
  private decided = false;
  private unwritten: EndReason | null = null;

  constructor() {
    this.written = this.finished.promise;
  }

  /** Notes that the loop has decided how the task ends: no request follows that could hold a new message. */
  decide(): void {
    this.decided = true;
  }

  get isDecided(): boolean {
    return this.decided;
  }

  /** Notes that the log did not take the end, so that the parent is still told why. */
  recordLoss(error: ErrorInfo): void {
    this.unwritten = { status: 'failed', error, because: error.message, by: null };
  }

  /** The end that the log did not take; null when there is none. */
  get lost(): EndReason | null {
    return this.unwritten;
  }

  /** Resolves `written`. */
  finish(): void {
    this.finished.resolve();
  }
}
