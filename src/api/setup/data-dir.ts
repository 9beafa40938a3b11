import { MusterError, UsageError } from '../../base/errors.ts';
import { openFileStore } from '../../store/file-store.ts';

/**
 * Opens the store in a data directory. Throws UsageError if the directory cannot be used, because the user must choose
 * another one. A temporary error, such as a full disk, is thrown unchanged.
 */
export function openDataDirectory(
  options: Parameters<typeof openFileStore>[0],
): ReturnType<typeof openFileStore> {
  try {
    return openFileStore(options);
  } catch (thrown) {
    if (!(thrown instanceof MusterError) || thrown.retryable) throw thrown;
    throw new UsageError(thrown.message, { cause: thrown });
  }
}
