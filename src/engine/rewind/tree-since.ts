import { errorMessage } from '../../base/errors.ts';
import { isId } from '../../base/ids.ts';
import type { UnrestoredFile } from '../../protocol/events/rewound.ts';
import type { FileChange } from '../../protocol/tool.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';

/** A change of a file that a rewind has to undo. */
export interface ChangeSince extends EventTime {
  readonly task: string;
  readonly change: FileChange;
  /** True if the log was imported, so that the change happened on another machine. */
  readonly isImported: boolean;
}

/** The work of a task and its descendants after one of its events. */
export interface TreeSince {
  /** The changes in the order in which they were made. */
  readonly changes: readonly ChangeSince[];
  readonly commands: readonly string[];
  readonly unknownCalls: number;
  /** Ids of descendants that were created since. */
  readonly newTasks: readonly string[];
  /** Ids of descendants that were running at the event and have continued since. */
  readonly continuedTasks: ReadonlySet<string>;
  /** The roots of all these tasks. */
  readonly roots: readonly string[];
  /** The number of the newest event of each log, by task: of the task itself and its descendants. */
  readonly logs: Readonly<Record<string, number>>;
  /** The logs that can't be used, with the reasons. */
  readonly unreadableLogs: readonly UnrestoredFile[];
}

/** Reads what a task and its descendants did after an event, from their logs. */
export function readTreeSince(store: TaskStore, id: string, event: EventTime): TreeSince {
  const logsByTask = new Map<string, DatedLog>();
  const lost: UnrestoredFile[] = [];
  const known = new Set([id]);
  // The set grows during the iteration, which includes what is added: parents come before their children.
  for (const task of known) {
    const summary = readable(store, task, lost);
    if (summary === null) continue;
    const isAfter =
      task === id
        ? ({ seq }: EventTime) => seq > event.seq
        : afterEventInDescendant(summary, logsByTask, event);
    logsByTask.set(task, { summary, isAfter });
    if (summary.unfinishedRewindTo !== null && task !== id) {
      const because = `is of a task with an unfinished rewind: finish it first with \`muster tasks rewind ${task} --to ${summary.unfinishedRewindTo}\``;
      lost.push({ path: store.logPath(task) ?? task, because });
    }
    for (const { child } of summary.startedChildren) if (isId(child)) known.add(child);
  }
  const logs = [...logsByTask.values()];
  const below = logs.filter(({ summary }) => summary.id !== id);
  const isNew = ({ summary, isAfter }: DatedLog) =>
    isAfter(summary.activations[0] ?? summary.newestEvent);
  return {
    changes: inOrder(logs.flatMap(changesOf)),
    commands: logs.flatMap(({ summary, isAfter }) =>
      summary.commands.filter(isAfter).map(({ command }) => command),
    ),
    unknownCalls: logs.flatMap(({ summary, isAfter }) => summary.unknownCalls.filter(isAfter))
      .length,
    newTasks: below.filter(isNew).map(({ summary }) => summary.id),
    continuedTasks: new Set(
      below
        .filter((log) => !isNew(log) && log.isAfter(log.summary.newestEvent))
        .map(({ summary }) => summary.id),
    ),
    roots: [...new Set(logs.flatMap(({ summary }) => summary.roots))],
    logs: Object.fromEntries(logs.map(({ summary }) => [summary.id, summary.lastSeq])),
    unreadableLogs: lost,
  };
}

function readable(store: TaskStore, task: string, lost: UnrestoredFile[]): LogSummary | null {
  try {
    return readLogSummary(store, task);
  } catch (thrown) {
    lost.push({ path: store.logPath(task) ?? task, because: errorMessage(thrown) });
    return null;
  }
}

function changesOf({ summary, isAfter }: DatedLog): readonly ChangeSince[] {
  const { id: task, importedUpTo } = summary;
  return summary.changes
    .filter(isAfter)
    .map(({ seq, ts, change }) => ({ seq, ts, change, task, isImported: seq <= importedUpTo }));
}

