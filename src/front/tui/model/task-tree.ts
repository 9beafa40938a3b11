import { measureClockShift, systemClock, type Clock } from '../../../base/clock.ts';
import type { TaskSignal } from '../../../protocol/signal.ts';
import { placeShells, type ShellRow } from './shell-row.ts';
import { hasEnded, taskRow, type TreeTask } from './task-row.ts';
import { addProgress, markRefused } from './call-entries.ts';
import { forgetOutputs, keepOutput, showOutputs, type CallOutputs } from './call-outputs.ts';
import { addStreamed, emptyStream, endsAnswer, type AnswerStream } from './answer-stream.ts';
import {
  applyToTranscript,
  beginTask,
  copyTranscript,
  emptyTranscript,
  type Transcript,
} from './transcript.ts';
import type { TaskEvent } from '../../../protocol/events/event.ts';
import { openQuestions } from '../../../protocol/state/questions.ts';
import type { TaskState } from '../../../protocol/state/task-state.ts';
import type { Question } from '../../../protocol/question.ts';

/** The maximum number of tasks in the tree. If there are more, the oldest ended tasks are removed and only counted. */
const MAX_ROWS = 600;

/** The maximum number of answers out of view that are kept while they are written. */
const MAX_STREAMS = 64;

/**
 * A tree of tasks: the fold of their events and of the text that streams in. The functions of this file change a
 * tree in place, since a log can hold very many events; `update` gives them a copy.
 */
export interface DisplayedTree {
  /** The clock of this process. */
  readonly clock: Clock;
  /** The main task; null before the conversation has started. */
  root: string | null;
  /** The rows by the ids of their tasks, in the order in which the tasks were created. */
  readonly rows: Map<string, TreeTask>;
  /** The number of ended tasks that are only counted. */
  droppedRows: number;
  /** The background shells of all tasks by their ids, in the order in which they were started. */
  readonly shells: Map<string, ShellRow>;
  /** Ids of the tasks that nobody waits for. */
  readonly background: Set<string>;
  /** Questions that wait for the user, by id, the oldest first. */
  readonly questions: Map<string, PendingQuestion>;
  /** The conversation of the main task; before it has started, the notes of the start. */
  main: Transcript;
  /** The conversation of another task that is open. */
  opened: Transcript | null;
  /** The answers that tasks out of view are writing, by the ids of the tasks. */
  readonly streams: Map<string, AnswerStream>;
  /** The output of running calls of the tasks below the main task. */
  readonly outputs: CallOutputs;
}

export function emptyTaskTree(clock: Clock = systemClock): DisplayedTree {
  return {
    clock,
    root: null,
    rows: new Map(),
    droppedRows: 0,
    shells: new Map(),
    background: new Set(),
    questions: new Map(),
    main: emptyTranscript(null),
    opened: null,
    streams: new Map(),
    outputs: new Map(),
  };
}

/**
 * Copies a tree, so that the copy can be changed without an effect on the original. For a change of one task, only the
 * transcript of that task is copied, because thousands of events can arrive.
 */
export function copyTree(tree: DisplayedTree, task: string | null = null): DisplayedTree {
  const copy = (transcript: Transcript): Transcript =>
    task === null || transcript.task === null || transcript.task === task
      ? copyTranscript(transcript)
      : transcript;
  return {
    ...tree,
    rows: new Map(tree.rows),
    shells: new Map(tree.shells),
    background: new Set(tree.background),
    questions: new Map(tree.questions),
    main: copy(tree.main),
    opened: tree.opened === null ? null : copy(tree.opened),
    streams: new Map(tree.streams),
    outputs: new Map(tree.outputs),
  };
}

