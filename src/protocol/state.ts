import {
  giveActivity,
  heldActivity,
  quietActivity,
  type Activity,
  type RunningCall,
} from './activity.ts';
import { applySpent, applyToAnswers, noAnswers, type Answers } from './answers.ts';
import { unreachable } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import { applyToBelongings, noBelongings, type Belongings } from './belongings.ts';
import { addChanges, addFacts, type CallRecord } from './call-record.ts';
import { applyToConversation, emptyConversation, type Conversation } from './conversation.ts';
import { applyToDelegations, noDelegations, type Delegations } from './delegations.ts';
import type { EndReason } from './end-reason.ts';
import type { TaskEvent } from './event.ts';
import type { Fault } from './fault.ts';
import { applyToFaults } from './faults.ts';
import { applyToInbox, emptyInbox, isParked, type InboxState } from './inbox-state.ts';
import { toolCalls } from './message.ts';
import { applyToRepetition, noRepetition, type Repetition } from './repetition.ts';
import type { TaskStatus } from './result.ts';
import { liveBefore, type Rewound } from './rewound.ts';
import { applyToLifetime, newLifetime, steadyTime, type Lifetime } from './steady-time.ts';
import * as stints from './stint.ts';
import type { TaskSpec } from './task.ts';
import { takeEnclosed, takeRead } from './handed-files.ts';
import type { TodoItem } from './tool.ts';

/** A task as its log tells it: the one state that the engine and every view share. */
export interface TaskState extends Answers, Belongings, InboxState, CallRecord {
  /** As it was made, with the terms that hold now. */
  spec: TaskSpec;
  status: TaskStatus;
  /** Made when it is read. */
  readonly activity: Activity;
  /** The same, where its calls do not tell it; null: they do. */
  doing: Activity | null;
  readonly conversation: Conversation;
  readonly repetition: Repetition;
  readonly delegations: Delegations;
  stint: stints.Stint;
  /** Calls that ran, by canonical tool name. */
  readonly toolCounts: Map<string, number>;
  /** The calls under way, by call id. */
  readonly runningCalls: Map<string, RunningCall>;
  /** Names of calls that began under an owner that is gone and have no outcome, by call id. */
  readonly unknownCalls: Map<string, string>;
  readonly refusals: string[];
  /** How often what went wrong with its model, in the order in which it first did. */
  readonly faults: Map<Fault, number>;
  readonly warnings: string[];
  /** Tasks outside its own tree below it that it may see and reach. */
  readonly handed: Set<string>;
  todos: readonly TodoItem[];
  /** Whose result was reused for it, and when that task ended; null: nobody's. */
  reused: { readonly of: string; readonly at: number } | null;
  /** The rewind whose files are being put back; null: none, or it is done. */
  rewinding: (Pick<Rewound, 'dropped' | 'files'> & { readonly seq: number }) | null;
  end: EndReason | null;
  result: string;
  /** The result as JSON that is valid against the output schema; null: there is none. */
  structured: { readonly value: JsonValue } | null;
  readonly createdAt: number;
  endedAt: number | null;
  readonly lifetime: Lifetime;
  lastSeq: number;
  epoch: number;
}

/** The state after a log's first event. Throws when that is not `task.created`: it is no task log. */
export function initialState(first: TaskEvent): TaskState {
  if (first.type !== 'task.created') {
    throw new Error(`a task log begins with task.created, not ${first.type}`);
  }
  const state: Omit<TaskState, 'activity'> = {
    spec: first.spec,
    status: 'queued',
    doing: { kind: 'idle' },
    conversation: emptyConversation(),
    repetition: noRepetition(),
    stint: stints.startStint(0, {
      since: steadyTime(first),
      turns: 0,
      by: first.spec.parent,
      callId: first.spec.parentCall,
    }),
    ...noAnswers(),
    toolCounts: new Map(),
    runningCalls: new Map(),
    unknownCalls: new Map(),
    ...noBelongings(),
    ...emptyInbox(),
    delegations: noDelegations(),
    filesRead: new Map(),
    filesChanged: new Map(),
    knownFiles: new Map(),
    commands: [],
    variables: new Map(),
    refusals: [],
    faults: new Map(),
    warnings: [],
    handed: new Set(first.spec.handed),
    skills: new Set(first.spec.skills),
    todos: [],
    reused: null,
    rewinding: null,
    end: null,
    result: '',
    structured: null,
    createdAt: first.ts,
    endedAt: null,
    lifetime: newLifetime(first),
    lastSeq: first.seq,
    epoch: first.epoch,
  };
  giveActivity(state);
  for (const { path, hash } of first.spec.inherited?.known ?? []) state.knownFiles.set(path, hash);
  takeRead(state, first.spec.given?.read ?? []);
  takeEnclosed(state, first.spec.enclosed);
  applyToConversation(state.conversation, first);
  return state;
}

