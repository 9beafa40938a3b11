import type { BigIntStats, Stats } from 'node:fs';
import { MusterError, errorMessage, systemErrorCode, type ErrorCode } from '../../base/errors.ts';

const SYSTEM_ERRORS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ENOENT: ['NOT_FOUND', 'does not exist'],
  ENOTDIR: ['NOT_FOUND', 'goes through something that is not a directory'],
  EACCES: ['PERMISSION_DENIED', 'may not be accessed: the file system refuses it'],
  EPERM: ['PERMISSION_DENIED', 'may not be accessed: the file system refuses it'],
  EROFS: ['PERMISSION_DENIED', 'is on a read-only file system'],
  ELOOP: ['INVALID_PARAM', 'is a link that leads in a circle'],
  ENAMETOOLONG: ['INVALID_PARAM', 'has a name that is too long'],
  EISDIR: ['INVALID_PARAM', 'is a directory'],
  ENXIO: ['INVALID_PARAM', 'is a socket or device, not a file'],
  ENOSPC: ['LIMIT_EXCEEDED', 'cannot be written: no space left on the device'],
  EDQUOT: ['LIMIT_EXCEEDED', 'cannot be written: the disk quota is used up'],
  EFBIG: ['LIMIT_EXCEEDED', 'cannot be written: larger than the file system allows'],
  EBUSY: ['PERMISSION_DENIED', 'is in use (a mount point), and cannot be replaced'],
  EMFILE: ['LIMIT_EXCEEDED', 'cannot be opened: too many open files'],
};

/** Converts a failure of the file system to an error that names the file and the problem. */
export function toFileError(path: string, thrown: unknown): MusterError {
  if (thrown instanceof MusterError) return thrown;
  const known = SYSTEM_ERRORS[systemErrorCode(thrown) ?? ''];
  if (known === undefined) {
    return new MusterError('INTERNAL_ERROR', `${path}: ${errorMessage(thrown)}`, { cause: thrown });
  }
  const [code, message] = known;
  return new MusterError(code, `${path} ${message}`, { cause: thrown });
}

/** Describes the type of a file for messages: `a FIFO`, `a directory`. */
export function describeFileType(stats: Stats | BigIntStats): string {
  if (stats.isFile()) return 'a file';
  if (stats.isDirectory()) return 'a directory';
  if (stats.isFIFO()) return 'a FIFO (named pipe)';
  if (stats.isSocket()) return 'a socket';
  if (stats.isSymbolicLink()) return 'a link';
  return 'a device';
}
