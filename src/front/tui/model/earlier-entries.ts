import type { TaskEvent } from '../../../protocol/event.ts';
import type { Block } from './block.ts';
import { applyToTranscript, emptyTranscript, type Earlier, type Transcript } from './transcript.ts';

/** Visits the events of a log in order. */
export type ScanLog = (visit: (event: TaskEvent) => void) => void;

/** The number of entries that are read on each side of the view. */
const MAX_BESIDE = 500;

/** Visits the entries of a transcript that are only in the log, in order, and with bounded memory. */
export function visitDropped(
  transcript: Transcript,
  scan: ScanLog,
  visit: (block: Block) => void,
): void {
  const { task, keyBase } = transcript;
  const end = firstKept(transcript);
  const visitAll = (blocks: readonly Block[]) => {
    for (const block of blocks) if (block.key < end) visit(block);
  };
  const again = emptyTranscript(task, { keyBase, onDropped: visitAll });
  scan((event) => applyToTranscript(again, event));
  visitAll(again.blocks);
}

/** Reads the entries around a key from the log, which takes as long as reading the log. */
export function readEarlier(transcript: Transcript, scan: ScanLog, key: number): Earlier {
  const before: Block[] = [];
  const after: Block[] = [];
  let [older, newer] = [0, 0];
  visitDropped(transcript, scan, (block) => {
    if (block.key >= key) {
      if (after.length < MAX_BESIDE) after.push(block);
      else newer += 1;
      return;
    }
    before.push(block);
    if (before.length < MAX_BESIDE * 2) return;
    older += MAX_BESIDE;
    before.splice(0, MAX_BESIDE);
  });
  const extra = Math.max(0, before.length - MAX_BESIDE);
  return {
    blocks: [...before.slice(extra), ...after],
    older: older + extra,
    newer,
    dropped: transcript.dropped,
  };
}

/** The number of entries between those read back and those in memory. */
export function gapCount({ earlier, dropped }: Transcript): number {
  return earlier === null ? 0 : earlier.newer + dropped - earlier.dropped;
}

/** The number of entries of the log before the first loaded one. */
export function olderCount({ earlier, dropped }: Transcript): number {
  return earlier === null ? dropped : earlier.older;
}

function firstKept({ blocks, keyBase }: Transcript): number {
  return blocks.find(({ key }) => key >= keyBase)?.key ?? Infinity;
}
