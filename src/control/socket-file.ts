import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, link, lstat, rm, readdir } from 'node:fs/promises';
import { type Server, connect } from 'node:net';
import { dirname, join } from 'node:path';
import { MusterError, systemErrorCode } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { checkPathLength } from './path.ts';
import { createSocketError } from './socket-directory.ts';

/**
 * The suffix of temporary names. It is not longer than `.sock`, so that a temporary path is never too long if
 * `<token>.sock` is not.
 */
export const TEMPORARY_SUFFIX = '.tmp';

const SOCKET_MODE = 0o600;
/**
 * The maximum number of attempts to take the name. An attempt fails if another process takes the name in the moment in
 * which it is free.
 */
const MAX_ATTEMPTS = 3;

/** The file of a listening socket. */
export interface SocketFile {
  /** Removes the file if it is still this socket. Never throws. */
  remove(): Promise<void>;
}

/**
 * Lets the server listen at `path`. The socket is bound under a temporary name, gets its mode, and only then gets its
 * final name with a hard link. This has three advantages: the socket never has a wider mode under its final name; no
 * other socket is ever replaced, because a link fails if the name is taken; and when the server closes, libuv unlinks
 * the temporary name and not the socket of a later process. Throws `CONFLICT` if a process listens at `path`. If
 * anything fails, the server is closed.
 */
export async function listenAt(server: Server, path: string): Promise<SocketFile> {
  const temporaryPath = join(dirname(path), `${newId()}${TEMPORARY_SUFFIX}`);
  checkPathLength(temporaryPath);
  try {
    server.listen({ path: temporaryPath, exclusive: true });
    await once(server, 'listening');
    await chmod(temporaryPath, SOCKET_MODE);
    const { dev, ino } = await lstat(temporaryPath, { bigint: true });
    await takeName(temporaryPath, path);
    await rm(temporaryPath, { force: true });
    return { remove: () => removeIfSame(path, { dev, ino }) };
  } catch (thrown) {
    server.close();
    throw createSocketError('listen on', path, thrown);
  }
}

async function takeName(temporaryPath: string, path: string): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    try {
      await link(temporaryPath, path);
      return;
    } catch (thrown) {
      if (systemErrorCode(thrown) !== 'EEXIST') throw thrown;
    }
    await removeDeadSocket(temporaryPath, path);
  }
  throw createConflictError(path);
}

/**
 * Removes the socket of a dead process. The process first takes a lock that is named after this socket, so that no
 * other process can remove it and create a live socket between the check and the removal. If a process dies while it
 * holds the lock, the lock is later removed like a temporary name.
 */
async function removeDeadSocket(temporaryPath: string, path: string): Promise<void> {
  const deadSocket = await findDeadSocket(path);
  if (deadSocket === undefined) return;
  const lock = join(dirname(path), `${deadSocket.name}${TEMPORARY_SUFFIX}`);
  try {
    await link(temporaryPath, lock);
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'EEXIST') throw createConflictError(path);
    throw thrown;
  }
  try {
    const present = await identify(path);
    if (present?.name === deadSocket.name) await rm(path, { force: true });
  } finally {
    await rm(lock, { force: true });
  }
}

/** The identity of a file, which differs from that of every other file. */
interface FileIdentity {
  /** 12 characters of `[a-z0-9]`. They include the change time of the file, because inode numbers are reused. */
  readonly name: string;
  readonly isSocket: boolean;
}

async function identify(path: string): Promise<FileIdentity | undefined> {
  try {
    const stat = await lstat(path, { bigint: true });
    const hash = createHash('sha256').update(`${stat.dev}:${stat.ino}:${stat.ctimeNs}`);
    return { name: hash.digest('hex').slice(0, 12), isSocket: stat.isSocket() };
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

/**
 * Returns the socket of a dead process at a path, or undefined if there is no file. Throws if the file is not a socket
 * or its process may be alive.
 */
async function findDeadSocket(path: string): Promise<FileIdentity | undefined> {
  const file = await identify(path);
  if (file === undefined) return undefined;
  if (!file.isSocket) {
    throw new MusterError(
      'CONFLICT',
      `${path} is not a socket, but a control socket must have this path: check the file, then remove it`,
    );
  }
  const state = await probeSocket(path);
  if (state === 'gone') return undefined;
  if (state === 'dead') return file;
  throw createConflictError(path);
}

function createConflictError(path: string): MusterError {
  return new MusterError('CONFLICT', `another process listens on the control socket ${path}`);
}

async function removeIfSame(path: string, own: { dev: bigint; ino: bigint }): Promise<void> {
  try {
    const { dev, ino } = await lstat(path, { bigint: true });
    if (dev === own.dev && ino === own.ino) await rm(path, { force: true });
  } catch {
    // The file or its directory has already been removed or cannot be accessed, so there is nothing to remove.
  }
}

/**
 * Returns whether a process listens on the socket file at `path`. Only a refused connection proves a dead process.
 * After any other failure (no free descriptors, a full queue), the state is `unknown`. BSD kernels also refuse a
 * connection if the queue is full, so on them a process with 128 waiting clients looks dead.
 */
function probeSocket(path: string): Promise<'listening' | 'dead' | 'gone' | 'unknown'> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.once('connect', () => {
      socket.destroy();
      resolve('listening');
    });
    socket.once('error', (error) => {
      const code = systemErrorCode(error);
      if (code === 'ECONNREFUSED') resolve('dead');
      else resolve(code === 'ENOENT' ? 'gone' : 'unknown');
    });
  });
}

/** The maximum number of sockets that one cleanup checks. A cleanup runs at each start, so a few are sufficient. */
const MAX_CHECKED_SOCKETS = 16;
const SOCKET_NAME = /^[a-z0-9]{12}\.(?:sock|tmp)$/;
/**
 * The minimum age at which a socket with a temporary name is removed. The process of a newer socket may be about to
 * listen.
 */
const MIN_TEMPORARY_AGE_MS = 60_000;

/** The options of a cleanup of dead sockets. */
export interface SocketCleanup {
  readonly directory: string;
  /** The present time in milliseconds since the epoch. */
  readonly now: number;
  /**
   * The position in the directory at which the cleanup begins, from 0 to below 1. With random positions, each file is
   * checked sooner or later.
   */
  readonly from: number;
}

/**
 * Removes the sockets of dead processes from a directory, at most MAX_CHECKED_SOCKETS at a time. Never throws, because
 * the next start tries again.
 */
export async function removeDeadSockets(options: SocketCleanup): Promise<void> {
  const { directory, now, from } = options;
  const names = (await readdir(directory).catch(() => [])).filter((name) => SOCKET_NAME.test(name));
  const begin = Math.floor(from * names.length);
  const checkedNames = [...names.slice(begin), ...names.slice(0, begin)].slice(
    0,
    MAX_CHECKED_SOCKETS,
  );
  await Promise.allSettled(checkedNames.map((name) => removeIfDead(join(directory, name), now)));
}

async function removeIfDead(path: string, now: number): Promise<void> {
  const stat = await lstat(path);
  if (!stat.isSocket()) return;
  if (path.endsWith(TEMPORARY_SUFFIX) && now - stat.ctimeMs < MIN_TEMPORARY_AGE_MS) return;
  if ((await probeSocket(path)) === 'dead') await rm(path, { force: true });
}
