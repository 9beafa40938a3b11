import { join } from 'node:path';
import { isId } from '../../base/ids.ts';
import { findBlobReferences } from '../blobs/collect-blobs.ts';
import { formatRecord } from './export-format.ts';
import { readChunks, LineReader, CHUNK_BYTES } from '../log/line-reader.ts';
import { readCreatedEvent, visitLog } from '../log/log-reader.ts';
import { LogScanner } from '../log/log-scanner.ts';
import { storageError } from '../files/file-port.ts';
import type { StoreParts } from '../store-parts.ts';
import { missingSpecError, getSpillFileTask } from '../files/task-files.ts';
import { completeLinesLength } from '../../base/jsonl.ts';

/** The progress of an export. */
interface ExportState {
  readonly parts: StoreParts;
  /** Tasks to export. The log of each child names its parent, too. */
  readonly queue: string[];
  /** Tasks that have been queued. */
  readonly seen: Set<string>;
  /** Blobs that have been exported. */
  readonly blobs: Set<string>;
}

/** Exports a task and all its descendants, line by line, in bounded memory whatever the logs contain. */
export async function* exportTree(parts: StoreParts, root: string): AsyncIterable<string> {
  parts.tasks.checkExists(root);
  if (readCreatedEvent(parts.files, parts.tasks.logPath(root), root) === undefined) {
    throw missingSpecError(root, parts.tasks.logPath(root));
  }
  const state: ExportState = { parts, queue: [root], seen: new Set([root]), blobs: new Set() };
  try {
    yield formatRecord({ kind: 'header', root });
    for (const id of state.queue) yield* exportTask(state, id);
    yield formatRecord({ kind: 'end', tasks: state.queue.length });
  } catch (thrown) {
    throw storageError('export', parts.tasks.logPath(root), thrown);
  }
}

async function* exportTask(state: ExportState, id: string): AsyncIterable<string> {
  const { files, paths, tasks, blobs } = state.parts;
  const references = new Set<string>();
  yield formatRecord({ kind: 'task', id });
  yield* exportLog(state, id, references);
  for await (const bytes of readInPieces(state.parts, tasks.outputPath(id))) {
    yield formatRecord({ kind: 'output', bytes });
  }
  for (const name of files.list(paths.spill)) {
    if (getSpillFileTask(name) !== id) continue;
    const call = name.slice(id.length + 1, name.indexOf('.'));
    for await (const bytes of readInPieces(state.parts, join(paths.spill, name))) {
      yield formatRecord({ kind: 'spill', call, bytes });
    }
  }
  for (const hash of references) {
    if (state.blobs.has(hash)) continue;
    state.blobs.add(hash);
    for await (const bytes of readInPieces(state.parts, blobs.path(hash))) {
      yield formatRecord({ kind: 'blob', hash, bytes });
    }
  }
}

/**
 * Exports the valid lines of a log. Adds the blobs to which these lines refer to `references`, and children to the
 * queue.
 */
async function* exportLog(
  state: ExportState,
  id: string,
  references: Set<string>,
): AsyncIterable<string> {
  const { files, tasks } = state.parts;
  const scanner = new LogScanner({ task: id });
  for await (const { bytes } of new LineReader(files, tasks.logPath(id), id).readYielding()) {
    const event = scanner.scanLine(bytes);
    if (event === 'damaged' || bytes === undefined) continue;
    const line = bytes.toString('utf8');
    yield formatRecord({ kind: 'log', line });
    for (const hash of findBlobReferences(line)) references.add(hash);
    if (event !== 'header' && event.type === 'child.created') queueChild(state, id, event.child);
  }
  for (const problem of scanner.problems)
    state.parts.problemReporter.add(tasks.logPath(id), problem);
}

/** Adds a child to the queue, unless it has no log or its log names another parent. */
function queueChild({ parts, queue, seen }: ExportState, parent: string, child: string): void {
  if (!isId(child) || seen.has(child)) return;
  const path = parts.tasks.logPath(child);
  const created = readCreatedEvent(parts.files, path, child);
  if (created === undefined) reportDamage(parts, child);
  if (created?.spec.parent !== parent) return;
  seen.add(child);
  queue.push(child);
}

/** Reports the problems in the log of a task that is not exported, if the log exists. */
function reportDamage({ files, tasks, problemReporter }: StoreParts, id: string): void {
  const path = tasks.logPath(id);
  if (files.stat(path) === undefined) return;
  for (const problem of visitLog(files, path, { task: id }, () => {}))
    problemReporter.add(path, problem);
}

/** Reads a file in pieces that end at the end of a line if possible. Yields nothing if the file does not exist. */
async function* readInPieces({ files }: StoreParts, path: string): AsyncIterable<Buffer> {
  const end = files.stat(path)?.size ?? 0;
  for (let start = 0; start < end;) {
    const range = { start, end: Math.min(end, start + CHUNK_BYTES) };
    const bytes = Buffer.concat(Array.from(readChunks(files, path, range), Buffer.from));
    if (bytes.length === 0) return;
    const length = completeLinesLength(bytes) || bytes.length;
    yield bytes.subarray(0, length);
    start += length;
    await new Promise(setImmediate);
  }
}
