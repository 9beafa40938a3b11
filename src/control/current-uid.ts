import { MusterError } from '../base/errors.ts';

/** The user whom this process's files and sockets belong to. */
export function currentUid(): number {
  const uid = process.geteuid?.();
  if (uid !== undefined) return uid;
  throw new MusterError(
    'INTERNAL_ERROR',
    'this system has no user ids: Muster runs on Linux and macOS, on Windows through WSL',
  );
}
