import { dropMissing } from '../base/drop-missing.ts';
import { MusterError, UsageError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { selectLiveEvents } from '../protocol/events/rewound.ts';
import type { TaskSpec } from '../protocol/task.ts';
import type { TaskStore } from '../store/task-store.ts';
import { completePrefix } from '../engine/delegation/create-task.ts';
import { PrefixCache } from '../engine/prompt/prefix.ts';
import { readFullLog } from '../engine/task/fold-log.ts';
import { readBoard } from '../engine/task/tree-board.ts';
import { findBranchPoint } from '../engine/rewind/plan-rewind.ts';
import { mergeFindings } from '../protocol/board.ts';
import { foldEvents } from '../protocol/state/fold.ts';
import type { TaskState } from '../protocol/state/task-state.ts';
import { stripStamp } from '../protocol/events/event-body.ts';
import { runningShells } from '../protocol/state/owned-work.ts';
import type { EventBody, TaskEvent } from '../protocol/events/event.ts';
import { NO_USAGE } from '../protocol/model.ts';
import { drawNonce } from '../protocol/outside-text.ts';
import type { CallDetails } from '../protocol/tool.ts';

/** A request to branch off from an event of a task. */
interface BranchRequest {
  /** The full id of the task to branch off from. */
  readonly id: string;
  /** The number of the event at which to branch off. */
  readonly at: number;
  /** True if the branch gets a new message before it continues. */
  readonly hasPrompt: boolean;
  /** The id of the new task. Default: a new one. */
  readonly branch?: string;
}

/** A new branch, which does not run yet. */
interface Branch {
  /** The id of the new task, the root of its own tree. */
  readonly id: string;
  /** The number of the event at which it branches off: the requested event, or one before it. */
  readonly at: number;
}

/**
 * Creates a task with the conversation of another task up to an event. The other task may be running, because its log
 * is only read. Throws UsageError if there is nothing to continue, and `INVALID_PARAM` for an event that does not
 * exist.
 */
export async function createBranch(
  store: TaskStore,
  { id, at, hasPrompt, branch = newId() }: BranchRequest,
): Promise<Branch> {
  const events = readFullLog(store, id);
  const [created] = events;
  if (created?.type === 'task.created' && created.spec.fanOut !== undefined) {
    const message = `task ${id} is a run of a template, and not a conversation: branch off from one of its items`;
    throw new UsageError(message);
  }
  const last = events.at(-1)?.seq ?? -1;
  if (at > last) {
    throw new MusterError(
      'INVALID_PARAM',
      `--at: must be an event of task ${id}, from 0 to ${last}`,
    );
  }
  const point = findBranchPoint(events, at);
  const before = events.filter(({ seq }) => seq <= point);
  const state = foldEvents(before);
  const liveEvents = selectLiveEvents(before);
  if (!hasPrompt && isAnswered(state)) {
    const message = `at event ${point} the task has answered and got no message since: give the next message with --prompt, or branch off before that answer`;
    throw new UsageError(message);
  }
  if (state.spec.workspace !== undefined) {
    const message = `task ${id} works in its own workspace, which a branch cannot share; resume it instead`;
    throw new UsageError(message);
  }
  const importedUpTo = store.importedUpTo(id) ?? -1;
  const log = store.create(buildBranchSpec(store, branch, { state, point }));
  try {
    // The grants in an imported log were not given on this machine.
    const kept = [
      ...liveEvents.filter((event) => !isRuleChange(event)),
      ...events.filter(isRuleChange),
    ];
    const copied = copyEvents(kept).filter((body) => importedUpTo < 0 || !isGrant(body));
    const resumed = { type: 'task.resumed', by: 'user', callId: null } as const;
    const findings = copyBoard(store, state, before.at(-1)?.ts ?? 0);
    log.append([...copied, ...findings, ...lostWorkEvents(state), resumed]);
    await log.sync();
  } catch (thrown) {
    log.close();
    await store.delete([branch]);
    throw thrown;
  }
  log.close();
  return { id: branch, at: point };
}

function isAnswered({ answer, conversation }: TaskState): boolean {
  return answer !== null && conversation.openCalls.length === 0 && conversation.queued.length === 0;
}

/** The event at which a branch begins, with the state after it. */
interface BranchPoint {
  readonly state: TaskState;
  readonly point: number;
}

function buildBranchSpec(
  store: TaskStore,
  id: string,
  { state: { spec }, point }: BranchPoint,
): TaskSpec {
  return {
    ...spec,
    id,
    root: id,
    parent: null,
    parentCall: null,
    depth: 0,
    background: false,
    handed: [],
    prefix: storeBranchPrefix(store, spec),
    branchedFrom: { task: spec.id, seq: point },
  };
}

/**
 * Stores the prefix of the branch and returns its hash. As the branch is a root task, its prefix includes the line
 * that describes the task.
 */
function storeBranchPrefix(store: TaskStore, spec: TaskSpec): string {
  const shared = spec.parent === null ? null : new PrefixCache(store).load(spec.prefix);
  if (shared === null) return spec.prefix;
  return store.putBlob(JSON.stringify(completePrefix(shared, spec)), { redact: false });
}

/**
 * Copies the events of a log for a branch: the conversation, the known files and the terms. Costs, file changes and
 * started work stay with the original task.
 */
function copyEvents(events: readonly TaskEvent[]): readonly EventBody[] {
  return events.flatMap((event) => copyEvent(stripStamp(event)) ?? []);
}

function isGrant({ type }: EventBody): boolean {
  return type === 'rights.granted' || type === 'mode.granted';
}

/** Returns true for a rule that the user has set or removed. It also binds a branch from an earlier event. */
function isRuleChange({ type }: Pick<TaskEvent, 'type'>): boolean {
  return type === 'rights.restricted' || type === 'rule.removed';
}

/**
 * Copies the findings that were on the board of the tree at a time, also those of other tasks: the conversation may name
 * them. Each keeps its id and its author.
 *
 * @param at milliseconds since the epoch
 */
function copyBoard(
  store: TaskStore,
  { spec, findings }: TaskState,
  at: number,
): readonly EventBody[] {
  const others = readBoard(store, [spec.root]).filter(
    ({ author }) => author.task !== spec.id && author.at <= at,
  );
  return mergeFindings([findings, others]).map(
    ({ finding, number, title, text, callId, author }): EventBody => ({
      type: 'finding.posted',
      finding,
      number,
      title,
      text,
      callId,
      author,
    }),
  );
}

/**
 * Creates notices about the tasks and shells that were running at the branch point and that the branch does not have.
 */
function lostWorkEvents(state: TaskState): readonly EventBody[] {
  const tasks = [...state.openChildren].map((id) => `- Task ${id}`);
  const shells = runningShells(state).map((id) => `- Shell ${id}`);
  return [...tasks, ...shells].map((what): EventBody => {
    const text = `${what} ran when this conversation was branched off from another one, and stayed there. Its outcome is unknown: look before you start it again.`;
    const nonce = drawNonce(text);
    const input = { id: newId(), kind: 'result', from: 'muster', text, nonce } as const;
    return { type: 'input.queued', input };
  });
}

/** Returns the copy of an event for the branch, or null if the branch does not get the event. */
function copyEvent(body: EventBody): EventBody | null {
  switch (body.type) {
    case 'task.resumed':
    case 'task.reused':
    case 'terms.changed':
    case 'input.withdrawn':
    case 'turn.started':
    case 'turn.accepted':
    case 'turn.interrupted':
    case 'rights.granted':
    case 'rights.restricted':
    case 'rule.removed':
    case 'mode.granted':
    case 'todos.set':
    case 'context.cleared':
    case 'summary.started':
    case 'context.dropped':
    case 'context.handed':
    case 'acceptance.prepared':
      return body;
    case 'input.queued': {
      // A branch can see no task of the other tree.
      const { handed: _, ...input } = body.input;
      return { ...body, input };
    }
    case 'context.summarised':
    case 'summary.refused':
    case 'turn.ended': {
      const { pricedBy: _, estimated: _estimated, ...rest } = body;
      return { ...rest, usage: NO_USAGE, costUsd: 0 };
    }
    case 'turn.failed': {
      const { type, turn, failure } = body;
      return { type, turn, failure, usage: NO_USAGE };
    }
    case 'call.ended':
      return { ...body, facts: keepKnownFiles(body.facts) };
    case 'call.refused':
      return { ...body, decision: null };
    case 'task.created':
    case 'task.rewound':
    case 'files.restored':
    case 'task.claimed':
    case 'task.held':
    case 'task.started':
    case 'reuse.missed':
    case 'acceptance.started':
    case 'acceptance.checked':
    case 'workspace.opened':
    case 'workspace.closed':
    case 'task.parked':
    case 'task.ended':
    case 'turn.held':
    case 'items.reopened':
    case 'turn.quiet':
    case 'turn.flowing':
    case 'turn.retried':
    case 'call.granted':
    case 'call.started':
    case 'request.ended':
    case 'question.asked':
    case 'question.answered':
    case 'child.created':
    case 'child.resumed':
    case 'child.detached':
    case 'child.ended':
    case 'shell.started':
    case 'shell.ended':
    case 'finding.posted':
    case 'notified':
    case 'server.logged':
    case 'limit.reached':
    case 'hook.ran':
    case 'warning':
      return null;
  }
}

/**
 * Selects the details that the branch needs: the files that a call read or wrote (whose content the task knows), its
 * variables and its skill.
 */
function keepKnownFiles({ read = [], changed = [], variables, skill }: CallDetails): CallDetails {
  const written = changed.flatMap(({ path, after, movedFrom, unread }) =>
    after === null || movedFrom !== undefined || unread === true ? [] : [{ path, hash: after }],
  );
  const seen = [...read, ...written];
  return { ...(seen.length === 0 ? {} : { read: seen }), ...dropMissing({ variables, skill }) };
}
