import { errorMessage } from '../../base/errors.ts';
import { isId } from '../../base/ids.ts';
import { FILE_CHANGING_TOOLS } from '../../protocol/file-tools.ts';
import type { UnrestoredFile } from '../../protocol/events/rewound.ts';
import type { CallDetails, FileChange, UnlistedChanges } from '../../protocol/tool.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';

/** A change of a file that a rewind has to undo. */
export interface ChangeSince extends EventTime {
  readonly task: string;
  readonly change: FileChange;
  /** True if the log was imported, so that the change happened on another machine. */
  readonly isImported: boolean;
  /** The time of the last part of the change. It differs from `ts` only for changes with two times. */
  readonly until: number;
  /** True if a part of the change was made before the event. */
  readonly isPartlyEarlier: boolean;
}

/** The work of a task and its descendants after one of its events. */
export interface TreeSince {
  /** The file changes in the order in which they were made. */
  readonly changes: readonly ChangeSince[];
  /** Changes by commands that are not listed one by one. */
  readonly unlisted: readonly UnlistedChanges[];
  /** The commands whose changes are not known. */
  readonly commands: readonly string[];
  readonly unknownCalls: number;
  /** The ids of descendants that were created after the event. */
  readonly newTasks: readonly string[];
  /** The ids of descendants that were running at the event and have continued since. */
  readonly continuedTasks: ReadonlySet<string>;
  /** The roots of all these tasks. */
  readonly roots: readonly string[];
  /** The number of the newest event of each log, by the id of the task. */
  readonly logs: Readonly<Record<string, number>>;
  /** The logs that can't be used, with the reasons. */
  readonly unreadableLogs: readonly UnrestoredFile[];
}

/** Reads from the logs what a task and its descendants did after an event of the task. */
export function readTreeSince(store: TaskStore, id: string, event: EventTime): TreeSince {
  const logsByTask = new Map<string, DatedLog>();
  const unreadableLogs: UnrestoredFile[] = [];
  const taskIds = new Set([id]);
  // The set grows during the iteration, which also visits the added ids. So each parent is read before its children.
  for (const task of taskIds) {
    const summary = readSummaryOrNote(store, task, unreadableLogs);
    if (summary === null) continue;
    const isAfter =
      task === id
        ? ({ seq }: EventTime) => seq > event.seq
        : createDescendantRule(summary, logsByTask, event);
    logsByTask.set(task, { summary, isAfter });
    if (summary.unfinishedRewindTo !== null && task !== id) {
      const because = `belongs to a task whose rewind is unfinished: finish it first with \`muster tasks rewind ${task} --to ${summary.unfinishedRewindTo}\``;
      unreadableLogs.push({ path: store.logPath(task) ?? task, because });
    }
    for (const { child } of summary.startedChildren) if (isId(child)) taskIds.add(child);
  }
  const logs = [...logsByTask.values()];
  const below = logs.filter(({ summary }) => summary.id !== id);
  const isNew = ({ summary, isAfter }: DatedLog) =>
    isAfter(summary.activations[0] ?? summary.newestEvent);
  return {
    changes: sortChanges(logs.flatMap((log) => listChanges(log, event))),
    unlisted: listUnlisted(logs),
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
    unreadableLogs,
  };
}

/** Reads the summary of a log. Adds an unreadable log to the list and returns null. */
function readSummaryOrNote(
  store: TaskStore,
  task: string,
  unreadableLogs: UnrestoredFile[],
): LogSummary | null {
  try {
    return readLogSummary(store, task);
  } catch (thrown) {
    unreadableLogs.push({ path: store.logPath(task) ?? task, because: errorMessage(thrown) });
    return null;
  }
}

function listChanges({ summary, isAfter }: DatedLog, event: EventTime): readonly ChangeSince[] {
  const { id: task, importedUpTo } = summary;
  return summary.changes.filter(isAfter).flatMap(({ seq, ts, change }): readonly ChangeSince[] => {
    const { since = ts, until = ts } = change;
    // A command in the background that ended after the event may have made its changes before.
    if (until < event.ts && change.until !== undefined) return [];
    const isPartlyEarlier = change.since !== undefined && since < event.ts;
    const isImported = seq <= importedUpTo;
    return [{ seq, ts: since, until, change, task, isImported, isPartlyEarlier }];
  });
}

