import { MusterError, UsageError } from '../../base/errors.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { EndStatus } from '../../protocol/result.ts';
import {
  selectLiveEvents,
  type UnrestoredFile,
  type RewoundFile,
} from '../../protocol/events/rewound.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { readTreeSince, type TreeSince } from './tree-since.ts';
import { readFullLog, LogFold } from '../task/fold-log.ts';
import { foldEvents } from '../../protocol/state/fold.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { unansweredCalls } from '../../protocol/state/conversation.ts';
import { planFiles } from './plan-files.ts';

/** The part of a task to which a rewind is limited. */
export type RewindScope = 'files' | 'conversation';

/**
 * The requested target of a rewind: the state after the event `to`, or the state before the last rewind. With `only`,
 * the files go back and the conversation stays, or the reverse.
 */
export type RewindRequest = { readonly to: number; readonly only?: RewindScope } | 'undo';

/** The size of a conversation. */
interface ConversationSize {
  readonly messages: number;
  /** The number of completed answers. */
  readonly turns: number;
  /** The status with which the conversation ended, or null if it has not ended. */
  readonly end: EndStatus | null;
}

/** The plan of a rewind, made before anything is changed. */
export interface RewindPlan {
  readonly task: string;
  /** The name of the task's agent. */
  readonly agent: string;
  /** The request that this plan answers. */
  readonly wish: RewindRequest;
  /** The part to which the rewind is limited, or null. */
  readonly only: RewindScope | null;
  /**
   * The target: the last event, up to the requested one, after which the conversation is complete. For a rewind of only
   * the files, the last such event of all.
   */
  readonly to: number;
  /** The time of the target event, in milliseconds since the epoch. */
  readonly toTime: number;
  /** The event number of the rewind that is undone, or null. */
  readonly undoes: number | null;
  /**
   * The event number of an unfinished earlier rewind, or null. If it is set, nothing is done except to finish that
   * rewind.
   */
  readonly ends: number | null;
  /** True if the task is already at the target, so that nothing is done. */
  readonly isThere: boolean;
  readonly before: ConversationSize;
  /** The conversation after the rewind. */
  readonly after: ConversationSize;
  /** Descendants that were created after the target. The rewound task no longer waits for them. */
  readonly tasks: readonly string[];
  /**
   * Descendants that were running at the target and have continued since. The rewound task no longer waits for them.
   */
  readonly dropped: readonly string[];
  readonly files: readonly RewoundFile[];
  /** The reasons why the rewind is refused; empty if it can be done. */
  readonly refused: readonly UnrestoredFile[];
  /**
   * Changes by commands that are not undone, although the rewind can be done: the path of a file or a directory, and the
   * reason.
   */
  readonly left: readonly UnrestoredFile[];
  /** The commands that ran after the target and whose changes are not known. They are not undone. */
  readonly commands: readonly string[];
  /** The number of calls after the target whose file changes are not known. */
  readonly unknownCalls: number;
  /** The directories in which files may be restored. */
  readonly roots: readonly string[];
  /** The number of the newest event of each log that the plan is based on, by task. */
  readonly logs: Readonly<Record<string, number>>;
}

/**
 * Plans a rewind. Throws `INVALID_PARAM` for an event that does not exist, and UsageError if there is nothing to
 * rewind.
 */
export async function planRewind(
  store: TaskStore,
  id: string,
  request: RewindRequest,
): Promise<RewindPlan> {
  const events = readFullLog(store, id);
  const now = foldEvents(events);
  if (now.spec.fanOut !== undefined) {
    const message = `task ${id} is a run of a template, and not a conversation: rewind one of its items`;
    throw new UsageError(message);
  }
  const target = findTarget(events, request, now);
  const then = foldEvents(events.filter(({ seq }) => seq <= target.to));
  const toTime = events.findLast(({ seq }) => seq <= target.to)?.ts ?? now.createdAt;
  const since = readTreeSince(store, id, { seq: target.to, ts: toTime });
  const pending = target.ends === null ? null : now.rewinding;
  const only = request === 'undo' || pending !== null ? null : (request.only ?? null);
  const filesSince = only === 'files' ? readFilesSince(store, events, request) : since;
  const { files, refused, left } =
    pending !== null
      ? { files: pending.files, refused: [], left: [] }
      : only === 'conversation'
        ? { files: [], refused: since.unreadableLogs, left: [] }
        : await planFiles(store, filesSince);
  const continued = [...then.openChildren].filter((child) => since.continuedTasks.has(child));
  const hasFiles = files.length > 0 || refused.length > 0;
  const isThere = pending === null && !hasFiles && isAlreadyAt(events, target.to);
  return {
    task: id,
    agent: now.spec.agent.name,
    wish: request,
    only,
    ...target,
    toTime,
    isThere,
    before: measureConversation(now),
    after: measureConversation(then),
    tasks: pending === null ? since.newTasks : [],
    dropped: pending === null && target.undoes === null ? continued : [],
    files,
    refused,
    left,
    commands: pending === null ? filesSince.commands : [],
    unknownCalls: pending === null ? filesSince.unknownCalls : 0,
    roots: since.roots,
    logs: since.logs,
  };
}

