import { MusterError, UsageError } from '../../base/errors.ts';
import { openFileStore } from '../../store/file-store.ts';

/**
 * Opens the store in a data directory. Throws UsageError for a directory that cannot be used, because nothing has run
 * and the setting has to change. A temporary failure (a full disk) keeps its own error.
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
