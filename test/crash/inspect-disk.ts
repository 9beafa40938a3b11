import { basename, join } from 'node:path';
import type { FilePort } from '../../src/store/files/file-port.ts';
import type { Acknowledged } from './acknowledged.ts';
import { readLogs, wrongIn } from './check-logs.ts';
import { replay } from './recorded-files.ts';
import { acknowledgedAt, DATA_DIR, openOver, type RecordedRun } from './recorded-run.ts';

/** The ids of all logs on a disk; none when the data directory is not there yet. */
export function idsOn(files: FilePort): readonly string[] {
  const tasks = join(DATA_DIR, 'tasks');
  if (files.stat(tasks) === undefined) return [];
  return files
    .list(tasks)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => basename(name, '.jsonl'));
}

/** What is wrong with a disk that has all directories; it is only read. */
export function wrongOn(files: FilePort, acknowledged: Acknowledged): readonly string[] {
  const store = openOver(files, { owners: 1 });
  return wrongIn(readLogs(store, idsOn(files)), acknowledged, (hash) => store.getBlob(hash));
}

/** What is wrong when the process died after so many of its steps. */
export function wrongAfter(run: RecordedRun, steps: number): readonly string[] {
  return wrongOn(replay(run.steps.slice(0, steps)), acknowledgedAt(run, steps));
}
