import { errorMessage, MusterError, systemErrorCode, type ErrorCode } from '../base/errors.ts';

const CODES: Readonly<Record<string, ErrorCode>> = {
  ENOENT: 'NOT_FOUND',
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
};

const PASSING = new Set(['EMFILE', 'ENFILE', 'ENOSPC', 'EDQUOT', 'EAGAIN']);

/**
 * Returns the error for a failure of the system around a control socket. `action` reads like `listen on`.
 */
export function socketError(action: string, path: string, thrown: unknown): MusterError {
  if (thrown instanceof MusterError) return thrown;
  const code = systemErrorCode(thrown) ?? '';
  const message = `cannot ${action} ${path}: ${errorMessage(thrown)}`;
  return new MusterError(CODES[code] ?? 'INTERNAL_ERROR', message, {
    retryable: PASSING.has(code),
    cause: thrown,
  });
}
