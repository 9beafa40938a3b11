import { unreachable } from '../base/errors.ts';
import { applyToConversation, emptyConversation, type Conversation } from './conversation.ts';
import type { EndReason, TaskEvent } from './event.ts';
import { messageText } from './message.ts';
import { addUsage, NO_USAGE, type Usage } from './model.ts';
import type { TaskStatus } from './result.ts';
import type { TaskSpec } from './task.ts';
import type { CallFacts, CommandRun, FileChange, FileSeen, TodoItem } from './tool.ts';

/** What a running task is doing, for every view. */
export type Activity =
  | { readonly kind: 'idle' }
  | { readonly kind: 'connecting' }
  | { readonly kind: 'streaming' }
  | { readonly kind: 'waiting_to_retry'; readonly because: string }
  | { readonly kind: 'tools'; readonly running: readonly string[] };

/** A task as its log tells it: the one state that the engine and every view share. */
export interface TaskState {
  readonly spec: TaskSpec;
  status: TaskStatus;
  activity: Activity;
  readonly conversation: Conversation;
  /** Answers that ended. */
  turns: number;
  usage: Usage;
  /** Null once an answer came for which no price is known. */
  costUsd: number | null;
  /** Calls that ran, by canonical tool name. */
  readonly toolCounts: Map<string, number>;
  /** Names of the calls under way, by call id. */
  readonly runningCalls: Map<string, string>;
  readonly children: string[];
  readonly filesRead: Map<string, FileSeen>;
  /** By the task and by all below it. */
  readonly filesChanged: Map<string, FileChange>;
  /** The hash of each file as this task last read or wrote it; null: it deleted the file. */
  readonly knownFiles: Map<string, string | null>;
  readonly commands: CommandRun[];
  readonly refusals: string[];
  readonly models: string[];
  readonly warnings: string[];
  todos: readonly TodoItem[];
  /** The text of the newest answer that had any. */
  lastText: string;
  end: EndReason | null;
  result: string;
  readonly createdAt: number;
  startedAt: number | null;
  endedAt: number | null;
  /** When the newest event was written. */
  updatedAt: number;
  lastSeq: number;
  epoch: number;
}

/** The state after a log's first event. Throws when that is not `task.created`: it is no task log. */
export function initialState(first: TaskEvent): TaskState {
  if (first.type !== 'task.created') {
    throw new Error(`a task log begins with task.created, not ${first.type}`);
  }
  const state: TaskState = {
    spec: first.spec,
    status: 'queued',
    activity: { kind: 'idle' },
    conversation: emptyConversation(),
    turns: 0,
    usage: NO_USAGE,
    costUsd: 0,
    toolCounts: new Map(),
    runningCalls: new Map(),
    children: [],
    filesRead: new Map(),
    filesChanged: new Map(),
    knownFiles: new Map(),
    commands: [],
    refusals: [],
    models: [],
    warnings: [],
    todos: [],
    lastText: '',
    end: null,
    result: '',
    createdAt: first.ts,
    startedAt: null,
    endedAt: null,
    updatedAt: first.ts,
    lastSeq: first.seq,
    epoch: first.epoch,
  };
  applyToConversation(state.conversation, first);
  return state;
}

/** The fold: the whole log in order gives the state. Throws on an empty log. */
export function foldEvents(events: Iterable<TaskEvent>): TaskState {
  let state: TaskState | undefined;
  for (const event of events) {
    if (state === undefined) state = initialState(event);
    else applyEvent(state, event);
  }
  if (state === undefined) throw new Error('a task log with no event');
  return state;
}

export function applyEvent(state: TaskState, event: TaskEvent): void {
  state.lastSeq = event.seq;
  state.updatedAt = event.ts;
  state.epoch = event.epoch;
  applyToConversation(state.conversation, event);
  switch (event.type) {
    case 'task.created':
    case 'input.queued':
      return;
    case 'task.claimed':
      state.runningCalls.clear();
      state.activity = { kind: 'idle' };
      return;
    case 'task.started':
      state.status = 'running';
      state.startedAt ??= event.ts;
      return;
    case 'turn.started':
      state.activity = { kind: 'connecting' };
      return;
    case 'turn.accepted':
      state.activity = { kind: 'streaming' };
      return;
    case 'turn.retried':
      state.usage = addUsage(state.usage, event.usage);
      state.activity = { kind: 'waiting_to_retry', because: event.failure.message };
      return;
    case 'turn.ended':
      applyAnswer(state, event);
      return;
    case 'turn.failed':
      state.usage = addUsage(state.usage, event.usage);
      state.activity = { kind: 'idle' };
      return;
    case 'call.started':
      state.runningCalls.set(event.callId, event.tool);
      state.toolCounts.set(event.tool, (state.toolCounts.get(event.tool) ?? 0) + 1);
      showRunningCalls(state);
      return;
    case 'call.ended':
      state.runningCalls.delete(event.callId);
      addFacts(state, event.facts);
      showRunningCalls(state);
      return;
    case 'call.refused':
      if (event.decision !== null) state.refusals.push(`${event.tool}: ${event.decision.reason}`);
      return;
    case 'child.created':
      state.children.push(event.child);
      return;
    case 'child.ended':
      addChanges(state, event.changed);
      return;
    case 'todos.set':
      state.todos = event.items;
      return;
    case 'limit.reached':
      return;
    case 'warning':
      state.warnings.push(event.message);
      return;
    case 'task.ended':
      state.status = event.end.status;
      state.activity = { kind: 'idle' };
      state.runningCalls.clear();
      state.end = event.end;
      state.result = event.result;
      state.endedAt = event.ts;
      return;
    default:
      unreachable(event);
  }
}

function applyAnswer(state: TaskState, event: Extract<TaskEvent, { type: 'turn.ended' }>): void {
  state.activity = { kind: 'idle' };
  state.turns = event.turn;
  if (!state.models.includes(event.model)) state.models.push(event.model);
  state.usage = addUsage(state.usage, event.usage);
  state.costUsd =
    state.costUsd === null || event.costUsd === null ? null : state.costUsd + event.costUsd;
  const text = messageText(event.message);
  if (text.trim() !== '') state.lastText = text;
}

function showRunningCalls(state: TaskState): void {
  const running = [...state.runningCalls.values()];
  state.activity = running.length === 0 ? { kind: 'idle' } : { kind: 'tools', running };
}

function addFacts(state: TaskState, facts: CallFacts): void {
  for (const seen of facts.read ?? []) {
    state.filesRead.set(seen.path, seen);
    state.knownFiles.set(seen.path, seen.hash);
  }
  for (const { path, after } of facts.changed ?? []) state.knownFiles.set(path, after);
  addChanges(state, facts.changed ?? []);
  state.commands.push(...(facts.commands ?? []));
}

/** A file changed twice is one change: from its first `before` to its last `after`. */
function addChanges(state: TaskState, changes: readonly FileChange[]): void {
  for (const change of changes) {
    const first = state.filesChanged.get(change.path);
    const before = first === undefined ? change.before : first.before;
    state.filesChanged.set(change.path, { ...change, before });
  }
}