/**
 * Sorts changes by time. If several tasks changed a file within the resolution of the clock, the content that a
 * change found tells which change came before it.
 */
function inOrder(changes: readonly ChangeSince[]): readonly ChangeSince[] {
  const waiting = changes.toSorted((a, b) => a.ts - b.ts);
  const ordered: ChangeSince[] = [];
  const contents = new Map<string, string | null>();
  for (let first = waiting[0]; first !== undefined; [first] = waiting) {
    const { ts } = first;
    const upTo = waiting.findIndex((each) => each.ts !== ts);
    const tied = waiting.slice(0, upTo === -1 ? waiting.length : upTo);
    const isNext = ({ task, change: { path, before } }: ChangeSince, index: number): boolean =>
      contents.get(path) === before &&
      // Those of one task stay in the order of its log.
      tied.slice(0, index).every((each) => each.task !== task);
    const next = tied.length === 1 ? 0 : Math.max(0, tied.findIndex(isNext));
    const [taken] = waiting.splice(next, 1);
    if (taken === undefined) break;
    contents.set(taken.change.path, taken.change.after);
    ordered.push(taken);
  }
  return ordered;
}

/** Decides whether something in a log happened after the target event of a rewind. */
type IsAfterEvent = (moment: EventTime) => boolean;

/** A log of the tree, with the rule that tells what in it happened after the target event. */
interface DatedLog {
  readonly summary: LogSummary;
  readonly isAfter: IsAfterEvent;
}

/**
 * Builds the rule for a descendant of the rewound task. An activation that another task of the tree started after the
 * event came after it, and one that had ended for that task before came before. The other activations were running at
 * the event or were started by a person: there the clock decides, and the exact time of the event counts as before.
 */
function afterEventInDescendant(
  summary: LogSummary,
  above: ReadonlyMap<string, DatedLog>,
  event: EventTime,
): IsAfterEvent {
  let before = -1;
  let after = Infinity;
  for (const [index, { seq, by, callId }] of summary.activations.entries()) {
    const caller = by === null ? undefined : above.get(by);
    const begun = caller?.summary.startedChildren.find(
      (each) => each.child === summary.id && each.callId === callId,
    );
    if (caller === undefined || begun === undefined) continue;
    if (caller.isAfter(begun)) {
      after = Math.min(after, seq);
      continue;
    }
    const ended = caller.summary.endedChildren.find(
      (each) => each.child === summary.id && each.seq > begun.seq,
    );
    const next = summary.activations[index + 1];
    if (ended === undefined || caller.isAfter(ended)) continue;
    before = next === undefined ? summary.lastSeq : next.seq - 1;
  }
  return ({ seq, ts }) => seq >= after || (seq > before && ts > event.ts);
}

/** The position of an event in its log. */
interface EventTime {
  /** The number of the event. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly ts: number;
}

/** An activation of a task, with the event that started it: its creation, a resume or a rewind. */
interface StartedActivation extends EventTime {
  /** The id of the task that started it, `user`, or null for a root. */
  readonly by: string | null;
  readonly callId: string | null;
}

/** The files, commands and children in a log, with their positions. */
interface LogSummary {
  readonly id: string;
  readonly lastSeq: number;
  /** The number of the last imported event, or -1. Imported events happened on another machine. */
  readonly importedUpTo: number;
  /** The roots of the task, absolute and real. */
  readonly roots: readonly string[];
  readonly changes: readonly (EventTime & { readonly change: FileChange })[];
  readonly commands: readonly (EventTime & { readonly command: string })[];
  /** Calls of tools that change files whose effects are not known. */
  readonly unknownCalls: readonly EventTime[];
  /** The children that calls of this task created or resumed. */
  readonly startedChildren: readonly (EventTime & {
    readonly child: string;
    readonly callId: string;
  })[];
  readonly endedChildren: readonly (EventTime & { readonly child: string })[];
  readonly activations: readonly StartedActivation[];
  /** The target event of a rewind whose process died before all files were restored, or null. */
  readonly unfinishedRewindTo: number | null;
  /** The newest event that is neither a change of owner nor a warning. */
  readonly newestEvent: EventTime;
}

/** Reads the summary of a log. Throws MusterError if it can't be read. */
function readLogSummary(store: TaskStore, id: string): LogSummary {
  const reader = new LogSummaryReader(id, store.importedUpTo(id) ?? -1);
  store.scan(id, (event) => reader.add(event));
  return reader.summary;
}

type Growing<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

const CHANGES_FILES: ReadonlySet<string> = new Set([
  'Write',
  'Edit',
  'MultiEdit',
  'MoveFile',
  'DeleteFile',
]);

class LogSummaryReader {
  private readonly growing: Growing<LogSummary>;
  /** Calls that change files and have no outcome yet, by call id. */
  private readonly open = new Map<string, EventTime & { readonly epoch: number }>();