/** The fold: the whole log in order gives the state. Throws on an empty log. */
export function foldEvents(events: Iterable<TaskEvent>): TaskState {
  const log = Array.from(events);
  const rewinds = log.filter((event) => event.type === 'task.rewound');
  const isLive = liveBefore(rewinds, log.at(-1)?.seq ?? -1);
  let state: TaskState | undefined;
  for (const event of log) {
    if (state === undefined) state = initialState(event);
    else if (isLive(event.seq)) applyEvent(state, event);
    else applyCut(state, event);
  }
  if (state === undefined) throw new Error('a task log with no event');
  return state;
}

/** An event that a later rewind has cut off: what it has cost is all that stays of it. */
export function applyCut(state: TaskState, event: TaskEvent): void {
  applySpent(state, event, state.spec);
}

/**
 * One more event. Before a `task.rewound`, `state` must be that of the event it goes back to, with what
 * `applyCut` makes of those in between: see `foldEvents`.
 */
export function applyEvent(state: TaskState, event: TaskEvent): void {
  const { spec, stint } = state;
  // Before the stint, which takes up what this answer cuts off.
  applyToAnswers(state, event, { spec, cutText: stint.cutText });
  stints.applyToStint(state.stint, event, steadyTime(state.lifetime.newest));
  // Before the conversation, which closes the calls of the round.
  applyToRepetition(state.repetition, event, state.conversation);
  applyToConversation(state.conversation, event);
  applyToFaults(state, event);
  applyToBelongings(state, event);
  applyToInbox(state, event);
  applyToDelegations(state.delegations, event, state);
  state.lastSeq = event.seq;
  applyToLifetime(state.lifetime, event);
  state.epoch = event.epoch;
  switch (event.type) {
    case 'task.created':
    case 'input.withdrawn':
    case 'child.created':
    case 'child.resumed':
    case 'child.detached':
    case 'items.reopened':
    case 'limit.reached':
    case 'reuse.missed':
    case 'shell.started':
    case 'shell.ended':
    case 'notified':
    case 'rights.granted':
    case 'mode.granted':
    case 'context.cleared':
    case 'context.dropped':
      return;
    case 'input.queued':
      for (const id of event.input.handed ?? []) state.handed.add(id);
      takeEnclosed(state, event.input.enclosed);
      return;
    case 'task.claimed':
      takeOver(state);
      return;
    case 'task.resumed':
      beginStint(state, state.stint.number + 1, stints.resumedBy(event, state));
      return;
    case 'task.reused':
      state.reused = { of: event.of, at: event.at };
      for (const seen of event.read) state.filesRead.set(seen.path, seen);
      return;
    case 'terms.changed': {
      const { rights, limits, model } = event;
      stints.changeModel(state.stint, state.spec.model, event);
      state.spec = { ...state.spec, rights, limits, model };
      return;
    }
    case 'task.rewound':
      goBack(state, event);
      return;
    case 'files.restored':
      state.rewinding = null;
      return;
    case 'task.started':
      if (state.doing?.kind === 'held') state.doing = { kind: 'idle' };
      state.status = isParked(state) ? 'parked' : 'running';
      return;
    case 'turn.started':
      // What it says from here on is its own.
      state.reused = null;
      state.doing = { kind: 'connecting' };
      return;
    case 'turn.held':
    case 'task.held':
      state.doing = heldActivity(event);
      return;
    case 'summary.started':
      state.doing = { kind: 'compacting' };
      return;
    case 'turn.accepted':
    case 'turn.flowing':
      state.doing = { kind: state.openTurn?.isSummary === true ? 'compacting' : 'streaming' };
      return;
    case 'turn.quiet':
      state.doing = quietActivity(event.waitsFor, steadyTime(event) - event.silentMs);
      return;
    case 'turn.retried':
      state.doing = { kind: 'waiting_to_retry', because: event.failure.message };
      return;
    case 'turn.ended':
      state.doing = toolCalls(event.message).length > 0 ? { kind: 'idle' } : waiting(state);
      return;
    case 'turn.interrupted':
    case 'turn.failed':
      state.doing = state.interrupted === null ? { kind: 'idle' } : waiting(state);
      return;
    case 'summary.refused':
    case 'context.handed':
    case 'context.summarised':
      state.doing = { kind: 'idle' };
      return;
    case 'call.started':
      state.runningCalls.set(event.callId, { tool: event.tool, since: steadyTime(event) });
      // Run again after a crash, it is the same call.
      if (!state.unknownCalls.delete(event.callId)) {
        state.toolCounts.set(event.tool, (state.toolCounts.get(event.tool) ?? 0) + 1);
      }
      showCalls(state);
      return;
    case 'call.ended':
      state.runningCalls.delete(event.callId);
      state.unknownCalls.delete(event.callId);
      addFacts(state, event);
      showCalls(state);
      return;
    case 'call.refused':
      state.unknownCalls.delete(event.callId);
      if (event.decision !== null) state.refusals.push(`${event.tool}: ${event.decision.reason}`);
      showCalls(state);
      return;
    case 'question.asked':
    case 'question.answered':
      showCalls(state);
      return;
    case 'task.parked':
      state.status = 'parked';
      return;
    case 'child.ended':
      addChanges(state, event.changed);
      if (state.doing?.kind === 'waiting_for_children') state.doing = waiting(state);
      return;
    case 'todos.set':
      state.todos = event.items;
      return;
    case 'warning':
      state.warnings.push(event.message);
      return;
    case 'task.ended':
      state.status = event.end.status;
      state.doing = { kind: 'idle' };
      state.runningCalls.clear();
      state.end = event.end;
      state.result = event.result;
      state.structured = event.structured === undefined ? null : { value: event.structured };
      state.endedAt = event.ts;
      return;
    default:
      unreachable(event);
  }
}

