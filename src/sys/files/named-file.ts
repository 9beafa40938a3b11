import { constants, createReadStream, fstatSync, lstatSync, openSync, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import { toFileError, describeFileType } from './file-errors.ts';
import { expandHome } from './paths.ts';

export interface NamedFileOptions {
  /** Ends the reading at once, also that of a pipe which nobody writes to. */
  readonly signal?: AbortSignal;
}

/**
 * The content of a file or a pipe that a person named (`~` is the home directory), piece by piece. A pipe that
 * nobody writes to is waited for without holding up anything else. Throws MusterError that begins with the path.
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

/** All of it; LIMIT_EXCEEDED for more than `maxBytes`, read no further than that. Throws as `namedFileChunks`. */
export async function readNamedFile(
  path: string,
  { maxBytes, ...options }: NamedFileOptions & { readonly maxBytes: number },
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of readNamedFileChunks(path, options)) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new MusterError(
        'LIMIT_EXCEEDED',
        `${path} is larger than the limit of ${maxBytes} bytes`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Whether there is a file or a pipe to read, looking through links. Throws MusterError that says what is there
 * instead: a directory, a device, a link to nothing.
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
  const fd = openNow(path);
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

/** Non-blocking: the opening of a pipe waits for a writer otherwise, and hears no signal. */
function openNow(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (thrown) {
    throw toFileError(path, thrown);
  }
}

function cancelled(path: string): MusterError {
  return new MusterError('CANCELLED', `${path} was not read to its end`);
}