  constructor(id: string, importedUpTo: number) {
    this.growing = {
      id,
      importedUpTo,
      lastSeq: -1,
      roots: [],
      changes: [],
      commands: [],
      unknownCalls: [],
      startedChildren: [],
      endedChildren: [],
      activations: [],
      unfinishedRewindTo: null,
      newestEvent: { seq: -1, ts: 0 },
    };
  }

  get summary(): LogSummary {
    return { ...this.growing, unknownCalls: [...this.growing.unknownCalls, ...this.open.values()] };
  }

  add(event: TaskEvent): void {
    const { growing } = this;
    const { seq, ts } = event;
    const at = { seq, ts };
    growing.lastSeq = seq;
    if (event.type !== 'task.claimed' && event.type !== 'warning') growing.newestEvent = at;
    switch (event.type) {
      case 'task.created': {
        const { parent, parentCall, rights } = event.spec;
        growing.roots.push(...rights.roots);
        growing.activations.push({ ...at, by: parent, callId: parentCall });
        return;
      }
      case 'task.resumed':
        growing.activations.push({ ...at, by: event.by, callId: event.callId });
        return;
      case 'task.rewound':
        growing.unfinishedRewindTo = event.to;
        growing.activations.push({ ...at, by: 'user', callId: null });
        for (const { path, from, to } of event.files) {
          const mode = from === null ? {} : { mode: from.mode };
          const change = { path, before: from?.hash ?? null, after: to?.hash ?? null, ...mode };
          growing.changes.push({ ...at, change });
        }
        return;
      case 'files.restored': {
        growing.unfinishedRewindTo = null;
        const left = new Set(event.left.map(({ path }) => path));
        growing.changes = growing.changes.filter(
          (each) => each.seq !== event.rewind || !left.has(each.change.path),
        );
        return;
      }
      case 'call.started':
        if (CHANGES_FILES.has(event.tool))
          this.open.set(event.callId, { ...at, epoch: event.epoch });
        return;
      case 'call.ended':
        this.addOutcome(event);
        return;
      case 'shell.started':
        growing.commands.push({ ...at, command: event.command });
        return;
      case 'child.created':
      case 'child.resumed':
        growing.startedChildren.push({ ...at, child: event.child, callId: event.callId });
        return;
      case 'child.ended':
        growing.endedChildren.push({ ...at, child: event.child });
        return;
      default:
    }
  }

  private addOutcome(event: Extract<TaskEvent, { type: 'call.ended' }>): void {
    const { seq, ts, callId, epoch, error, facts } = event;
    const { growing, open } = this;
    const begun = open.get(callId);
    open.delete(callId);
    const changes = facts.changed ?? [];
    for (const change of changes) growing.changes.push({ seq, ts, change });
    for (const { command } of facts.commands ?? []) growing.commands.push({ seq, ts, command });
    if (begun === undefined || changes.length > 0) return;
    // Its process died, or the call was aborted in the middle.
    const isGivenUp = error === 'CANCELLED' || error === 'TIMEOUT';
    if (begun.epoch !== epoch || isGivenUp) growing.unknownCalls.push({ seq, ts });
  }
}
