import { atScopeEnd } from '../../base/at-scope-end.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import { parseRecord } from './export-format.ts';
import { writeImportMarker } from '../files/task-files.ts';
import { ImportDrafts, ImportReader, type ImportedTask } from './import-reader.ts';
import { readChunks, MAX_LINE_BYTES } from '../log/line-reader.ts';
import { readCreatedEvent } from '../log/log-reader.ts';
import { moveLogAside } from '../log/log-repair.ts';
import { finishDeletions, lockTasks } from '../delete-tasks.ts';
import { storageError, unlinkIfExists } from '../files/file-port.ts';
import type { StoreParts } from '../store-parts.ts';
import type { TaskSummary } from '../task-store.ts';

/**
 * The maximum length of a record. A log line is JSON, so as a JSON string it is at most twice as long: only quotes and
 * backslashes are escaped.
 */
const MAX_RECORD_LENGTH = 2 * MAX_LINE_BYTES + 1024;

/**
 * Imports the text of an exported file: reads all of it into drafts, then renames them. Returns the ids of its tasks.
 */
export async function importTree(
  parts: StoreParts,
  text: AsyncIterable<string>,
): Promise<readonly string[]> {
  const drafts = new ImportDrafts(parts);
  try {
    // Register this process before it writes a blob, so that another process does not remove the blob as unused.
    parts.locks.register();
    finishDeletions(parts);
    const reader = new ImportReader(parts, drafts);
    await readAll(reader, text);
    const newTasks = reader.tasks.filter(({ id }) => !isAlreadyStored(parts, drafts, id));
    const release = lockTasks(
      parts,
      newTasks.map(({ id }) => id),
    );
    try {
      commitDrafts(parts, drafts, reader.blobs, newTasks);
    } finally {
      release();
    }
    await syncDirectories(parts);
    return reader.tasks.map(({ id }) => id);
  } catch (thrown) {
    throw storageError('import tasks into', parts.paths.root, thrown);
  } finally {
    drafts.discardAll();
  }
}

async function readAll(reader: ImportReader, text: AsyncIterable<string>): Promise<void> {
  let number = 0;
  for await (const line of splitLines(text)) {
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
  if (!reader.isComplete) throw invalidLineError(number + 1, 'is missing: the file is incomplete');
}

/** Creates the error for a line. `fault` is the end of a sentence about the line, such as "is longer than …". */
function invalidLineError(line: number, fault: string): MusterError {
  return new MusterError('INVALID_PARAM', `line ${line} of the exported tasks ${fault}`);
}

async function* splitLines(text: AsyncIterable<string>): AsyncIterable<string> {
  let pending: string[] = [];
  let length = 0;
  let number = 1;
  for await (const piece of text) {
    let start = 0;
    for (let end = piece.indexOf('\n'); end !== -1; end = piece.indexOf('\n', start)) {
      yield pending.join('') + piece.slice(start, end);
      pending = [];
      length = 0;
      number += 1;
      start = end + 1;
    }
    pending.push(piece.slice(start));
    length += piece.length - start;
    if (length > MAX_RECORD_LENGTH)
      throw invalidLineError(number, `is longer than ${MAX_RECORD_LENGTH} characters`);
  }
  if (length > 0) yield pending.join('');
}

/** Checks whether the task exists with the same log; then it is not imported. Throws `CONFLICT` if the log differs. */
function isAlreadyStored(parts: StoreParts, drafts: ImportDrafts, id: string): boolean {
  const path = parts.tasks.logPath(id);
  if (readCreatedEvent(parts.files, path, id) === undefined) return false;
  if (haveSameBytes(parts, path, drafts.getPath(path))) return true;
  const message = `there is already a task ${id}, and it differs from the one in the file: delete it first`;
  throw new MusterError('CONFLICT', message);
}

function haveSameBytes({ files }: StoreParts, one: string, other: string): boolean {
  const { size = 0 } = files.stat(one) ?? {};
  if (files.stat(other)?.size !== size) return false;
  const range = { start: 0, end: size };
  const otherChunks = readChunks(files, other, range);
  using _close = atScopeEnd(() => otherChunks.return());
  for (const chunk of readChunks(files, one, range)) {
    const next = otherChunks.next();
    if (next.done === true || !chunk.equals(next.value)) return false;
  }
  return true;
}

/**
 * Renames the drafts to their files. If this fails, removes the tasks whose drafts have been renamed. If the process is
 * killed meanwhile, each task is complete or absent. The root comes last.
 */
function commitDrafts(
  parts: StoreParts,
  drafts: ImportDrafts,
  blobs: readonly string[],
  newTasks: readonly ImportedTask[],
): void {
  const { files, tasks, index, paths } = parts;
  for (const { id } of newTasks) clearLeftovers(parts, id);
  const begun: string[] = [];
  try {
    for (const hash of blobs) drafts.commit(parts.blobs.path(hash));
    for (const { id, spills, scanner } of newTasks.toReversed()) {
      begun.push(id);
      for (const spill of spills) drafts.commit(spill);
      const output = tasks.outputPath(id);
      if (drafts.has(output)) drafts.commit(output);
      writeImportMarker(files, tasks.importMarkerPath(id), scanner.nextSeq - 1);
      drafts.commit(tasks.logPath(id));
    }
  } catch (thrown) {
    for (const id of begun) removeImported(parts, id);
    throw thrown;
  }
  // Without the sweep record, the next sweep checks all tasks: imported tasks may be older than all others.
  unlinkIfExists(files, paths.sweepRecord);
  try {
    index.put(newTasks.flatMap(({ summary }) => (isEnded(summary) ? [summary] : [])));
  } catch {
    // The index is a cache, and the disk may be full: the next listing reads the logs.
  }
}

function isEnded(summary: TaskSummary | undefined): summary is TaskSummary {
  return summary !== undefined && summary.ended !== null;
}

/** Removes the files that remain of a deleted or unfinished task with this id. The caller must hold the lock. */
function clearLeftovers({ files, tasks }: StoreParts, id: string): void {
  const paths = { log: tasks.logPath(id), damaged: tasks.damagedLinesPath(id) };
  if (files.stat(tasks.deletedLogPath(id)) !== undefined) {
    throw new MusterError('CONFLICT', `task ${id} is being deleted: import it again after that`);
  }
  if (files.stat(paths.log) !== undefined) {
    if (readCreatedEvent(files, paths.log, id) !== undefined) {
      throw new MusterError('CONFLICT', `task ${id} was created during the import`);
    }
    moveLogAside(files, paths);
  }
  unlinkIfExists(files, tasks.outputPath(id));
}

function removeImported({ files, tasks }: StoreParts, id: string): void {
  unlinkIfExists(files, tasks.logPath(id));
  tasks.removeOtherFiles(new Set([id]));
}

async function syncDirectories({ files, paths, syncQueue }: StoreParts): Promise<void> {
  if (syncQueue === undefined) return;
  for (const path of [paths.blobs, paths.spill, paths.tasks]) await files.syncDirectory(path);
}
