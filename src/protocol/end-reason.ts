import type { ErrorInfo } from '../base/errors.ts';
import type { EndStatus } from './result.ts';

/** Who ended a task that did not end by itself. */
export type StoppedBy = 'user' | 'parent' | 'client' | 'signal' | 'limit';

/** Why a task ended, for people and for the receipt. */
export interface EndReason {
  readonly status: EndStatus;
  readonly error: ErrorInfo | null;
  /** One sentence. */
  readonly because: string;
  /** Null: it ended by itself. */
  readonly by: StoppedBy | null;
}
