import { MusterError } from '../base/errors.ts';

/** Returns the id of the user who owns this process's files and sockets. */
export function currentUid(): number {
  const uid = process.geteuid?.();
  if (uid !== undefined) return uid;
  throw new MusterError(
    'INTERNAL_ERROR',
    'this system has no user ids: Muster runs on Linux and macOS, on Windows through WSL',
  );
}
