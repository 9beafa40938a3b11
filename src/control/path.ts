import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { errorMessage, MusterError, systemErrorCode } from '../base/errors.ts';
import { byteLength } from '../base/text.ts';

/**
 * The maximum number of bytes of the path of a Unix socket on all systems. macOS allows 104 with the final zero, and
 * Linux allows 108 (unix(7)). Node 22 silently truncates a longer path.
 */
const MAX_PATH_BYTES = 103;

const TOKEN = /^[a-z0-9]{12}$/;
const HASH_LENGTH = 16;

/** The process whose control socket is meant. */
export interface ControlPathOptions {
  /** The absolute path of the data directory. */
  readonly dataDir: string;
  /** The owner token of the process, from its file in the store: 12 characters of `[a-z0-9]`. */
  readonly token: string;
  /** The user who owns the socket. Default: this process's user. */
  readonly uid?: number;
}

/**
 * Returns the path of a process's control socket: in the data directory or, if that path is too long for a socket, in a
 * directory under `/tmp` (not `TMPDIR`, which may differ between two processes). Links in the path of the data
 * directory are resolved, so that all processes use the same path. Throws `INVALID_PARAM` for an invalid token or data
 * directory.
 */
export function controlSocketPath(options: ControlPathOptions): string {
  const { dataDir, token, uid = currentUid() } = options;
  if (!TOKEN.test(token)) {
    throw new MusterError(
      'INVALID_PARAM',
      `${JSON.stringify(token.slice(0, 60))} is not an owner token: 12 characters of a-z and 0-9`,
    );
  }
  if (!isAbsolute(dataDir)) {
    throw new MusterError('INVALID_PARAM', `the data directory ${dataDir} is not an absolute path`);
  }
  const root = realPath(dataDir);
  const path = join(root, 'sockets', `${token}.sock`);
  if (byteLength(path) <= MAX_PATH_BYTES) return path;
  const hash = createHash('sha256').update(root).digest('hex').slice(0, HASH_LENGTH);
  return `/tmp/muster-${uid}-${hash}/${token}.sock`;
}

/** Throws `INVALID_PARAM` for a path that does not fit into the address of a socket. */
export function checkPathLength(path: string): void {
  const bytes = byteLength(path);
  if (bytes <= MAX_PATH_BYTES) return;
  throw new MusterError(
    'INVALID_PARAM',
    `the path of the control socket ${path} has ${bytes} bytes, but the path of a socket can have only ${MAX_PATH_BYTES}: choose a shorter data directory with --data-dir`,
  );
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (thrown) {
    // If the data directory does not exist, no process uses it, so the path need not be resolved.
    if (systemErrorCode(thrown) === 'ENOENT') return resolve(path);
    throw new MusterError(
      'INVALID_PARAM',
      `the data directory ${path} cannot be used: ${errorMessage(thrown)}`,
      { cause: thrown },
    );
  }
}

/** Returns the id of the user who owns this process's files and sockets. */
export function currentUid(): number {
  const uid = process.geteuid?.();
  if (uid !== undefined) return uid;
  throw new MusterError(
    'INTERNAL_ERROR',
    'this system has no user ids: Muster runs on Linux and macOS, on Windows through WSL',
  );
}
