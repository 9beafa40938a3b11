import { clockShift, systemClock, type Clock } from '../../../base/clock.ts';
import type { TaskEvent } from '../../../protocol/event.ts';
import { openQuestions } from '../../../protocol/inbox-state.ts';
import type { TaskSignal } from '../../../protocol/signal.ts';
import type { TaskState } from '../../../protocol/state.ts';
import type { Asked } from './asked.ts';
import { hasEnded, taskRow, type TaskRow } from './task-row.ts';
import {
  addStreamed,
  applyToTranscript,
  beginTask,
  emptyTranscript,
  type Transcript,
} from './transcript.ts';

/** Tasks that are kept in view: of more, those that ended longest ago give way. */
const MOST_ROWS = 600;

/** What there is to see of a tree of tasks: a fold of their events, and of what streams in. */
export interface UiState {
  /** The clock of this process. */
  readonly clock: Clock;
  /** The main task; null: the conversation has not begun. */
  root: string | null;
  /** By id, in the order in which they were made. */
  readonly rows: Map<string, TaskRow>;
  /** Ended ones that gave way. */
  droppedRows: number;
  /** Ids of those that nobody waits for. */
  readonly background: Set<string>;
  /** What waits for a person, by id, the oldest first. */
  readonly questions: Map<string, Asked>;
  /** Of the main task; before it has begun, what was said of the start. */
  readonly main: Transcript;
  /** Of another one that is looked into. */
  opened: Transcript | null;
}

export function emptyUiState(clock: Clock = systemClock): UiState {
  return {
    clock,
    root: null,
    rows: new Map(),
    droppedRows: 0,
    background: new Set(),
    questions: new Map(),
    main: emptyTranscript(null),
    opened: null,
  };
}

/** `state`: the fold of the task's log with the event. */
export function applyToUi(ui: UiState, event: TaskEvent, state: TaskState): void {
  const { id } = state.spec;
  if (ui.root === null) {
    ui.root = id;
    ui.main.task = id;
  }
  ui.rows.set(id, taskRow(state, clockShift(ui.clock)));
  const transcript = transcriptOf(ui, id);
  if (transcript !== null) applyToTranscript(transcript, event);
  switch (event.type) {
    case 'task.created':
      dropOldRows(ui);
      return;
    case 'child.created':
    case 'child.resumed':
      if (event.background) ui.background.add(event.child);
      else ui.background.delete(event.child);
      return;
    case 'child.detached':
      ui.background.add(event.child);
      return;
    case 'question.asked':
    case 'question.answered':
    case 'call.ended':
    case 'call.refused':
    case 'task.ended':
    case 'task.claimed':
      updateQuestions(ui, state);
      return;
    default:
  }
}

export function applySignal(ui: UiState, signal: TaskSignal): void {
  const transcript = transcriptOf(ui, signal.task);
  if (transcript === null) return;
  if (signal.type === 'text_delta') addStreamed(transcript, 'text', signal.text);
  if (signal.type === 'reasoning_delta') addStreamed(transcript, 'thinking', signal.text);
}

/** Another conversation is about to begin: what was said stays in sight, and its tasks do not. */
export function forgetTree(ui: UiState): void {
  ui.root = null;
  ui.rows.clear();
  ui.droppedRows = 0;
  ui.background.clear();
  ui.questions.clear();
  ui.opened = null;
  beginTask(ui.main);
}

/** Of an earlier conversation all is about to be shown, and nothing of another one. */
export function emptyMain({ main }: UiState): void {
  main.blocks.length = 0;
  main.waiting.length = 0;
  main.dropped = 0;
  main.stream.text = '';
  main.stream.thinking = '';
}

/** Another conversation than a new one: what events and logs tell of it is shown from here on. */
export function beginTree(ui: UiState, root: string): void {
  ui.root = root;
  ui.main.task = root;
}

/** From here on its conversation is kept, too, in the place of another one. */
export function openTranscript(ui: UiState, task: string): Transcript {
  ui.opened = emptyTranscript(task);
  return ui.opened;
}

/** What is looked at: the conversation, or the task that is open. */
export function shownTranscript({ main, opened }: UiState, openTask: string | null): Transcript {
  return openTask === null || opened === null ? main : opened;
}

function transcriptOf({ main, opened }: UiState, task: string): Transcript | null {
  if (main.task === task) return main;
  return opened?.task === task ? opened : null;
}

/** Those of a task that are open by now. */
function updateQuestions(ui: UiState, state: TaskState): void {
  const open = openQuestions(state);
  for (const [id, { task }] of ui.questions) {
    if (task === state.spec.id && !open.some((each) => each.id === id)) ui.questions.delete(id);
  }
  for (const question of open) {
    if (!ui.questions.has(question.id)) ui.questions.set(question.id, question);
  }
}

function dropOldRows(ui: UiState): void {
  if (ui.rows.size < MOST_ROWS * 1.25) return;
  const parents = new Set([...ui.rows.values()].map(({ parent }) => parent));
  for (const [id, row] of ui.rows) {
    if (ui.rows.size <= MOST_ROWS) return;
    if (!hasEnded(row) || parents.has(id) || id === ui.root) continue;
    ui.rows.delete(id);
    ui.background.delete(id);
    ui.droppedRows += 1;
  }
}

/** Whether the conversation had not come to rest when the process that it was in ended, or waits for an answer. */
export function isCutOff(ui: UiState): boolean {
  const status = ui.root === null ? undefined : ui.rows.get(ui.root)?.status;
  return status === 'interrupted' || status === 'parked';
}

/**
 * A task as it stands by its log, where no event tells it: one of earlier, or one that its process has left.
 * `isAsking`: whether its open questions can be answered.
 */
export function placeTask(
  ui: UiState,
  state: TaskState,
  { isAsking }: { readonly isAsking: boolean },
): void {
  const shift = clockShift(ui.clock);
  const row = taskRow(state, shift);
  const { id, status } = row;
  const isLeft = row.endedAt === null && (status === 'interrupted' || status === 'parked');
  ui.rows.set(id, isLeft ? { ...row, endedAt: state.lifetime.newest.ts - shift } : row);
  for (const [child, { background }] of state.children) {
    if (background) ui.background.add(child);
    else ui.background.delete(child);
  }
  if (isAsking) updateQuestions(ui, state);
}

/**
 * Why somebody who looks elsewhere is to be called: a task asks, or one that nobody waits for has ended. Null:
 * there is no need.
 */
export function callsForAttention(
  ui: Pick<UiState, 'background' | 'rows'>,
  event: TaskEvent,
): string | null {
  if (event.type === 'question.asked') {
    const { chain, kind, tool } = event.question;
    return `${chain.at(-1) ?? ''} asks${kind === 'permission' ? ` to run ${tool}` : ''}`;
  }
  if (event.type !== 'child.ended' || !ui.background.has(event.child)) return null;
  const row = ui.rows.get(event.child);
  return `${row?.agent ?? 'a task'} ${event.status}${row === undefined ? '' : `: ${row.description}`}`;
}
