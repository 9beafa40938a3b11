import { errorMessage } from '../../base/errors.ts';
import { isId } from '../../base/ids.ts';
import type { FileLeft } from '../../protocol/events/rewound.ts';
import type { FileChange } from '../../protocol/tool.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { logFacts, type LogFacts, type Moment } from './log-facts.ts';
import { afterInLogBelow, type JudgedLog } from './what-came-after.ts';

/** A change of a file, as far back as it is to be taken back. */
export interface ChangeSince extends Moment {
  readonly task: string;
  readonly change: FileChange;
  /** It was done elsewhere: its log was brought here. */
  readonly isForeign: boolean;
}

/** What a task and all below it did after one of its events. */
export interface TreeSince {
  /** In the order in which it was done. */
  readonly changes: readonly ChangeSince[];
  readonly commands: readonly string[];
  readonly unknownCalls: number;
  /** Tasks that were begun since. */
  readonly begun: readonly string[];
  /** Tasks that were at work at the event and have gone on since. */
  readonly wentOn: ReadonlySet<string>;
  /** Roots of all of them. */
  readonly roots: readonly string[];
  /** The number of the newest event of each log that was read, by task: the task itself and all below it. */
  readonly logs: Readonly<Record<string, number>>;
  /** Logs that can't be gone by. */
  readonly lost: readonly FileLeft[];
}

/** Reads the log of a task and those of all below it. */
export function treeSince(store: TaskStore, id: string, event: Moment): TreeSince {
  const judged = new Map<string, JudgedLog>();
  const lost: FileLeft[] = [];
  const known = new Set([id]);
  // A set that grows while it is gone through is gone through to its end: those above come first.
  for (const task of known) {
    const facts = readable(store, task, lost);
    if (facts === null) continue;
    const cameAfter =
      task === id ? ({ seq }: Moment) => seq > event.seq : afterInLogBelow(facts, judged, event);
    judged.set(task, { facts, cameAfter });
    if (facts.rewindingTo !== null && task !== id) {
      const because = `is of a task whose rewind was cut short: \`muster tasks rewind ${task} --to ${facts.rewindingTo}\` ends that first`;
      lost.push({ path: store.logPath(task) ?? task, because });
    }
    for (const { child } of facts.begun) if (isId(child)) known.add(child);
  }
  const logs = [...judged.values()];
  const below = logs.filter(({ facts }) => facts.id !== id);
  const isBegunSince = ({ facts, cameAfter }: JudgedLog) =>
    cameAfter(facts.stints[0] ?? facts.newest);
  return {
    changes: inOrder(logs.flatMap(changesOf)),
    commands: logs.flatMap(({ facts, cameAfter }) =>
      facts.commands.filter(cameAfter).map(({ command }) => command),
    ),
    unknownCalls: logs.flatMap(({ facts, cameAfter }) => facts.unknownCalls.filter(cameAfter))
      .length,
    begun: below.filter(isBegunSince).map(({ facts }) => facts.id),
    wentOn: new Set(
      below
        .filter((log) => !isBegunSince(log) && log.cameAfter(log.facts.newest))
        .map(({ facts }) => facts.id),
    ),
    roots: [...new Set(logs.flatMap(({ facts }) => facts.roots))],
    logs: Object.fromEntries(logs.map(({ facts }) => [facts.id, facts.lastSeq])),
    lost,
  };
}

function readable(store: TaskStore, task: string, lost: FileLeft[]): LogFacts | null {
  try {
    return logFacts(store, task);
  } catch (thrown) {
    lost.push({ path: store.logPath(task) ?? task, because: errorMessage(thrown) });
    return null;
  }
}

function changesOf({ facts, cameAfter }: JudgedLog): readonly ChangeSince[] {
  const { id: task, importedUpTo } = facts;
  return facts.changes
    .filter(cameAfter)
    .map(({ seq, ts, change }) => ({ seq, ts, change, task, isForeign: seq <= importedUpTo }));
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
