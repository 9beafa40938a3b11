import { errorMessage, MusterError } from '../../base/errors.ts';
import { parseRecord } from './export-format.ts';
import { ImportDrafts } from './import-drafts.ts';
import { writeImportMark } from './import-mark.ts';
import { ImportReader, type ImportedTask } from './import-reader.ts';
import { filePieces, MAX_LINE_BYTES } from '../log/line-reader.ts';
import { createdEvent } from '../log/log-reader.ts';
import { setLogAside } from '../log/log-repair.ts';
import { finishDeletions, lockTasks } from '../delete-tasks.ts';
import { storageError } from '../files/storage-error.ts';
import type { StoreParts } from '../store-parts.ts';
import { forgetNote } from '../sweep-record.ts';
import type { TaskSummary } from '../task-store.ts';

/** A log line as a JSON string is at most twice as long: what JSON escapes is escaped in it already. */
const MAX_RECORD_LENGTH = 2 * MAX_LINE_BYTES + 1024;

/** Reads all of the file into drafts, then gives them their names. */
export async function importTree(
  parts: StoreParts,
  text: AsyncIterable<string>,
): Promise<readonly string[]> {
  const drafts = new ImportDrafts(parts);
  try {
    // Known to live before the first blob is there: see BlobCollection.
    parts.locks.introduce();
    finishDeletions(parts);
    const reader = new ImportReader(parts, drafts);
    await readAll(reader, text);
    const fresh = reader.tasks.filter(({ id }) => !isThere(parts, drafts, id));
    const release = lockTasks(
      parts,
      fresh.map(({ id }) => id),
    );
    try {
      place(parts, drafts, reader.blobs, fresh);
    } finally {
      release();
    }
    await makeNamesDurable(parts);
    return reader.tasks.map(({ id }) => id);
  } catch (thrown) {
    throw storageError('import tasks into', parts.paths.root, thrown);
  } finally {
    drafts.discardAll();
  }
}

async function readAll(reader: ImportReader, text: AsyncIterable<string>): Promise<void> {
  let number = 0;
  for await (const line of linesOf(text)) {
    number += 1;
    const record = parseRecord(line);
    if (typeof record === 'string') throw brokenAt(number, record);
    try {
      await reader.take(record);
    } catch (thrown) {
      if (!(thrown instanceof MusterError) || thrown.code !== 'INVALID_PARAM') throw thrown;
      throw brokenAt(number, errorMessage(thrown));
    }
  }
  if (!reader.isWhole) throw brokenAt(number + 1, 'is missing: the file is cut short');
}

function brokenAt(line: number, what: string): MusterError {
  return new MusterError('INVALID_PARAM', `line ${line} of the exported tasks ${what}`);
}

async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let begun: string[] = [];
  let length = 0;
  let number = 1;
  for await (const piece of text) {
    let start = 0;
    for (let end = piece.indexOf('\n'); end !== -1; end = piece.indexOf('\n', start)) {
      yield begun.join('') + piece.slice(start, end);
      begun = [];
      length = 0;
      number += 1;
      start = end + 1;
    }
    begun.push(piece.slice(start));
    length += piece.length - start;
    if (length > MAX_RECORD_LENGTH) throw brokenAt(number, `is longer than ${MAX_RECORD_LENGTH}`);
  }
  if (length > 0) yield begun.join('');
}

/** Whether the task is there with the same log: it stays, and its drafts go. */
function isThere(parts: StoreParts, drafts: ImportDrafts, id: string): boolean {
  const path = parts.tasks.log(id);
  if (createdEvent(parts.files, path, id) === undefined) return false;
  if (haveSameBytes(parts, path, drafts.draft(path))) return true;
  throw new MusterError(
    'CONFLICT',
    `there is already a task ${id}, and it is not the one in the file: delete it first`,
  );
}

function haveSameBytes({ files }: StoreParts, one: string, other: string): boolean {
  const { size = 0 } = files.stat(one) ?? {};
  if (files.stat(other)?.size !== size) return false;
  const whole = { start: 0, end: size };
  const pieces = filePieces(files, other, whole);
  try {
    for (const piece of filePieces(files, one, whole)) {
      const next = pieces.next();
      if (next.done === true || !piece.equals(next.value)) return false;
    }
    return true;
  } finally {
    pieces.return();
  }
}

/** All at once for this process; a tree that is cut here by a kill has whole tasks, its root last. */
function place(
  parts: StoreParts,
  drafts: ImportDrafts,
  blobs: readonly string[],
  fresh: readonly ImportedTask[],
): void {
  const { files, tasks, index, paths } = parts;
  for (const { id } of fresh) clearPlace(parts, id);
  const placed: string[] = [];
  try {
    for (const hash of blobs) drafts.place(parts.blobs.path(hash));
    for (const { id, spills, scanner } of fresh.toReversed()) {
      placed.push(id);
      for (const spill of spills) drafts.place(spill);
      const output = tasks.output(id);
      if (drafts.has(output)) drafts.place(output);
      writeImportMark(files, tasks.imported(id), scanner.nextSeq - 1);
      drafts.place(tasks.log(id));
    }
  } catch (thrown) {
    for (const id of placed) takeBack(parts, id);
    throw thrown;
  }
  forgetNote(files, paths.swept);
  try {
    index.put(fresh.flatMap(({ summary }) => (isEnded(summary) ? [summary] : [])));
  } catch {
    // A cache on a full disk: the next listing reads the logs.
  }
}

function isEnded(summary: TaskSummary | undefined): summary is TaskSummary {
  return summary !== undefined && summary.ended !== null;
}

/** With the lock held: whatever is left of a task that is not there makes room. */
function clearPlace({ files, tasks }: StoreParts, id: string): void {
  const paths = { log: tasks.log(id), aside: tasks.damaged(id) };
  if (files.stat(tasks.deleted(id)) !== undefined) {
    throw new MusterError('CONFLICT', `task ${id} is being deleted: import it again after that`);
  }
  if (files.stat(paths.log) !== undefined) {
    if (createdEvent(files, paths.log, id) !== undefined) {
      throw new MusterError('CONFLICT', `task ${id} was made while it was imported`);
    }
    setLogAside(files, paths);
  }
  if (files.stat(tasks.output(id)) !== undefined) files.unlink(tasks.output(id));
}

function takeBack({ files, tasks }: StoreParts, id: string): void {
  if (files.stat(tasks.log(id)) !== undefined) files.unlink(tasks.log(id));
  tasks.removeKept(new Set([id]));
}

async function makeNamesDurable({ files, paths, syncs }: StoreParts): Promise<void> {
  if (syncs === undefined) return;
  for (const path of [paths.blobs, paths.spill, paths.tasks]) await files.syncDirectory(path);
}
