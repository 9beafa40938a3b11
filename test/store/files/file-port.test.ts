import { expect, it } from 'vitest';
import { storageError } from '../../../src/store/files/file-port.ts';

it.each([
  ['EACCES', 'PERMISSION_DENIED', false, '; check who owns it, or choose another directory with'],
  ['EPERM', 'PERMISSION_DENIED', false, ''],
  [
    'EROFS',
    'PERMISSION_DENIED',
    false,
    '; that file system is read-only: choose another directory',
  ],
  ['ENOSPC', 'INTERNAL_ERROR', true, '; free some space on that disk'],
  ['EIO', 'INTERNAL_ERROR', false, ''],
] as const)('the error %s of the file system is %s', (code, expected, retryable, advice) => {
  const thrown = Object.assign(new Error(`${code}: reason`), { code });
  const error = storageError('write', '/data/log', thrown);
  expect([error.code, error.retryable, error.cause]).toEqual([expected, retryable, thrown]);
  expect(error.message).toContain(`cannot write /data/log: ${code}: reason${advice}`);
});