/** Adds an event to a tree. `state` is the fold of the task's log, this event included. */
export function applyToTree(tree: DisplayedTree, event: TaskEvent, state: TaskState): void {
  const { id } = state.spec;
  if (tree.root === null) beginTree(tree, id);
  const row = taskRow(state, measureClockShift(tree.clock));
  // Later events of an ended task say nothing about its changes. A task that continues works in an open workspace.
  const landing = row.endedAt === null ? 'open' : (tree.rows.get(id)?.landing ?? 'open');
  tree.rows.set(id, { ...row, landing });
  const transcript = transcriptOf(tree, id);
  if (transcript !== null) applyToTranscript(transcript, event);
  if (endsAnswer(event)) tree.streams.delete(id);
  forgetOutputs(tree.outputs, event);
  switch (event.type) {
    case 'task.created':
      dropOldRows(tree);
      return;
    case 'child.created':
    case 'child.resumed':
      if (event.background) tree.background.add(event.child);
      else tree.background.delete(event.child);
      return;
    case 'child.detached':
      tree.background.add(event.child);
      return;
    case 'child.ended':
      markRefusals(tree, tree.rows.get(event.child));
      return;
    case 'shell.started':
    case 'shell.ended':
      placeShells(tree.shells, state, measureClockShift(tree.clock));
      return;
    case 'question.asked':
    case 'question.answered':
    case 'call.ended':
    case 'call.refused':
    case 'task.ended':
    case 'task.claimed':
      updateQuestions(tree, state);
      return;
    default:
  }
}

/** Adds a piece of an answer that is being written, or the news that a request is sent. */
export function applySignalToTree(tree: DisplayedTree, signal: TaskSignal): void {
  if (signal.type === 'request_sent') {
    awaitFirstToken(tree, signal.task);
    return;
  }
  const transcript = transcriptOf(tree, signal.task);
  if (signal.type === 'progress') {
    if (transcript !== null) addProgress(transcript, signal.callId, signal);
    if (signal.task !== tree.root) keepOutput(tree.outputs, signal);
  } else if (signal.type === 'text_delta' || signal.type === 'reasoning_delta') {
    const stream = transcript?.stream ?? streamOutOfView(tree, signal.task);
    if (stream === null) return;
    addStreamed(stream, signal.type === 'text_delta' ? 'text' : 'thinking', signal.text);
  }
}

/** Returns a copy of the stream of a task out of view, which the tree holds from now on; null if it holds too many. */
function streamOutOfView({ streams }: DisplayedTree, task: string): AnswerStream | null {
  const known = streams.get(task);
  if (known === undefined && streams.size === MAX_STREAMS) return null;
  const stream = { ...(known ?? emptyStream()) };
  streams.set(task, stream);
  return stream;
}

/** Shows that a task waits for the first token and no longer for a connection, until an event says more. */
function awaitFirstToken({ rows, clock }: DisplayedTree, task: string): void {
  const row = rows.get(task);
  if (row?.activity.kind !== 'connecting') return;
  const since = clock.now() - measureClockShift(clock);
  rows.set(task, { ...row, activity: { kind: 'waiting_for_first_token', since } });
}

/**
 * Adds a task that was read from its log because no event reports it: a task of an earlier run, or a task whose process
 * has gone. `isAsking` says whether its open questions can be answered.
 */
export function placeTask(
  tree: DisplayedTree,
  state: TaskState,
  { isAsking }: { readonly isAsking: boolean },
): void {
  const shift = measureClockShift(tree.clock);
  const row = taskRow(state, shift);
  const { id, status } = row;
  const hasNoProcess = row.endedAt === null && (status === 'interrupted' || status === 'parked');
  tree.rows.set(id, hasNoProcess ? { ...row, endedAt: state.lifetime.newest.ts - shift } : row);
  markRefusals(tree, row);
  placeShells(tree.shells, state, shift);
  for (const [child, { background }] of state.children) {
    if (background) tree.background.add(child);
    else tree.background.delete(child);
  }
  if (isAsking) updateQuestions(tree, state);
}

