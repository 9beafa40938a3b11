import { MusterError, UsageError } from '../../base/errors.ts';
import { openStore } from '../../store/file-store.ts';

/**
 * The store in a data directory. Throws UsageError for a directory that can't be used: until then
 * nothing has run, and what has to change is the setting. What may pass (a full disk) stays as it is.
 */
export function openDataDirectory(
  options: Parameters<typeof openStore>[0],
): ReturnType<typeof openStore> {
  try {
    return openStore(options);
  } catch (thrown) {
    if (!(thrown instanceof MusterError) || thrown.retryable) throw thrown;
    throw new UsageError(thrown.message, { cause: thrown });
  }
}
