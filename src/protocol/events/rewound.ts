import type { EndStatus } from '../result.ts';

/** The content and permissions of a file. */
export interface FileForm {
  /** The SHA-256 of the content in hex. */
  readonly hash: string;
  /** The permission bits. */
  readonly mode: number;
}

/** The change that a rewind makes to a file. In `from` and `to`, null means that the file does not exist. */
export interface RewoundFile {
  /** The absolute path, with all links resolved. */
  readonly path: string;
  /** The file before the rewind; null: it does not exist. */
  readonly from: FileForm | null;
  /** The file after the rewind; null: it does not exist. */
  readonly to: FileForm | null;
}

/** A file that a rewind could not restore. */
export interface UnrestoredFile {
  /** The absolute path. */
  readonly path: string;
  /** The reason in one sentence. */
  readonly because: string;
}

/** The return of a task to its state after one of its events. */
export interface Rewound {
  /** The number of the event to which the task goes back. */
  readonly to: number;
  /** The number of the event of the rewind that this rewind undoes; null: it undoes no rewind. */
  readonly undoes: number | null;
  /** The number of the activation that begins with the rewind. No earlier activation had this number. */
  readonly stint: number;
  /** The number of answers up to the event `to`. */
  readonly turns: number;
  /** The status with which the task had ended at the event `to`; null if it had not ended. */
  readonly end: EndStatus | null;
  /** The ids of the tasks below that were running at the event `to`. They are not restored, and nobody waits for them. */
  readonly dropped: readonly string[];
  /** The files that are about to be restored. */
  readonly files: readonly RewoundFile[];
  /** Set if only the files go back, so that the conversation continues as it is. */
  readonly only?: 'files';
}

interface Numbered {
  readonly seq: number;
  readonly type: string;
}

/**
 * Returns a filter for the events that count when the log ends with the event `at`: all events up to `at` except those
 * that a rewind has cut off.
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
    // A binary search finds the last span that begins at or before `seq`, because a log may contain any number of spans.
    let [low, high] = [0, spans.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((spans[middle]?.from ?? 0) <= seq) low = middle;
      else high = middle - 1;
    }
    return seq <= (spans[low]?.to ?? -1);
  };
}

/** Selects the events of a log that count at its end: those that no rewind has cut off, in order. */
export function selectLiveEvents<E extends Numbered>(
  events: readonly (E & Partial<Pick<Rewound, 'to'>>)[],
): readonly E[] {
  const rewinds = events.flatMap(({ type, seq, to }) =>
    type === 'task.rewound' && to !== undefined ? [{ seq, to }] : [],
  );
  const isLive = liveEventFilter(rewinds, events.at(-1)?.seq ?? -1);
  return events.filter(({ seq }) => isLive(seq));
}
