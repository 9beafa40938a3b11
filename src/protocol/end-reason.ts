import type { ErrorInfo } from '../base/errors.ts';
import type { EndStatus } from './result.ts';

/** The party that ended a task before it ended by itself. */
export type StoppedBy = 'user' | 'parent' | 'client' | 'signal' | 'limit';

/** The reason why a task ended, for people and for the receipt. */
export interface EndReason {
  /** The status of the task. */
  readonly status: EndStatus;
  /** The error because of which the task ended; null if there is none. */
  readonly error: ErrorInfo | null;
  /** The reason in one sentence. */
  readonly because: string;
  /** The party that ended the task; null if the task ended by itself. */
  readonly by: StoppedBy | null;
}
