import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, link, lstat, rm, readdir } from 'node:fs/promises';
import { type Server, connect } from 'node:net';
import { dirname, join } from 'node:path';
import { MusterError, systemErrorCode } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { checkPathLength } from './path.ts';
import { socketError } from './socket-directory.ts';

/**
 * The suffix of temporary names, as long as `.sock` or shorter, so that they fit where `<token>.sock` does.
 */
export const TEMPORARY_SUFFIX = '.tmp';

const SOCKET_MODE = 0o600;
/**
 * The maximum number of attempts. Each further attempt means that another process took the name in the moment in which it was free.
 */
const MAX_ATTEMPTS = 3;

/** The file of a listening socket. */
export interface SocketFile {
  /** Removes the file if it is still this socket. Never throws for one that is gone. */
  remove(): Promise<void>;
}

/**
 * Lets the server listen at `path`. The socket is bound under a temporary name, gets its mode there and only then its
 * own name, by a link. So it never has a wider mode under its own name, no other socket is ever replaced (a link
 * fails if a name is taken, and one process wins), and libuv unlinks the temporary name on closing, not the socket of
 * a successor. Throws `CONFLICT` if a process listens there. On any failure the server is closed.
 */
export async function listenAt(server: Server, path: string): Promise<SocketFile> {
  const bound = join(dirname(path), `${newId()}${TEMPORARY_SUFFIX}`);
  checkPathLength(bound);
  try {
    server.listen({ path: bound, exclusive: true });
    await once(server, 'listening');
    await chmod(bound, SOCKET_MODE);
    const { dev, ino } = await lstat(bound, { bigint: true });
    await takeName(bound, path);
    await rm(bound, { force: true });
    return { remove: () => removeIfSame(path, { dev, ino }) };
  } catch (thrown) {
    server.close();
    throw socketError('listen on', path, thrown);
  }
}

async function takeName(bound: string, path: string): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    try {
      await link(bound, path);
      return;
    } catch (thrown) {
      if (systemErrorCode(thrown) !== 'EEXIST') throw thrown;
    }
    await clearName(bound, path);
  }
  throw inUse(path);
}

/**
 * Removes the socket that a dead process left. Only the holder of a lock named after that very socket may do it, so
 * that nobody can put a live one in its place between the check and the removal. A lock that outlives its holder is
 * swept like a temporary name.
 */
async function clearName(bound: string, path: string): Promise<void> {
  const dead = await deadSocket(path);
  if (dead === undefined) return;
  const lock = join(dirname(path), `${dead.name}${TEMPORARY_SUFFIX}`);
  try {
    await link(bound, lock);
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'EEXIST') throw inUse(path);
    throw thrown;
  }
  try {
    const still = await identify(path);
    if (still?.name === dead.name) await rm(path, { force: true });
  } finally {
    await rm(lock, { force: true });
  }
}

interface FileIdentity {
  /**
   * 12 of `[a-z0-9]`, different for every file that ever existed, because inode numbers are used again.
   */
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
 * Returns the dead socket at a path, or undefined if the file is gone. Throws for anything else.
 */
async function deadSocket(path: string): Promise<FileIdentity | undefined> {
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
  throw inUse(path);
}

function inUse(path: string): MusterError {
  return new MusterError('CONFLICT', `another process listens on the control socket ${path}`);
}

async function removeIfSame(path: string, own: { dev: bigint; ino: bigint }): Promise<void> {
  try {
    const { dev, ino } = await lstat(path, { bigint: true });
    if (dev === own.dev && ino === own.ino) await rm(path, { force: true });
  } catch {
    // Gone, or out of reach with its directory: either way there is no name of ours left to take away.
  }
}

/**
 * Returns whether a process listens on the socket file at `path`. Only a refused connection proves a dead process.
 * Any other failure (no descriptors left, a full queue) proves nothing: `unknown`. BSD kernels also refuse when the
 * queue is full, so there a process with 128 waiting clients looks dead.
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

/** The maximum number of sockets that one sweep checks. A sweep runs at each start, so few are enough. */
const MAX_CHECKED_SOCKETS = 16;
const NAME = /^[a-z0-9]{12}\.(?:sock|tmp)$/;
/**
 * The age at which a socket under a temporary name is swept. A younger one may be about to listen.
 */
const MIN_TEMPORARY_AGE_MS = 60_000;

export interface SocketSweep {
  readonly directory: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /**
   * From 0 to below 1: the position in the directory at which the sweep begins, so that each file gets its turn.
   */
  readonly from: number;
}

/**
 * Removes sockets that dead processes left in our directory, a few at a time. Never throws, because the next start
 * tries again.
 */
export async function sweepSockets(options: SocketSweep): Promise<void> {
  const { directory, now, from } = options;
  const names = (await readdir(directory).catch(() => [])).filter((name) => NAME.test(name));
  const begin = Math.floor(from * names.length);
  const some = [...names.slice(begin), ...names.slice(0, begin)].slice(0, MAX_CHECKED_SOCKETS);
  await Promise.allSettled(some.map((name) => removeIfDead(join(directory, name), now)));
}

async function removeIfDead(path: string, now: number): Promise<void> {
  const stat = await lstat(path);
  if (!stat.isSocket()) return;
  if (path.endsWith(TEMPORARY_SUFFIX) && now - stat.ctimeMs < MIN_TEMPORARY_AGE_MS) return;
  if ((await probeSocket(path)) === 'dead') await rm(path, { force: true });
}