/** Marks a task in the transcript of its parent if the user refused a call of the task. */
function markRefusals(tree: DisplayedTree, row: TreeTask | undefined): void {
  if (row === undefined || row.parent === null || row.refusedCount === 0) return;
  const transcript = transcriptOf(tree, row.parent);
  if (transcript !== null) markRefused(transcript, row.id);
}

/**
 * Shows the transcript of a task beside the conversation, with the answer that the task is writing and the output of its
 * running calls.
 */
export function openTranscript(tree: DisplayedTree, opened: Transcript): void {
  const { task } = opened;
  const stream = task === null ? undefined : tree.streams.get(task);
  if (task !== null) tree.streams.delete(task);
  tree.opened = stream === undefined ? opened : { ...opened, stream: { ...stream } };
  showOutputs(tree.outputs, tree.opened);
  for (const row of tree.rows.values()) if (row.parent === opened.task) markRefusals(tree, row);
}

/** Shows only the conversation. The answer that the closed task is writing is kept until it is complete. */
export function closeTranscript(tree: DisplayedTree): void {
  const { task = null, stream = null } = tree.opened ?? {};
  const isWriting = stream !== null && (stream.text !== '' || stream.thinking !== '');
  if (task !== null && isWriting) tree.streams.set(task, stream);
  tree.opened = null;
}

/** Removes all tasks from a tree, before another conversation starts. The entries of the transcript stay in view. */
export function forgetTree(tree: DisplayedTree): void {
  tree.root = null;
  tree.rows.clear();
  tree.shells.clear();
  tree.droppedRows = 0;
  tree.background.clear();
  tree.questions.clear();
  tree.opened = null;
  tree.streams.clear();
  tree.outputs.clear();
  beginTask(tree.main);
}

/** Removes all tasks and all entries from a tree, before another conversation is shown in full. */
export function emptyTree(tree: DisplayedTree): void {
  forgetTree(tree);
  const { main } = tree;
  main.entries.length = 0;
  main.waiting.length = 0;
  main.dropped = 0;
  main.stream.text = '';
  main.stream.thinking = '';
}

/** Makes a task the main task, whose events and log are shown from now on. */
export function beginTree(tree: DisplayedTree, root: string): void {
  tree.root = root;
  tree.main.task = root;
}

/** Returns the transcript of a task; null if it is not shown. */
export function transcriptOf({ main, opened }: DisplayedTree, task: string): Transcript | null {
  if (main.task === task) return main;
  return opened?.task === task ? opened : null;
}

/** Replaces the questions of a task by its questions that are open now. */
function updateQuestions(tree: DisplayedTree, state: TaskState): void {
  const open = openQuestions(state);
  for (const [id, { task }] of tree.questions) {
    if (task === state.spec.id && !open.some((each) => each.id === id)) tree.questions.delete(id);
  }
  for (const question of open) {
    if (!tree.questions.has(question.id)) tree.questions.set(question.id, question);
  }
}

function dropOldRows(tree: DisplayedTree): void {
  if (tree.rows.size < MAX_ROWS * 1.25) return;
  const parents = new Set([...tree.rows.values()].map(({ parent }) => parent));
  for (const [id, row] of tree.rows) {
    if (tree.rows.size <= MAX_ROWS) return;
    if (!hasEnded(row) || parents.has(id) || id === tree.root) continue;
    tree.rows.delete(id);
    tree.background.delete(id);
    tree.droppedRows += 1;
  }
}

/** Returns the row of the main task; undefined if there is none. */
export function rootRow({ root, rows }: DisplayedTree): TreeTask | undefined {
  return root === null ? undefined : rows.get(root);
}

/** Whether the conversation's process ended while it was at work, or while it waited for an answer. */
export function isCutOff(tree: DisplayedTree): boolean {
  const status = rootRow(tree)?.status;
  return status === 'interrupted' || status === 'parked';
}

/**
 * Returns the text of a notification for a user who looks at another window: a task asks something, or a background
 * task has ended. Returns null for every other event.
 */
