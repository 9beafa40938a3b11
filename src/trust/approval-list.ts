import { MusterError, UsageError } from '../base/errors.ts';
import { StateList, type ListFormat } from '../store/state/state-list.ts';
import { approvalDirectory, type StateOptions } from './state-directory.ts';

/** The next step of a person who has moved a damaged file of approvals away. */
export const APPROVE_AGAIN = 'approve again what you still want';

/** Opens a list of approvals. Throws UsageError for a directory that may not hold any. */
export function openApprovalList<T>(options: StateOptions, format: ListFormat<T>): StateList<T> {
  return new StateList(approvalDirectory(options), format);
}

/** The options of a run that reads approvals. */
export interface ApprovalReaderOptions extends StateOptions {
  /** Called with one line that says why no approval counts. */
  readonly onProblem: (message: string) => void;
}

/**
 * Reads a list of approvals for a run. A file that cannot be read approves nothing, and does not stop the run.
 *
 * @param problem the beginning of the line that says so
 */
export function readApprovals<T>(
  options: ApprovalReaderOptions,
  format: ListFormat<T>,
  problem: string,
): { readonly path: string; readonly entries: readonly T[] } {
  try {
    const list = openApprovalList(options, format);
    return { path: list.path, entries: list.all() };
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    // A directory that was chosen in the project holds no approvals. Whoever chose it is told elsewhere.
    if (!(thrown instanceof UsageError)) options.onProblem(`${problem}: ${thrown.message}`);
    return { path: '', entries: [] };
  }
}
