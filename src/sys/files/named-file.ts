import { constants, createReadStream, fstatSync, lstatSync, openSync, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import { toFileError, describeFileType } from './file-errors.ts';
import { expandHome } from './paths.ts';
import { joinWithLimit } from './read-at-most.ts';

/** Options for reading a file that a person named. */
export interface NamedFileOptions {
  /** Stops reading at once when aborted, even from a pipe that nobody writes to. */
  readonly signal?: AbortSignal;
}

/**
 * Reads a file or pipe that a person named (`~` is the home directory) in chunks. Waiting for data from a pipe
 * does not block other work. Throws MusterError with a message that begins with the path.
 */
export async function* readNamedFileChunks(
  named: string,
  { signal }: NamedFileOptions = {},
): AsyncGenerator<Buffer, void, undefined> {
  const path = expandHome(named);
  const stream = await openNamed(path, signal);
  try {
    for await (const chunk of stream) yield Buffer.from(chunk);
  } catch (thrown) {
    if (signal?.aborted === true) throw cancelled(path);
    throw toFileError(path, thrown);
  } finally {
    stream.destroy();
  }
}

/**
 * Reads the full content of a file or pipe that a person named. Stops and throws LIMIT_EXCEEDED after `maxBytes`;
 * otherwise throws like `readNamedFileChunks`.
 */
export async function readNamedFile(
  path: string,
  { maxBytes, ...options }: NamedFileOptions & { readonly maxBytes: number },
): Promise<Buffer> {
  return joinWithLimit(path, readNamedFileChunks(path, options), maxBytes);
}

/**
 * Tells whether a file or pipe exists at a path, following links. Throws MusterError if the path leads to something
 * else: a directory, a device, or a missing target of a link.
 */
export function hasReadableFile(path: string): boolean {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() === true || stats?.isFIFO() === true) return true;
    if (stats !== undefined) {
      throw new MusterError(
        'INVALID_PARAM',
        `${path} is ${describeFileType(stats)}, and not a file`,
      );
    }
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
    throw new MusterError('NOT_FOUND', `${path} is a link to something that does not exist`);
  } catch (thrown) {
    if (NO_SUCH_PATH.has(systemErrorCode(thrown) ?? '')) return false;
    throw toFileError(path, thrown);
  }
}

const NO_SUCH_PATH: ReadonlySet<string> = new Set(['ENOTDIR', 'ENAMETOOLONG']);

async function openNamed(path: string, signal: AbortSignal | undefined): Promise<Readable> {
  if (signal?.aborted === true) throw cancelled(path);
  if (!hasReadableFile(path)) throw new MusterError('NOT_FOUND', `${path} does not exist`);
  const fd = openWithoutBlocking(path);
  const options = {
    fd,
    readable: true,
    writable: false,
    ...(signal === undefined ? {} : { signal }),
  };
  // A read of a pipe that waits in Node's pool of threads would keep the process from ending.
  if (fstatSync(fd).isFIFO()) return new (await import('node:net')).Socket(options);
  return createReadStream(path, options);
}

/** Opens without blocking: opening a pipe would otherwise wait for a writer and ignore the signal. */
function openWithoutBlocking(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (thrown) {
    throw toFileError(path, thrown);
  }
}

function cancelled(path: string): MusterError {
  return new MusterError('CANCELLED', `${path} was not read to its end`);
}
