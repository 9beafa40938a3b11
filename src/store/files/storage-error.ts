import { MusterError, errorMessage, systemErrorCode } from '../../base/errors.ts';

const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: 'free some space on that disk',
  EDQUOT: 'your disk quota is used up',
  EROFS: 'that file system is read-only: choose another directory with --data-dir',
  EACCES: 'check who owns it, or choose another directory with --data-dir',
  EMFILE: 'this process has too many files open: raise `ulimit -n`',
};

/**
 * An error of the file system as a MusterError that names the path, the cause and what to do. `action` is a verb phrase
 * such as `write`. A MusterError is returned as it is.
 */
export function storageError(action: string, path: string, thrown: unknown): MusterError {
  if (thrown instanceof MusterError) return thrown;
  const code = systemErrorCode(thrown);
  const advice = code === undefined ? undefined : ADVICE[code];
  const message = `cannot ${action} ${path}: ${errorMessage(thrown)}`;
  return new MusterError(
    'INTERNAL_ERROR',
    advice === undefined ? message : `${message}; ${advice}`,
    {
      retryable: code === 'ENOSPC' || code === 'EDQUOT' || code === 'EMFILE',
      cause: thrown,
    },
  );
}
