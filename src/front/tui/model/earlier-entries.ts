import type { Entry } from './entry.ts';
import { applyToTranscript, emptyTranscript, type Earlier, type Transcript } from './transcript.ts';
import type { TaskEvent } from '../../../protocol/events/event.ts';

/** Visits the events of a log in order. */
export type ScanLog = (visit: (event: TaskEvent) => void) => void;

/** The maximum number of entries that are read on each side of the view. */
const MAX_READ_PER_SIDE = 500;

/** Visits the entries of a transcript that are only in the log, in order. Uses a bounded amount of memory. */
export function visitDropped(
  transcript: Transcript,
  scan: ScanLog,
  visit: (entry: Entry) => void,
): void {
  const { task, keyBase, entries } = transcript;
  const end = entries.find(({ key }) => key >= keyBase)?.key ?? Infinity;
  const visitAll = (gone: readonly Entry[]) => {
    for (const entry of gone) if (entry.key < end) visit(entry);
  };
  const again = emptyTranscript(task, { keyBase, onDropped: visitAll });
  scan((event) => applyToTranscript(again, event));
  visitAll(again.entries);
}

/** Reads the entries around a key from the log, which takes as long as reading the log. */
export function readEarlier(transcript: Transcript, scan: ScanLog, key: number): Earlier {
  const before: Entry[] = [];
  const after: Entry[] = [];
  let [older, newer] = [0, 0];
  visitDropped(transcript, scan, (entry) => {
    if (entry.key >= key) {
      if (after.length < MAX_READ_PER_SIDE) after.push(entry);
      else newer += 1;
      return;
    }
    before.push(entry);
    if (before.length < MAX_READ_PER_SIDE * 2) return;
    older += MAX_READ_PER_SIDE;
    before.splice(0, MAX_READ_PER_SIDE);
  });
  const extra = Math.max(0, before.length - MAX_READ_PER_SIDE);
  return {
    entries: [...before.slice(extra), ...after],
    older: older + extra,
    newer,
    dropped: transcript.dropped,
  };
}

/** Returns all loaded entries: first those read back from the log, then those in memory. */
export function loadedEntries({ earlier, entries }: Transcript): readonly Entry[] {
  return [...(earlier?.entries ?? []), ...entries];
}

/** Counts the entries between those read back from the log and those in memory. */
export function gapCount({ earlier, dropped }: Transcript): number {
  return earlier === null ? 0 : earlier.newer + dropped - earlier.dropped;
}

/** Counts the entries of the log before the first loaded entry. */
export function olderCount({ earlier, dropped }: Transcript): number {
  return earlier === null ? dropped : earlier.older;
}
