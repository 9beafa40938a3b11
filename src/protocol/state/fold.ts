import { applyToFoundTools } from './found-tools.ts';
import { withEffort } from './agent-effort.ts';
import { createHeldActivity, createSilentActivity, type Activity } from './activity.ts';
import { applyToAnswers, applyUsage } from './answers.ts';
import { unreachable } from '../../base/errors.ts';
import { applyToOwnedWork } from './owned-work.ts';
import {
  addCallDetails,
  addFileChanges,
  addQuotedFiles,
  recordQuotedFiles,
} from './call-record.ts';
import { applyToConversation, PROMPT_INPUT } from './conversation.ts';
import { applyToDelegations } from './delegations.ts';
import type { BoardFinding } from '../board.ts';
import type { TaskEvent } from '../events/event.ts';
import { applyToFaults } from './faults.ts';
import { applyToInbox, countQuestion, isParked } from './questions.ts';
import { toolCalls } from '../message.ts';
import { applyToRepetition } from './repetition.ts';
import { liveEventFilter } from '../events/rewound.ts';
import { applyToLifetime, steadyTime } from './steady-time.ts';
import * as activations from './activation.ts';
import { NOTHING_TOLD, type TaskState, initialState } from './task-state.ts';
import { applyToTurnRules, findModelAfterCommand } from './turn-terms.ts';

/**
 * Folds the events of a complete log to the state of its task. Throws Error for an empty log, and for a log that does not begin
 * with `task.created`.
 *
 * @example
 * import type { Muster } from 'muster-agent';
 * import { foldEvents, type TaskEvent, type TaskState } from 'muster-agent/events';
 *
 * export async function readState(muster: Muster, id: string): Promise<TaskState> {
 *   const events: TaskEvent[] = [];
 *   for await (const event of muster.readEvents(id)) events.push(event);
 *   return foldEvents(events);
 * }
 */
export function foldEvents(events: Iterable<TaskEvent>): TaskState {
  const log = Array.from(events);
  const rewinds = log.filter((event) => event.type === 'task.rewound');
  const isLive = liveEventFilter(rewinds, log.at(-1)?.seq ?? -1);
  let state: TaskState | undefined;
  for (const event of log) {
    if (state === undefined) state = initialState(event);
    else if (isLive(event.seq)) applyEvent(state, event);
    else applyRewoundEvent(state, event);
  }
  if (state === undefined) throw new Error('a task log has no event');
  return state;
}

/**
 * Applies an event that a later rewind has cut off. Only its usage counts, the number of its question, and the rules that
 * the user has set or removed: an undo must not lift what the user forbids.
 */
export function applyRewoundEvent(state: TaskState, event: TaskEvent): void {
  if (event.type === 'rights.restricted' || event.type === 'rule.removed') {
    applyToInbox(state, event);
  }
  applyUsage(state, event, state.spec);
  countQuestion(state, event);
}

/**
 * Applies one event to the state, which it changes. A log with a `task.rewound` needs `foldEvents`: before such an event, `state`
 * must be the state at the event to which the task goes back, with the usage and the rules of the events in between.
 *
 * @example
 * import type { MusterRun } from 'muster-agent';
 * import { applyEvent, initialState, type TaskState } from 'muster-agent/events';
 *
 * export async function follow(run: MusterRun, show: (state: TaskState) => void): Promise<void> {
 *   let state: TaskState | null = null;
 *   for await (const event of run) {
 *     if (!('seq' in event) || event.task !== run.id) continue;
 *     if (state === null) state = initialState(event);
 *     else applyEvent(state, event);
 *     show(state);
 *   }
 * }
 */
