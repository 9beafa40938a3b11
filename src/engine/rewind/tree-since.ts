import { errorMessage } from '../../base/errors.ts';
import { isId } from '../../base/ids.ts';
import { readLogSummary, type LogSummary, type EventTime } from './log-summary.ts';
import type { FileLeft } from '../../protocol/events/rewound.ts';
import type { FileChange } from '../../protocol/tool.ts';
import type { TaskStore } from '../../store/task-store.ts';

/** A change of a file, as far back as it is to be taken back. */
export interface ChangeSince extends EventTime {
  readonly task: string;
  readonly change: FileChange;
  /** It was done elsewhere: its log was brought here. */
  readonly isImported: boolean;
}

/** What a task and all below it did after one of its events. */
export interface TreeSince {
  /** In the order in which it was done. */
  readonly changes: readonly ChangeSince[];
  readonly commands: readonly string[];
  readonly unknownCalls: number;
  /** Tasks that were begun since. */
  readonly newTasks: readonly string[];
  /** Tasks that were at work at the event and have gone on since. */
  readonly continuedTasks: ReadonlySet<string>;
  /** Roots of all of them. */
  readonly roots: readonly string[];
  /** The number of the newest event of each log that was read, by task: the task itself and all below it. */
  readonly logs: Readonly<Record<string, number>>;
  /** Logs that can't be gone by. */
  readonly unreadableLogs: readonly FileLeft[];
}

/** Reads the log of a task and those of all below it. */
export function readTreeSince(store: TaskStore, id: string, event: EventTime): TreeSince {
  const judged = new Map<string, DatedLog>();
  const lost: FileLeft[] = [];
  const known = new Set([id]);
  // A set that grows while it is gone through is gone through to its end: those above come first.
  for (const task of known) {
    const facts = readable(store, task, lost);
    if (facts === null) continue;
    const cameAfter =
      task === id
        ? ({ seq }: EventTime) => seq > event.seq
        : afterEventInDescendant(facts, judged, event);
    judged.set(task, { summary: facts, isAfter: cameAfter });
    if (facts.unfinishedRewindTo !== null && task !== id) {
      const because = `is of a task whose rewind was cut short: \`muster tasks rewind ${task} --to ${facts.unfinishedRewindTo}\` ends that first`;
      lost.push({ path: store.log(task) ?? task, because });
    }
    for (const { child } of facts.startedChildren) if (isId(child)) known.add(child);
  }
  const logs = [...judged.values()];
  const below = logs.filter(({ summary: facts }) => facts.id !== id);
  const isBegunSince = ({ summary: facts, isAfter: cameAfter }: DatedLog) =>
    cameAfter(facts.activations[0] ?? facts.newestEvent);
  return {
    changes: inOrder(logs.flatMap(changesOf)),
    commands: logs.flatMap(({ summary: facts, isAfter: cameAfter }) =>
      facts.commands.filter(cameAfter).map(({ command }) => command),
    ),
    unknownCalls: logs.flatMap(({ summary: facts, isAfter: cameAfter }) =>
      facts.unknownCalls.filter(cameAfter),
    ).length,
    newTasks: below.filter(isBegunSince).map(({ summary: facts }) => facts.id),
    continuedTasks: new Set(
      below
        .filter((log) => !isBegunSince(log) && log.isAfter(log.summary.newestEvent))
        .map(({ summary: facts }) => facts.id),
    ),
    roots: [...new Set(logs.flatMap(({ summary: facts }) => facts.roots))],
    logs: Object.fromEntries(logs.map(({ summary: facts }) => [facts.id, facts.lastSeq])),
    unreadableLogs: lost,
  };
}

function readable(store: TaskStore, task: string, lost: FileLeft[]): LogSummary | null {
  try {
    return readLogSummary(store, task);
  } catch (thrown) {
    lost.push({ path: store.log(task) ?? task, because: errorMessage(thrown) });
    return null;
  }
}

function changesOf({ summary: facts, isAfter: cameAfter }: DatedLog): readonly ChangeSince[] {
  const { id: task, importedUpTo } = facts;
  return facts.changes
    .filter(cameAfter)
    .map(({ seq, ts, change }) => ({ seq, ts, change, task, isImported: seq <= importedUpTo }));
}

/**
 * By time. Where tasks changed one file within the resolution of the clock, what a change found there says
 * which one came before it.
 */
function inOrder(changes: readonly ChangeSince[]): readonly ChangeSince[] {
  const waiting = changes.toSorted((a, b) => a.ts - b.ts);
  const ordered: ChangeSince[] = [];
  const left = new Map<string, string | null>();
  for (let first = waiting[0]; first !== undefined; [first] = waiting) {
    const { ts } = first;
    const upTo = waiting.findIndex((each) => each.ts !== ts);
    const tied = waiting.slice(0, upTo === -1 ? waiting.length : upTo);
    const isNext = ({ task, change: { path, before } }: ChangeSince, index: number): boolean =>
      left.get(path) === before &&
      // Those of one task stay in the order of its log.
      tied.slice(0, index).every((each) => each.task !== task);
    const next = tied.length === 1 ? 0 : Math.max(0, tied.findIndex(isNext));
    const [taken] = waiting.splice(next, 1);
    if (taken === undefined) break;
    left.set(taken.change.path, taken.change.after);
    ordered.push(taken);
  }
  return ordered;
}

/** Whether something of a log came after the event that a task is put back to. */
export type IsAfterEvent = (moment: EventTime) => boolean;

/** A log of the tree, with what of it came after. */
export interface DatedLog {
  readonly summary: LogSummary;
  readonly isAfter: IsAfterEvent;
}

/**
 * Of a task below the one that is put back: what another task of the tree began after the event came
 * after it, and what had ended for that one before came before. The rest was at work at that event, or a
 * person began it: there the clock decides, and what has the very time of the event came before.
 */
function afterEventInDescendant(
  facts: LogSummary,
  above: ReadonlyMap<string, DatedLog>,
  event: EventTime,
): IsAfterEvent {
  let before = -1;
  let after = Infinity;
  for (const [index, { seq, by, callId }] of facts.activations.entries()) {
    const caller = by === null ? undefined : above.get(by);
    const begun = caller?.summary.startedChildren.find(
      (each) => each.child === facts.id && each.callId === callId,
    );
    if (caller === undefined || begun === undefined) continue;
    if (caller.isAfter(begun)) {
      after = Math.min(after, seq);
      continue;
    }
    const ended = caller.summary.endedChildren.find(
      (each) => each.child === facts.id && each.seq > begun.seq,
    );
    const next = facts.activations[index + 1];
    if (ended === undefined || caller.isAfter(ended)) continue;
    before = next === undefined ? facts.lastSeq : next.seq - 1;
  }
  return ({ seq, ts }) => seq >= after || (seq > before && ts > event.ts);
}
