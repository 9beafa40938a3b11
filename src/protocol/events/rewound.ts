import type { EndStatus } from '../result.ts';

/** The content and permissions of a file. */
export interface FileForm {
  /** sha256, hex. */
  readonly hash: string;
  /** Permission bits. */
  readonly mode: number;
}

/** The change that a rewind makes to a file; null means that the file does not exist. */
export interface RewoundFile {
  /** Absolute, without links. */
  readonly path: string;
  readonly from: FileForm | null;
  readonly to: FileForm | null;
}

/** A file that could not be restored. */
export interface FileLeft {
  readonly path: string;
  readonly because: string;
}

/** The return of a task to its state after one of its events. */
export interface Rewound {
  /** The number of that event. */
  readonly to: number;
  /** The number of the rewind that this one undoes; null: none. */
  readonly undoes: number | null;
  /** The number of the activation that begins. No earlier activation had it. */
  readonly stint: number;
  /** The number of answers up to that event, and the way in which the task had ended, for lists. */
  readonly turns: number;
  readonly end: EndStatus | null;
  /** Tasks below it that were running then and are not restored: nobody waits for them now. */
  readonly dropped: readonly string[];
  /** The files that are about to be restored. */
  readonly files: readonly RewoundFile[];
}

interface Numbered {
  readonly seq: number;
  readonly type: string;
}

/**
 * Returns a filter for the events that count after the event `at`: those that no rewind up to there has cut
 * off.
 */
export function liveEventFilter(
  rewinds: readonly { readonly seq: number; readonly to: number }[],
  at: number,
): (seq: number) => boolean {
  const spans: { readonly from: number; readonly to: number }[] = [];
  let end = at;
  // The end moves back with each rewind, so the loop terminates.
  for (const { seq, to } of rewinds.toReversed()) {
    if (seq > end) continue;
    spans.push({ from: seq, to: end });
    end = Math.min(to, seq - 1);
  }
  spans.push({ from: 0, to: end });
  spans.reverse();
  return (seq) => {
    // A binary search finds the last span that begins by then, because a log may contain any number of spans.
    let [low, high] = [0, spans.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((spans[middle]?.from ?? 0) <= seq) low = middle;
      else high = middle - 1;
    }
    return seq <= (spans[low]?.to ?? -1);
  };
}

/** Selects the events of a log that count at its end, in order. */
export function selectLiveEvents<E extends Numbered>(
  events: readonly (E & Partial<Pick<Rewound, 'to'>>)[],
): readonly E[] {
  const rewinds = events.flatMap(({ type, seq, to }) =>
    type === 'task.rewound' && to !== undefined ? [{ seq, to }] : [],
  );
  const isLive = liveEventFilter(rewinds, events.at(-1)?.seq ?? -1);
  return events.filter(({ seq }) => isLive(seq));
}