/** Reads what a tree has changed since the requested event, for a rewind that leaves the conversation as it is. */
function readFilesSince(
  store: TaskStore,
  events: readonly TaskEvent[],
  request: RewindRequest,
): TreeSince {
  const [first] = events;
  const to = findBranchPoint(events, request === 'undo' ? 0 : request.to);
  const ts = events.findLast(({ seq }) => seq <= to)?.ts ?? first?.ts ?? 0;
  return readTreeSince(store, first?.task ?? '', { seq: to, ts });
}

type Target = Pick<RewindPlan, 'to' | 'undoes' | 'ends'>;

function findTarget(events: readonly TaskEvent[], request: RewindRequest, now: TaskState): Target {
  const { id } = now.spec;
  if (now.rewinding !== null) {
    const { seq } = now.rewinding;
    const cut = events.find((event) => event.seq === seq);
    const to = cut?.type === 'task.rewound' ? cut.to : seq;
    return { to, undoes: null, ends: seq };
  }
  if (request === 'undo') {
    const undoes = findRewindToUndo(events, id);
    return { to: undoes - 1, undoes, ends: null };
  }
  const last = events.at(-1)?.seq ?? -1;
  if (request.to > last) {
    throw new MusterError(
      'INVALID_PARAM',
      `--to: must be an event of task ${id}, from 0 to ${last}`,
    );
  }
  const at = request.only === 'files' ? last : request.to;
  const to = findBranchPoint(events, at);
  if (request.only === 'files' && !isAlreadyAt(events, to)) {
    const message = `task ${id} is in the middle of a turn, which would be lost: continue or stop it before only its files are put back`;
    throw new MusterError('CONFLICT', message);
  }
  return { to, undoes: null, ends: null };
}

function findRewindToUndo(events: readonly TaskEvent[], id: string): number {
  const live = selectLiveEvents(events);
  const last = live.findLast((event) => event.type === 'task.rewound' && event.undoes === null);
  if (last === undefined)
    throw new UsageError(`task ${id} was not rewound: there is nothing to undo`);
  const continued = live.find(
    (event) => event.seq > last.seq && (event.type === 'task.started' || changesTask(event)),
  );
  if (continued === undefined) return last.seq;
  const message = `task ${id} has continued after that rewind (event ${continued.seq}): \`muster tasks rewind ${id} --to ${last.seq - 1}\` returns to before the rewind and drops everything since`;
  throw new MusterError('CONFLICT', message);
}

function changesTask(event: TaskEvent): boolean {
  if (event.type === 'input.queued') return event.input.from !== 'muster';
  return event.type === 'task.resumed' || event.type === 'task.ended';
}

/** Returns true if nothing relevant has happened since the event, so that there is nothing to rewind. */
function isAlreadyAt(events: readonly TaskEvent[], to: number): boolean {
  const since = selectLiveEvents(events).filter(({ seq }) => seq > to);
  const first = since.find(({ type }) => type !== 'task.claimed' && type !== 'warning');
  if (first === undefined) return true;
  if (first.type !== 'task.rewound' || first.to !== to) return false;
  return since.every((event) => event.type !== 'task.started' && !changesTask(event));
}

function measureConversation({ conversation, turns, end }: TaskState): ConversationSize {
  // The next request adds one message with the outcomes of the newest calls.
  const messages = conversation.messages.length + (conversation.openCalls.length === 0 ? 0 : 1);
  return { messages, turns, end: end?.status ?? null };
}

/**
 * Returns the number of the last event at or before `at` after which the conversation is complete: no request is
 * open, and each call of the newest answer has its outcome. Such an event always exists, since the conversation is
 * complete after the first event.
 */
export function findBranchPoint(events: readonly TaskEvent[], at: number): number {
  const fold = new LogFold((visit) => events.forEach((event) => visit(event)));
  let point = 0;
  for (const event of events) {
    if (event.seq > at) break;
    fold.add(event);
    if (fold.state !== null && isComplete(fold.state)) point = event.seq;
  }
  return point;
}

function isComplete({ openTurn, conversation }: TaskState): boolean {
  return openTurn === null && unansweredCalls(conversation).length === 0;
}