export function attentionText(
  tree: Pick<DisplayedTree, 'background' | 'rows'>,
  event: TaskEvent,
): string | null {
  if (event.type === 'question.asked') {
    const { chain, kind, tool } = event.question;
    return `${chain.at(-1) ?? ''} asks${kind === 'permission' ? ` to run ${tool}` : ''}`;
  }
  if (event.type !== 'child.ended' || !tree.background.has(event.child)) return null;
  const row = tree.rows.get(event.child);
  return `${row?.agent ?? 'a task'} ${event.status}${row === undefined ? '' : `: ${row.description}`}`;
}

/** A yes-or-no question of the UI itself, before it does something that the user typed. */
export interface Confirmation {
  readonly kind: 'confirm';
  readonly id: string;
  /** Always empty, because no task asks this question. */
  readonly task: '';
  readonly title: string;
  readonly lines: readonly string[];
}

/** Anything that the user can be asked. */
export type PendingQuestion = Question | Confirmation;

/** A row of the tree. */
export interface TaskTreeRow {
  readonly row: TreeTask;
  /** The number of levels below the main task. */
  readonly level: number;
  readonly isBackground: boolean;
}

/** Lists the rows of all tasks, each below its parent. The children of a parent are in the order of their creation. */
export function treeRows(tree: DisplayedTree): readonly TaskTreeRow[] {
  const below = Map.groupBy(tree.rows.values(), ({ parent }) => parent);
  const rows: TaskTreeRow[] = [];
  const visit = (row: TreeTask, level: number): void => {
    rows.push({ row, level, isBackground: tree.background.has(row.id) });
    for (const child of below.get(row.id) ?? []) visit(child, level + 1);
  };
  const root = rootRow(tree);
  if (root !== undefined) visit(root, 0);
  return rows;
}

/** Lists the rows without the tasks that ended before the main task began its current work. */
export function currentRows(tree: DisplayedTree): readonly TaskTreeRow[] {
  const root = rootRow(tree);
  if (root === undefined) return [];
  return treeRows(tree).filter(
    ({ row }) => row === root || row.endedAt === null || row.endedAt >= root.since,
  );
}

/** Whether any task is at work. */
export function hasWork(tree: DisplayedTree): boolean {
  for (const row of tree.rows.values()) if (!hasEnded(row)) return true;
  return false;
}

/**
 * Chooses at most `maxRows` rows and keeps their order. Tasks at work are preferred to ended tasks, and tasks that
 * ended recently to older ones.
 */
export function paneRows(rows: readonly TaskTreeRow[], maxRows: number) {
  const byWeight = rows
    .map((each, index) => ({ each, index, weight: weightOf(each) }))
    .toSorted((a, b) => a.weight - b.weight || a.index - b.index);
  const shown = byWeight.slice(0, maxRows).toSorted((a, b) => a.index - b.index);
  const hidden = byWeight.slice(maxRows).map(({ each }) => each.row);
  const ended = hidden.filter(hasEnded).length;
  return {
    shown: shown.map(({ each }) => each),
    hidden: { atWork: hidden.length - ended, ended },
  };
}

/** Returns the weight of a row. Rows with a smaller weight are preferred. */
function weightOf({ row, level }: TaskTreeRow): number {
  if (level === 0) return -2;
  if (row.openQuestionCount > 0) return -1;
  return row.endedAt === null ? 0 : Number.MAX_SAFE_INTEGER - row.endedAt;
}

/** Finds the tasks that Ctrl+B sends to the background: the open task, or all tasks that the main task waits for. */
export function findForegroundTasks(
  { rows, background, root }: Pick<DisplayedTree, 'rows' | 'background' | 'root'>,
  openTask: string | null,
): readonly string[] {
  if (openTask !== null) return background.has(openTask) ? [] : [openTask];
  return [...rows.values()]
    .filter((row) => row.parent === root && !hasEnded(row) && !background.has(row.id))
    .map(({ id }) => id);
}
