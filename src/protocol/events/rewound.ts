import type { EndStatus } from '../result.ts';

/** What a file holds, and may be done with it. */
export interface FileForm {
  /** sha256, hex. */
  readonly hash: string;
  /** Permission bits. */
  readonly mode: number;
}

/** What a rewind does to a file; null: it is not there. */
export interface RewoundFile {
  /** Absolute, without links. */
  readonly path: string;
  readonly from: FileForm | null;
  readonly to: FileForm | null;
}

/** A file that could not be put back. */
export interface FileLeft {
  readonly path: string;
  readonly because: string;
}

/** A task is put back to how it was after one of its events. */
export interface Rewound {
  /** The number of that event. */
  readonly to: number;
  /** The number of the rewind that this one undoes; null: none. */
  readonly undoes: number | null;
  /** The stint that begins: no earlier one had its number. */
  readonly stint: number;
  /** Answers up to there, and how it had ended; for lists. */
  readonly turns: number;
  readonly end: EndStatus | null;
  /** Tasks below it that were at work then and are not taken back there: nobody waits for them now. */
  readonly dropped: readonly string[];
  /** What is about to be put back. */
  readonly files: readonly RewoundFile[];
}

interface Numbered {
  readonly seq: number;
  readonly type: string;
}

/** Which events of a log count after the event `at`: those that no rewind up to there has cut off. */
export function liveEventFilter(
  rewinds: readonly { readonly seq: number; readonly to: number }[],
  at: number,
): (seq: number) => boolean {
  const spans: { readonly from: number; readonly to: number }[] = [];
  let end = at;
  // Each rewind leads further back, so this ends.
  for (const { seq, to } of rewinds.toReversed()) {
    if (seq > end) continue;
    spans.push({ from: seq, to: end });
    end = Math.min(to, seq - 1);
  }
  spans.push({ from: 0, to: end });
  spans.reverse();
  return (seq) => {
    // The last span that begins by then: a log from elsewhere may hold any number of them.
    let [low, high] = [0, spans.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((spans[middle]?.from ?? 0) <= seq) low = middle;
      else high = middle - 1;
    }
    return seq <= (spans[low]?.to ?? -1);
  };
}

/** The events of a log that count at its end, in order. */
export function selectLiveEvents<E extends Numbered>(
  events: readonly (E & Partial<Pick<Rewound, 'to'>>)[],
): readonly E[] {
  const rewinds = events.flatMap(({ type, seq, to }) =>
    type === 'task.rewound' && to !== undefined ? [{ seq, to }] : [],
  );
  const isLive = liveEventFilter(rewinds, events.at(-1)?.seq ?? -1);
  return events.filter(({ seq }) => isLive(seq));
}
