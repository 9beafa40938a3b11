import { MusterError, UsageError } from '../base/errors.ts';
import { StateList, type ListFormat } from '../store/state/state-list.ts';
import { approvalDirectory, type StateOptions } from './state-directory.ts';

/** The next step of a person who has moved a damaged file of approvals away. */
export const APPROVE_AGAIN = 'approve again what you still want';

/** Opens a list of approvals. Throws UsageError if the state directory may not hold approvals. */
export function openApprovalList<T>(options: StateOptions, format: ListFormat<T>): StateList<T> {
  return new StateList(approvalDirectory(options), format);
}

/** The options of a run that reads approvals. */
export interface ApprovalReaderOptions extends StateOptions {
  /** Called with one line that says why no approval applies. */
  readonly onProblem: (message: string) => void;
}

/**
 * Reads a list of approvals for a run. If the file cannot be read, there are no approvals, and the run continues.
 *
 * @param problem the beginning of the message in this case
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
    // A state directory inside the project holds no approvals. Opening the list of trusted files reports this error.
    if (!(thrown instanceof UsageError)) options.onProblem(`${problem}: ${thrown.message}`);
    return { path: '', entries: [] };
  }
}
