import type { TaskEvent } from '../../../protocol/event.ts';
import type { Block } from './block.ts';
import { applyToTranscript, emptyTranscript, type Earlier, type Transcript } from './transcript.ts';

/** Visits the events of a log in order. */
export type ScanLog = (visit: (event: TaskEvent) => void) => void;

/** On each side of the place that is looked at. */
const MOST_BESIDE = 500;

/** Visits the entries of a transcript that are only in the log, in order and in bounded memory. */
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

/** Reads the entries around the one of this key. Takes as long as reading the log does. */
export function readEarlier(transcript: Transcript, scan: ScanLog, key: number): Earlier {
  const before: Block[] = [];
  const after: Block[] = [];
  let [older, newer] = [0, 0];
  visitDropped(transcript, scan, (block) => {
    if (block.key >= key) {
      if (after.length < MOST_BESIDE) after.push(block);
      else newer += 1;
      return;
    }
    before.push(block);
    if (before.length < MOST_BESIDE * 2) return;
    older += MOST_BESIDE;
    before.splice(0, MOST_BESIDE);
  });
  const extra = Math.max(0, before.length - MOST_BESIDE);
  return {
    blocks: [...before.slice(extra), ...after],
    older: older + extra,
    newer,
    dropped: transcript.dropped,
  };
}

/** Entries between those read again and those kept; 0: the ones follow the others. */
export function gapOf({ earlier, dropped }: Transcript): number {
  return earlier === null ? 0 : earlier.newer + dropped - earlier.dropped;
}

/** Entries of the log before the first one that is at hand. */
export function olderThan({ earlier, dropped }: Transcript): number {
  return earlier === null ? dropped : earlier.older;
}

function firstKept({ blocks, keyBase }: Transcript): number {
  return blocks.find(({ key }) => key >= keyBase)?.key ?? Infinity;
}
