import { join } from 'node:path';
import { isId } from '../base/ids.ts';
import { completeLinesLength } from '../base/jsonl.ts';
import { referencesIn } from './blob-references.ts';
import { recordLine } from './export-format.ts';
import { filePieces, LineReader, PIECE_BYTES } from './line-reader.ts';
import { createdEvent, scanLog } from './log-reader.ts';
import { LogScanner } from './log-scanner.ts';
import { storageError } from './storage-error.ts';
import type { StoreParts } from './store-parts.ts';
import { spillOwner } from './task-files.ts';
import { taskWithoutSpec } from './task-ids.ts';

/** What was met on the way through a tree. */
interface Journey {
  readonly parts: StoreParts;
  /** Tasks still to be told of; each has a log that says who its parent is. */
  readonly queue: string[];
  readonly seen: Set<string>;
  readonly blobs: Set<string>;
}

/** A task and all below it, a line of the file at a time; in bounded memory, whatever the logs hold. */
export async function* exportTree(
  parts: StoreParts,
  root: string,
): AsyncGenerator<string, void, undefined> {
  parts.tasks.checkExists(root);
  if (createdEvent(parts.files, parts.tasks.log(root), root) === undefined) {
    throw taskWithoutSpec(root, parts.tasks.log(root));
  }
  const journey: Journey = { parts, queue: [root], seen: new Set([root]), blobs: new Set() };
  try {
    yield recordLine({ kind: 'header', root });
    for (const id of journey.queue) yield* exportTask(journey, id);
    yield recordLine({ kind: 'end', tasks: journey.queue.length });
  } catch (thrown) {
    throw storageError('export', parts.tasks.log(root), thrown);
  }
}

async function* exportTask(journey: Journey, id: string): AsyncGenerator<string, void, undefined> {
  const { files, paths, tasks, blobs } = journey.parts;
  const named = new Set<string>();
  yield recordLine({ kind: 'task', id });
  yield* exportLog(journey, id, named);
  for await (const bytes of piecesOf(journey.parts, tasks.output(id))) {
    yield recordLine({ kind: 'output', bytes });
  }
  for (const name of files.list(paths.spill)) {
    if (spillOwner(name) !== id) continue;
    const call = name.slice(id.length + 1, name.indexOf('.'));
    for await (const bytes of piecesOf(journey.parts, join(paths.spill, name))) {
      yield recordLine({ kind: 'spill', call, bytes });
    }
  }
  for (const hash of named) {
    if (journey.blobs.has(hash)) continue;
    journey.blobs.add(hash);
    for await (const bytes of piecesOf(journey.parts, blobs.path(hash))) {
      yield recordLine({ kind: 'blob', hash, bytes });
    }
  }
}

/** The good lines of a log; what they name is added to `named`, children to the journey. */
async function* exportLog(
  journey: Journey,
  id: string,
  named: Set<string>,
): AsyncGenerator<string, void, undefined> {
  const { files, tasks } = journey.parts;
  const scanner = new LogScanner({ task: id });
  for await (const { bytes } of new LineReader(files, tasks.log(id), id).inTurns()) {
    const event = scanner.next(bytes);
    if (event === 'damaged' || bytes === undefined) continue;
    const line = bytes.toString('utf8');
    yield recordLine({ kind: 'log', line });
    for (const hash of referencesIn(line)) named.add(hash);
    if (event !== 'header' && event.type === 'child.created') follow(journey, id, event.child);
  }
  for (const problem of scanner.problems) journey.parts.problems.add(tasks.log(id), problem);
}

/** A child whose log was never begun, or that says that it is somebody else's, is none. */
function follow({ parts, queue, seen }: Journey, parent: string, child: string): void {
  if (!isId(child) || seen.has(child)) return;
  const path = parts.tasks.log(child);
  const created = createdEvent(parts.files, path, child);
  if (created === undefined) reportDamage(parts, child);
  if (created?.spec.parent !== parent) return;
  seen.add(child);
  queue.push(child);
}

/** Reports what is wrong with the log of a task that is left out of the file, if there is one. */
function reportDamage({ files, tasks, problems }: StoreParts, id: string): void {
  const path = tasks.log(id);
  if (files.stat(path) === undefined) return;
  for (const problem of scanLog(files, path, { task: id }, () => {})) problems.add(path, problem);
}

/** The pieces of a file, cut at line ends where there are any; nothing of one that is not there. */
async function* piecesOf(
  { files }: StoreParts,
  path: string,
): AsyncGenerator<Buffer, void, undefined> {
  const end = files.stat(path)?.size ?? 0;
  for (let start = 0; start < end;) {
    const part = { start, end: Math.min(end, start + PIECE_BYTES) };
    const bytes = Buffer.concat(Array.from(filePieces(files, path, part), Buffer.from));
    if (bytes.length === 0) return;
    const length = completeLinesLength(bytes) || bytes.length;
    yield bytes.subarray(0, length);
    start += length;
    await new Promise(setImmediate);
  }
}
