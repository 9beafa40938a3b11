import { MusterError, errorMessage, systemErrorCode } from '../../base/errors.ts';

const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: 'free some space on that disk',
  EDQUOT: 'your disk quota is used up',
  EROFS: 'that file system is read-only: choose another place with --data-dir',
  EACCES: 'check who owns it, or choose another place with --data-dir',
  EMFILE: 'this process has too many files open: raise `ulimit -n`',
};

/** A failure of the disk under the store, naming path and cause. `action` reads like `write`. */
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