export function applyEvent(state: TaskState, event: TaskEvent): void {
  const { spec, activation } = state;
  // The answers come before the faults, which change `cutText` of the activation.
  applyToAnswers(state, event, { spec, cutText: activation.cutText });
  activations.applyToActivation(state.activation, event, steadyTime(state.lifetime.newest));
  // The repetition comes before the conversation, which removes the open calls of the round.
  applyToRepetition(state.repetition, event, state.conversation);
  applyToConversation(state.conversation, event);
  applyToFaults(state, event);
  applyToOwnedWork(state, event);
  applyToInbox(state, event);
  applyToTurnRules(state, event);
  applyToDelegations(state.delegations, event, state);
  state.lastSeq = event.seq;
  applyToLifetime(state.lifetime, event);
  state.epoch = event.epoch;
  switch (event.type) {
    case 'child.created':
    case 'child.resumed':
      state.hasWorkspacesBelow ||= event.workspace === true;
      return;
    case 'task.created':
    case 'child.detached':
    case 'items.reopened':
    case 'limit.reached':
    case 'reuse.missed':
    case 'shell.started':
    case 'notified':
    case 'server.logged':
    case 'rights.granted':
    case 'call.granted':
    case 'rights.restricted':
    case 'rule.removed':
    case 'mode.granted':
    case 'context.cleared':
    case 'context.dropped':
    case 'request.ended':
      return;
    case 'input.queued':
      for (const id of event.input.handed ?? []) state.handed.add(id);
      if (state.conversation.queued.some(({ id }) => id === event.input.id))
        addQuotedFiles(state, event.input.id, event.input.enclosed);
      return;
    case 'input.withdrawn':
      for (const id of event.ids) state.quotedFiles.delete(id);
      return;
    case 'task.claimed':
      applyNewOwner(state);
      return;
    case 'task.resumed':
      beginActivation(
        state,
        state.activation.number + 1,
        activations.createResumedStart(event, state),
      );
      return;
    case 'task.reused':
      state.reused = { of: event.of, at: event.at };
      recordQuotedFiles(state, [PROMPT_INPUT]);
      for (const seen of event.read) state.filesRead.set(seen.path, seen);
      return;
    case 'terms.changed': {
      const { rights, limits, model, effort } = event;
      const { agent } = state.spec;
      const before = { model: state.spec.model, failedModels: state.activation.failedModels };
      state.modelAfterCommand = findModelAfterCommand(state, event, before);
      state.modelMessage = event.forMessage ?? state.modelMessage;
      activations.applyModelChange(state.activation, state.spec.model, event);
      state.spec = { ...state.spec, rights, limits, model, agent: withEffort(agent, effort) };
      if (event.escalation !== undefined) state.acceptance.rung += 1;
      return;
    }
    case 'task.rewound':
      applyRewind(state, event);
      return;
    case 'files.restored':
      state.rewinding = null;
      return;
    case 'task.started':
      if (state.doing?.kind === 'held') state.doing = { kind: 'idle' };
      state.status = isParked(state) ? 'parked' : 'running';
      return;
    case 'turn.started':
      recordQuotedFiles(state, event.inputs);
      // From here on, the texts are those of the task itself.
      state.reused = null;
      state.doing = { kind: 'connecting' };
      return;
    case 'turn.held':
    case 'task.held':
      state.doing = createHeldActivity(event);
      return;
    case 'summary.started':
      state.doing = { kind: 'compacting' };
      return;
    case 'turn.accepted':
    case 'turn.flowing':
      state.doing = { kind: state.openTurn?.isSummary === true ? 'compacting' : 'streaming' };
      return;
    case 'turn.quiet':
      state.doing = createSilentActivity(event.waitsFor, steadyTime(event) - event.silentMs);
      return;
    case 'turn.retried':
      state.doing = { kind: 'waiting_to_retry', because: event.failure.message };
      return;
    case 'turn.ended':
      state.doing =
        toolCalls(event.message).length > 0 ? { kind: 'idle' } : createWaitingActivity(state);
      return;
    case 'turn.interrupted':
    case 'turn.failed':
      state.doing = state.interrupted === null ? { kind: 'idle' } : createWaitingActivity(state);
      return;
    case 'summary.refused':
    case 'context.handed':
    case 'context.summarised':
      state.doing = { kind: 'idle' };
      return;
    case 'call.started':
      applyToFoundTools(state.foundTools, event);
      state.runningCalls.set(event.callId, { tool: event.tool, since: steadyTime(event) });
      // A call that runs again after a crash is counted only once.
      if (!state.unknownCalls.delete(event.callId)) {
        state.toolCounts.set(event.tool, (state.toolCounts.get(event.tool) ?? 0) + 1);
      }
      updateCallActivity(state);
      return;
    case 'call.ended':
      applyToFoundTools(state.foundTools, event);
      state.runningCalls.delete(event.callId);
      state.unknownCalls.delete(event.callId);
      addCallDetails(state, event);
      updateCallActivity(state);
      return;
    case 'call.refused':
      state.unknownCalls.delete(event.callId);
      if (event.decision !== null) state.refusals.push(`${event.tool}: ${event.decision.reason}`);
      updateCallActivity(state);
      return;
    case 'question.asked':
    case 'question.answered':
      updateCallActivity(state);
      return;
    case 'task.parked':
      state.status = 'parked';
      return;
    case 'shell.ended':
      addFileChanges(state, event);
      return;
    case 'child.ended':
      state.hasWorkspacesBelow ||= event.workspace === true;
      addFileChanges(state, event);
      if (state.doing?.kind === 'waiting_for_children') state.doing = createWaitingActivity(state);
      return;
    case 'acceptance.prepared':
      state.acceptance.baseline = event.baseline;
      return;
    case 'acceptance.started':
      state.doing = { kind: 'checking' };
      return;
    case 'acceptance.checked': {
      const { acceptance } = state;
      const check = { outcome: event.outcome, rung: acceptance.rung };
      acceptance.checks = [...acceptance.checks, check];
      state.doing = { kind: 'idle' };
      return;
    }
    case 'workspace.opened': {
      const { base, isKept, notes } = event;
      state.workspace.start = { base, isKept, notes };
      state.workspace.left = null;
      return;
    }
    case 'workspace.closed':
      state.workspace.left = event.left;
      return;
    case 'hook.ran':
      if (event.about !== null && event.outcome.updatedInput !== undefined)
        state.inputsFromHooks.set(event.about, event.outcome.updatedInput);
      if (event.event === 'SubagentStart')
        state.toldToHooks = { ...state.toldToHooks, isStartTold: true };
      else if (event.event === 'SubagentStop')
        state.toldToHooks = { ...state.toldToHooks, endTurns: state.turns };
      return;
    case 'finding.posted':
      state.findings.push(toFinding(event, state));
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

/** Applies a change of the owner. The outcome of calls that ran under the previous owner is unknown. */
function applyNewOwner(state: TaskState): void {
  for (const [callId, { tool }] of state.runningCalls) state.unknownCalls.set(callId, tool);
  state.runningCalls.clear();
  updateCallActivity(state);
  if (state.end === null) state.status = isParked(state) ? 'parked' : 'queued';
}

type PostedFinding = Extract<TaskEvent, { type: 'finding.posted' }>;

function toFinding(event: PostedFinding, { spec }: TaskState): BoardFinding {
  const { finding, number, title, text, callId, ts } = event;
  const { author = { task: spec.id, agent: spec.agent.name, at: ts } } = event;
  return { finding, number, title, text, callId, author };
}

function beginActivation(
  state: TaskState,
  number: number,
  start: activations.ActivationStart,
): void {
  state.activation = activations.startActivation(number, { ...start, turns: state.turns });
  state.status = isParked(state) ? 'parked' : 'queued';
  state.toldToHooks = NOTHING_TOLD;
  state.end = null;
  state.result = '';
  state.structured = null;
  state.acceptance.checks = [];
  state.endedAt = null;
  state.lifetime.endedMs = null;
}

/** Applies a rewind. The task continues in a new activation, so its limits count anew and its first model is used again. */
function applyRewind(state: TaskState, event: Extract<TaskEvent, { type: 'task.rewound' }>): void {
  const { seq, stint, dropped, files, only } = event;
  const [model] = state.activation.failedModels;
  if (model !== undefined) state.spec = { ...state.spec, model };
  state.rewinding = { seq, dropped, files, ...(only === undefined ? {} : { only }) };
  state.parkedOn = [];
  if (state.end === null) {
    beginActivation(state, stint, { since: steadyTime(event), by: 'user', callId: null });
  } else state.activation = { ...state.activation, number: stint };
}

/** Creates the activity of a task that waits for its children or for an input. */
function createWaitingActivity({ openChildren }: TaskState): Activity {
  return { kind: openChildren.size > 0 ? 'waiting_for_children' : 'idle' };
}

/** Makes the activity and the status of the task follow from its running calls and open questions. */
function updateCallActivity(state: TaskState): void {
  state.doing = state.interrupted === null ? null : createWaitingActivity(state);
  if (state.status === 'running' || state.status === 'parked') {
    state.status = isParked(state) ? 'parked' : 'running';
  }
}