function listUnlisted(logs: readonly DatedLog[]): readonly UnlistedChanges[] {
  const all = logs.flatMap(({ summary, isAfter }) => summary.unlisted.filter(isAfter));
  return [...new Map(all.map(({ unlisted }) => [JSON.stringify(unlisted), unlisted])).values()];
}

/**
 * Sorts changes by time. If several tasks changed a file within the resolution of the clock, the changes are chained
 * by content: the next change is the one that found the content that the last change left.
 */
function sortChanges(changes: readonly ChangeSince[]): readonly ChangeSince[] {
  const waiting = changes.toSorted((a, b) => a.ts - b.ts);
  const ordered: ChangeSince[] = [];
  const contents = new Map<string, string | null>();
  for (let first = waiting[0]; first !== undefined; [first] = waiting) {
    const { ts } = first;
    const upTo = waiting.findIndex((each) => each.ts !== ts);
    const tied = waiting.slice(0, upTo === -1 ? waiting.length : upTo);
    const isNext = ({ task, change: { path, before } }: ChangeSince, index: number): boolean =>
      contents.get(path) === before &&
      // Changes of one task stay in the order of its log.
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

/** A log of the tree, with the rule that decides which of its events happened after the target event. */
interface DatedLog {
  readonly summary: LogSummary;
  readonly isAfter: IsAfterEvent;
}

/**
 * Builds the rule for the log of a descendant of the rewound task. An activation that another task of the tree
 * started after the target event came after it; an activation whose end that other task recorded before the target
 * event came before it. All other activations were running at the target event or were started by a person: for them
 * the clock decides, and the exact time of the target event counts as before.
 */
function createDescendantRule(
  summary: LogSummary,
  logsByTask: ReadonlyMap<string, DatedLog>,
  event: EventTime,
): IsAfterEvent {
  let lastBefore = -1;
  let firstAfter = Infinity;
  for (const [index, { seq, by, callId }] of summary.activations.entries()) {
    const caller = by === null ? undefined : logsByTask.get(by);
    const started = caller?.summary.startedChildren.find(
      (each) => each.child === summary.id && each.callId === callId,
    );
    if (caller === undefined || started === undefined) continue;
    if (caller.isAfter(started)) {
      firstAfter = Math.min(firstAfter, seq);
      continue;
    }
    const ended = caller.summary.endedChildren.find(
      (each) => each.child === summary.id && each.seq > started.seq,
    );
    const next = summary.activations[index + 1];
    if (ended === undefined || caller.isAfter(ended)) continue;
    lastBefore = next === undefined ? summary.lastSeq : next.seq - 1;
  }
  return ({ seq, ts }) => seq >= firstAfter || (seq > lastBefore && ts > event.ts);
}

/** The position of an event in its log. */
interface EventTime {
  /** The number of the event. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly ts: number;
}

/** The event that started an activation of a task: its creation, a resume or a rewind. */
interface StartedActivation extends EventTime {
  /** The id of the task that started the activation, `user`, or null for a root. */
  readonly by: string | null;
  readonly callId: string | null;
}

/** The files, commands and children in a log, with the positions of their events. */
interface LogSummary {
  readonly id: string;
  readonly lastSeq: number;
  /** The number of the last imported event, or -1. Imported events happened on another machine. */
  readonly importedUpTo: number;
  /** The roots of the task, absolute and real. */
  readonly roots: readonly string[];
  readonly changes: readonly (EventTime & { readonly change: FileChange })[];
  readonly unlisted: readonly (EventTime & { readonly unlisted: UnlistedChanges })[];
  /** The commands whose changes are not known. */
  readonly commands: readonly (EventTime & { readonly command: string })[];
  /** The calls of file-changing tools and of commands whose effects are not known. */
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
  /** The newest event, without changes of the owner and warnings. */
  readonly newestEvent: EventTime;
}

/** Reads the summary of a log. Throws MusterError if it can't be read. */
function readLogSummary(store: TaskStore, id: string): LogSummary {
  const reader = new LogSummaryReader(id, store.importedUpTo(id) ?? -1);
  store.scan(id, (event) => reader.add(event));
  return reader.summary;
}

/** The name of the tool that runs commands. */
const COMMAND_TOOL = 'Bash';

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

class LogSummaryReader {
  private readonly draft: Mutable<LogSummary>;
  /** The calls of file-changing tools that have no outcome yet, by call id. */
  private readonly openCalls = new Map<string, EventTime & { readonly epoch: number }>();
  /** The shells that have not ended, by their ids. */
  private readonly openShells = new Map<string, EventTime & { readonly command: string }>();

  constructor(id: string, importedUpTo: number) {
    this.draft = {
      id,
      importedUpTo,
      lastSeq: -1,
      roots: [],
      changes: [],
      unlisted: [],
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
    return {
      ...this.draft,
      commands: [...this.draft.commands, ...this.openShells.values()],
      unknownCalls: [...this.draft.unknownCalls, ...this.openCalls.values()],
    };
  }

  add(event: TaskEvent): void {
    const { draft } = this;
    const { seq, ts } = event;
    const time = { seq, ts };
    draft.lastSeq = seq;
    if (event.type !== 'task.claimed' && event.type !== 'warning') draft.newestEvent = time;
    switch (event.type) {
      case 'task.created': {
        const { parent, parentCall, rights } = event.spec;
        draft.roots.push(...rights.roots);
        draft.activations.push({ ...time, by: parent, callId: parentCall });
        return;
      }
      case 'task.resumed':
        draft.activations.push({ ...time, by: event.by, callId: event.callId });
        return;
      case 'task.rewound':
        draft.unfinishedRewindTo = event.to;
        draft.activations.push({ ...time, by: 'user', callId: null });
        for (const { path, from, to } of event.files) {
          const mode = from === null ? {} : { mode: from.mode };
          const change = { path, before: from?.hash ?? null, after: to?.hash ?? null, ...mode };
          draft.changes.push({ ...time, change });
        }
        return;
      case 'files.restored': {
        draft.unfinishedRewindTo = null;
        const unrestored = new Set(event.left.map(({ path }) => path));
        draft.changes = draft.changes.filter(
          (each) => each.seq !== event.rewind || !unrestored.has(each.change.path),
        );
        return;
      }
      case 'call.started':
        if (FILE_CHANGING_TOOLS.includes(event.tool) || event.tool === COMMAND_TOOL)
          this.openCalls.set(event.callId, { ...time, epoch: event.epoch });
        return;
      case 'call.ended':
        this.addOutcome(event);
        return;
      case 'shell.started':
        this.openShells.set(event.shell, { ...time, command: event.command });
        return;
      case 'shell.ended':
        this.addShellEnd(event);
        return;
      case 'child.created':
      case 'child.resumed':
        draft.startedChildren.push({ ...time, child: event.child, callId: event.callId });
        return;
      case 'child.ended':
        draft.endedChildren.push({ ...time, child: event.child });
        return;
      default:
    }
  }

  private addOutcome(event: Extract<TaskEvent, { type: 'call.ended' }>): void {
    const { seq, ts, callId, epoch, error, facts } = event;
    const { draft, openCalls } = this;
    const start = openCalls.get(callId);
    openCalls.delete(callId);
    const changes = facts.changed ?? [];
    this.addChanges({ seq, ts }, facts);
    const commands = facts.changed === undefined ? (facts.commands ?? []) : [];
    for (const { command } of commands) draft.commands.push({ seq, ts, command });
    if (start === undefined || changes.length > 0 || facts.commands !== undefined) return;
    // The process of the call died, or the call was aborted in the middle.
    const isGivenUp = error === 'CANCELLED' || error === 'TIMEOUT';
    if (start.epoch !== epoch || isGivenUp) draft.unknownCalls.push({ seq, ts });
  }

  private addShellEnd(event: Extract<TaskEvent, { type: 'shell.ended' }>): void {
    const start = this.openShells.get(event.shell);
    this.openShells.delete(event.shell);
    if (event.changed === undefined && start !== undefined) this.draft.commands.push(start);
    this.addChanges(event, event);
  }

  private addChanges(
    { seq, ts }: EventTime,
    { changed = [], unlisted = [] }: Pick<CallDetails, 'changed' | 'unlisted'>,
  ): void {
    const { draft } = this;
    for (const change of changed) draft.changes.push({ seq, ts, change });
    for (const each of unlisted) draft.unlisted.push({ seq, ts, unlisted: each });
  }
}
