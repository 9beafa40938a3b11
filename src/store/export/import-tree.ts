import { errorMessage, MusterError } from '../../base/errors.ts';
import { parseRecord } from './export-format.ts';
import { ImportDrafts } from './import-drafts.ts';
import { writeImportMark } from './import-mark.ts';
import { ImportReader, type ImportedTask } from './import-reader.ts';
import { readChunks, MAX_LINE_BYTES } from '../log/line-reader.ts';
import { readCreatedEvent } from '../log/log-reader.ts';
import { moveLogAside } from '../log/log-repair.ts';
import { finishDeletions, lockTasks } from '../delete-tasks.ts';
import { storageError } from '../files/storage-error.ts';
import type { StoreParts } from '../store-parts.ts';
import { removeSweepRecord } from '../sweep-record.ts';
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
    parts.locks.register();
    finishDeletions(parts);
    const reader = new ImportReader(parts, drafts);
    await readAll(reader, text);
    const fresh = reader.tasks.filter(({ id }) => !isAlreadyStored(parts, drafts, id));
    const release = lockTasks(
      parts,
      fresh.map(({ id }) => id),
    );
    try {
      commitDrafts(parts, drafts, reader.blobs, fresh);
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
    if (typeof record === 'string') throw invalidLineError(number, record);
    try {
      await reader.addRecord(record);
    } catch (thrown) {
      if (!(thrown instanceof MusterError) || thrown.code !== 'INVALID_PARAM') throw thrown;
      throw invalidLineError(number, errorMessage(thrown));
    }
  }
  if (!reader.isComplete) throw invalidLineError(number + 1, 'is missing: the file is cut short');
}

function invalidLineError(line: number, what: string): MusterError {
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
    if (length > MAX_RECORD_LENGTH)
      throw invalidLineError(number, `is longer than ${MAX_RECORD_LENGTH}`);
  }
  if (length > 0) yield begun.join('');
}

/** Whether the task is there with the same log: it stays, and its drafts go. */
function isAlreadyStored(parts: StoreParts, drafts: ImportDrafts, id: string): boolean {
  const path = parts.tasks.logPath(id);
  if (readCreatedEvent(parts.files, path, id) === undefined) return false;
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
  const pieces = readChunks(files, other, whole);
  try {
    for (const piece of readChunks(files, one, whole)) {
      const next = pieces.next();
      if (next.done === true || !piece.equals(next.value)) return false;
    }
    return true;
  } finally {
    pieces.return();
  }
}

/** All at once for this process; a tree that is cut here by a kill has whole tasks, its root last. */
function commitDrafts(
  parts: StoreParts,
  drafts: ImportDrafts,
  blobs: readonly string[],
  fresh: readonly ImportedTask[],
): void {
  const { files, tasks, index, paths } = parts;
  for (const { id } of fresh) clearLeftovers(parts, id);
  const placed: string[] = [];
  try {
    for (const hash of blobs) drafts.commit(parts.blobs.path(hash));
    for (const { id, spills, scanner } of fresh.toReversed()) {
      placed.push(id);
      for (const spill of spills) drafts.commit(spill);
      const output = tasks.outputPath(id);
      if (drafts.has(output)) drafts.commit(output);
      writeImportMark(files, tasks.importMarkPath(id), scanner.nextSeq - 1);
      drafts.commit(tasks.logPath(id));
    }
  } catch (thrown) {
    for (const id of placed) removeCommitted(parts, id);
    throw thrown;
  }
  removeSweepRecord(files, paths.sweepRecord);
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
function clearLeftovers({ files, tasks }: StoreParts, id: string): void {
  const paths = { log: tasks.logPath(id), aside: tasks.damagedLinesPath(id) };
  if (files.stat(tasks.deletedLogPath(id)) !== undefined) {
    throw new MusterError('CONFLICT', `task ${id} is being deleted: import it again after that`);
  }
  if (files.stat(paths.log) !== undefined) {
    if (readCreatedEvent(files, paths.log, id) !== undefined) {
      throw new MusterError('CONFLICT', `task ${id} was made while it was imported`);
    }
    moveLogAside(files, paths);
  }
  if (files.stat(tasks.outputPath(id)) !== undefined) files.unlink(tasks.outputPath(id));
}

function removeCommitted({ files, tasks }: StoreParts, id: string): void {
  if (files.stat(tasks.logPath(id)) !== undefined) files.unlink(tasks.logPath(id));
  tasks.removeOtherFiles(new Set([id]));
}

async function makeNamesDurable({ files, paths, syncQueue: syncs }: StoreParts): Promise<void> {
  if (syncs === undefined) return;
  for (const path of [paths.blobs, paths.spill, paths.tasks]) await files.syncDirectory(path);
}
