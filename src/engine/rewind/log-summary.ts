import type { TaskEvent } from '../../protocol/events/event.ts';
import type { FileChange } from '../../protocol/tool.ts';
import type { TaskStore } from '../../store/task-store.ts';

/** The position of an event in its log. */
export interface EventTime {
  /** The number of the event. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly ts: number;
}

/** An activation of a task, with the event that started it: its creation, a resume or a rewind. */
export interface StartedActivation extends EventTime {
  /** The id of the task that started it, `user`, or null for a root. */
  readonly by: string | null;
  readonly callId: string | null;
}

/** The files, commands and children in a log, with their positions. */
export interface LogSummary {
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
export function readLogSummary(store: TaskStore, id: string): LogSummary {
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
