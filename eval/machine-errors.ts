import { systemErrorCode } from '../src/base/errors.ts';

const CODES = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'ENOMEM', 'EIO', 'EROFS']);

/** Tells whether this machine has failed, for example because a disk is full. The next run would fail, too. */
export function isMachineError(thrown: unknown): boolean {
  return CODES.has(systemErrorCode(thrown) ?? '');
}
