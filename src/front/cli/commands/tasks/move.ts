import { createReadStream } from 'node:fs';
import { link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Tasks } from '../../../../api/index.ts';
import {
  errorMessage,
  MusterError,
  systemErrorCode,
  UsageError,
  type ErrorCode,
} from '../../../../base/errors.ts';
import { newId } from '../../../../base/ids.ts';
import { plural } from '../../../../base/text.ts';
import { printJson, printLines, printPieces } from './print.ts';

const FILE_MODE = 0o600;

interface TaskExport {
  readonly id: string;
  /** Null: stdout. */
  readonly file: string | null;
  readonly force: boolean;
  readonly json: boolean;
}

/** `muster tasks export`. The file is there whole or not at all, and only its user reads it. */
export async function exportTask(
  tasks: Tasks,
  { id, file, force, json }: TaskExport,
): Promise<number> {
  const { spec } = tasks.state(id);
  const pieces = tasks.exportTree(spec.id);
  if (file === null) {
    if (process.stdout.isTTY === true) {
      throw new UsageError(
        `an export is for a file or a program, not for a terminal: muster tasks export ${id} FILE`,
      );
    }
    await printPieces(pieces);
    return 0;
  }
  const path = resolve(file);
  const bytes = await writePrivate(path, pieces, { force });
  if (json) printJson({ task_id: spec.id, file: path, bytes });
  else printLines(`task ${spec.id} is in ${path} (${plural(bytes, 'byte')})`);
  return 0;
}

async function writePrivate(
  path: string,
  pieces: AsyncIterable<string>,
  { force }: { readonly force: boolean },
): Promise<number> {
  const draft = join(dirname(path), `.${basename(path)}.${newId()}.tmp`);
  try {
    const handle = await open(draft, 'wx', FILE_MODE);
    let bytes = 0;
    try {
      for await (const piece of pieces) bytes += (await handle.write(piece)).bytesWritten;
      await handle.sync();
    } finally {
      await handle.close();
    }
    // A link takes no name that is taken.
    if (force) await rename(draft, path);
    else await link(draft, path);
    return bytes;
  } catch (thrown) {
    throw fileError('write', path, thrown);
  } finally {
    await rm(draft, { force: true });
  }
}

/** `muster tasks import`: prints the ids, the top first. */
export async function importTasks(
  tasks: Tasks,
  { file, json }: { readonly file: string; readonly json: boolean },
): Promise<number> {
  if (file === '-' && process.stdin.isTTY === true) {
    throw new UsageError('nothing is piped in: muster tasks import FILE');
  }
  const ids = await tasks.importTree(textOf(file));
  if (json) printJson({ task_ids: ids });
  else printLines(...ids);
  return 0;
}

async function* textOf(file: string): AsyncGenerator<string, void, undefined> {
  const path = file === '-' ? 'stdin' : resolve(file);
  // Opened here, when it is read: an error before that would be nobody's.
  const stream = file === '-' ? process.stdin : createReadStream(path);
  // A character may be cut between two chunks.
  stream.setEncoding('utf8');
  try {
    for await (const chunk of stream) yield String(chunk);
  } catch (thrown) {
    throw fileError('read', path, thrown);
  }
}

const CODES: Readonly<Record<string, ErrorCode>> = {
  ENOENT: 'NOT_FOUND',
  EEXIST: 'CONFLICT',
  EISDIR: 'INVALID_PARAM',
  ENOTDIR: 'INVALID_PARAM',
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
  EROFS: 'PERMISSION_DENIED',
};

/** `path` as it was meant: the system may have been asked for another name beside it. */
function fileError(action: string, path: string, thrown: unknown): MusterError {
  if (thrown instanceof MusterError) return thrown;
  const code = systemErrorCode(thrown) ?? '';
  const why = errorMessage(thrown).replace(/, \w+ '.*$/, '');
  const advice = code === 'EEXIST' ? '; --force replaces a file' : '';
  return new MusterError(
    CODES[code] ?? 'INTERNAL_ERROR',
    `cannot ${action} ${path}: ${why}${advice}`,
    { cause: thrown },
  );
}
