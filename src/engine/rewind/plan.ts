import { MusterError, UsageError } from '../../base/errors.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { EndStatus } from '../../protocol/result.ts';
import {
  selectLiveEvents,
  type FileLeft,
  type RewoundFile,
} from '../../protocol/events/rewound.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { branchPoint } from './branch-point.ts';
import { planFiles } from './plan-files.ts';
import { treeSince, type TreeSince } from './tree-since.ts';
import { fullLog } from '../task/fold-log.ts';
import { foldEvents } from '../../protocol/state/fold.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** What a task is to be put back to: after an event, or to before its last rewind. */
export type RewindRequest = { readonly to: number } | 'undo';

/** How far a conversation had come. */
export interface ConversationSize {
  readonly messages: number;
  /** Answers that ended. */
  readonly turns: number;
  /** Null: it had not ended. */
  readonly end: EndStatus | null;
}

/** What a rewind would do. Nothing of it is done. */
export interface RewindPlan {
  readonly task: string;
  /** Name of its agent definition. */
  readonly agent: string;
  readonly wish: RewindRequest;
  /** The event that it is put back to: the last one up to the wish at which the conversation is whole. */
  readonly to: number;
  /** When that was written, in milliseconds since the epoch. */
  readonly toTime: number;
  /** The number of the rewind that this one undoes; null: none. */
  readonly undoes: number | null;
  /** An earlier rewind was cut short; this ends it, and does nothing else. The number of its event. */
  readonly ends: number | null;
  /** It is there already: nothing is done. */
  readonly isThere: boolean;
  readonly before: ConversationSize;
  /** Once it is put back. */
  readonly after: ConversationSize;
  /** Tasks below it that were begun since: nobody waits for them any more. */
  readonly tasks: readonly string[];
  /** Those that were at work then, and have gone on since. */
  readonly dropped: readonly string[];
  readonly files: readonly RewoundFile[];
  /** Why it is not done. Empty: nothing stands against it. */
  readonly refused: readonly FileLeft[];
  /** That ran since: what they changed is not put back. */
  readonly commands: readonly string[];
  /** Calls since that may have changed files, and of which nobody knows it. */
  readonly unknownCalls: number;
  /** Where files may lie. */
  readonly roots: readonly string[];
  /** The number of the newest event of each log that it is made from, by task. */
  readonly logs: Readonly<Record<string, number>>;
}

/**
 * Throws MusterError: `INVALID_PARAM` for an event that is not there, UsageError where there is nothing to
 * go back to.
 */
export async function planRewind(
  store: TaskStore,
  id: string,
  wish: RewindRequest,
): Promise<RewindPlan> {
  const events = fullLog(store, id);
  const now = foldEvents(events);
  if (now.spec.fanOut !== undefined) {
    throw new UsageError(
      `task ${id} is a run of a template, and no conversation: rewind one of its items`,
    );
  }
  const target = targetOf(events, wish, now);
  const then = foldEvents(events.filter(({ seq }) => seq <= target.to));
  const toTime = events.findLast(({ seq }) => seq <= target.to)?.ts ?? now.createdAt;
  const since = treeSince(store, id, { seq: target.to, ts: toTime });
  const pending = target.ends === null ? null : now.rewinding;
  const { files, refused } =
    pending === null ? await planFiles(store, since) : { files: pending.files, refused: [] };
  const hasFiles = files.length > 0 || refused.length > 0;
  const isThere = pending === null && !hasFiles && isAt(events, target.to);
  return {
    task: id,
    agent: now.spec.agent.name,
    wish,
    ...target,
    toTime,
    isThere,
    before: sizeOf(now),
    after: sizeOf(then),
    tasks: pending === null ? since.begun : [],
    dropped: pending === null && target.undoes === null ? droppedOf(then, since) : [],
    files,
    refused,
    commands: pending === null ? since.commands : [],
    unknownCalls: pending === null ? since.unknownCalls : 0,
    roots: since.roots,
    logs: since.logs,
  };
}

type Target = Pick<RewindPlan, 'to' | 'undoes' | 'ends'>;

function targetOf(events: readonly TaskEvent[], wish: RewindRequest, now: TaskState): Target {
  const { id } = now.spec;
  if (now.rewinding !== null) {
    const { seq } = now.rewinding;
    const cut = events.find((event) => event.seq === seq);
    const to = cut?.type === 'task.rewound' ? cut.to : seq;
    return { to, undoes: null, ends: seq };
  }
  if (wish === 'undo') {
    const undoes = rewindToUndo(events, id);
    return { to: undoes - 1, undoes, ends: null };
  }
  const last = events.at(-1)?.seq ?? -1;
  if (wish.to > last) {
    throw new MusterError('INVALID_PARAM', `--to: task ${id} has the events 0 to ${last}`);
  }
  return { to: branchPoint(events, wish.to), undoes: null, ends: null };
}

function rewindToUndo(events: readonly TaskEvent[], id: string): number {
  const live = selectLiveEvents(events);
  const last = live.findLast((event) => event.type === 'task.rewound' && event.undoes === null);
  if (last === undefined) throw new UsageError(`task ${id} was not rewound: nothing to undo`);
  const goneOn = live.find(
    (event) => event.seq > last.seq && (event.type === 'task.started' || isSaid(event)),
  );
  if (goneOn === undefined) return last.seq;
  throw new MusterError(
    'CONFLICT',
    `task ${id} has gone on after that rewind (event ${goneOn.seq}): \`muster tasks rewind ${id} --to ${last.seq - 1}\` puts it back to before the rewind, without what came since`,
  );
}

function isSaid(event: TaskEvent): boolean {
  if (event.type === 'input.queued') return event.input.from !== 'muster';
  return event.type === 'task.resumed' || event.type === 'task.ended';
}

/** Whether nothing of account came since the event. */
function isAt(events: readonly TaskEvent[], to: number): boolean {
  const since = selectLiveEvents(events).filter(({ seq }) => seq > to);
  const first = since.find(({ type }) => type !== 'task.claimed' && type !== 'warning');
  if (first === undefined) return true;
  if (first.type !== 'task.rewound' || first.to !== to) return false;
  return since.every((event) => event.type !== 'task.started' && !isSaid(event));
}

function droppedOf({ openChildren }: TaskState, { wentOn }: TreeSince): readonly string[] {
  return [...openChildren].filter((child) => wentOn.has(child));
}

function sizeOf({ conversation, turns, end }: TaskState): ConversationSize {
  // The outcomes of its newest calls are one that the next request adds.
  const messages = conversation.messages.length + (conversation.openCalls.length === 0 ? 0 : 1);
  return { messages, turns, end: end?.status ?? null };
}