/** What ran under the owner before is not known of: it may have happened or not. */
function takeOver(state: TaskState): void {
  for (const [callId, { tool }] of state.runningCalls) state.unknownCalls.set(callId, tool);
  state.runningCalls.clear();
  showCalls(state);
  if (state.end === null) state.status = isParked(state) ? 'parked' : 'queued';
}

function beginStint(state: TaskState, number: number, begun: stints.StintBegin): void {
  state.stint = stints.startStint(number, { ...begun, turns: state.turns });
  state.status = isParked(state) ? 'parked' : 'queued';
  state.end = null;
  state.result = '';
  state.structured = null;
  state.endedAt = null;
  state.lifetime.endedMs = null;
}

/** Whoever put it back there wants it to go on from there: its limits count anew, with its own model. */
function goBack(state: TaskState, event: Extract<TaskEvent, { type: 'task.rewound' }>): void {
  const { seq, stint, dropped, files } = event;
  const [model] = state.stint.failedModels;
  if (model !== undefined) state.spec = { ...state.spec, model };
  state.rewinding = { seq, dropped, files };
  state.parkedOn = [];
  if (state.end === null) {
    beginStint(state, stint, { since: steadyTime(event), by: 'user', callId: null });
  } else state.stint = { ...state.stint, number: stint };
}

function waiting({ openChildren }: TaskState): Activity {
  return { kind: openChildren.size > 0 ? 'waiting_for_children' : 'idle' };
}

function showCalls(state: TaskState): void {
  state.doing = state.interrupted === null ? null : waiting(state);
  if (state.status === 'running' || state.status === 'parked') {
    state.status = isParked(state) ? 'parked' : 'running';
  }
}
