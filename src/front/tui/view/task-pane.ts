import { activityText } from '../../../api/index.ts';
import { sanitizeLine } from '../../../base/terminal-text.ts';
import { plural } from '../../../base/text.ts';
import { showLanding } from '../../../protocol/state/workspace-view.ts';
import { hasEnded, type TreeTask } from '../model/task-row.ts';
import { paneRows, type TaskTreeRow } from '../model/task-tree.ts';
import { visibleWidth, joinEnds, fitLine } from './fit.ts';
import { shortCost, shortTokens, shortTime } from './numbers.ts';
import type { Pen } from './pen.ts';
import type { TaskStatus } from '../../../protocol/result.ts';
import type { TextRole } from './theme.ts';

export interface PaneStyle {
  readonly width: number;
  /** The exact number of lines. */
  readonly height: number;
  /** Milliseconds of the monotonic clock. */
  readonly now: number;
  /** The selected task; null if the tree does not have the focus. */
  readonly chosen: string | null;
  /** The number of ended tasks that are not in the tree any more. */
  readonly dropped: number;
}

/**
 * Draws the tree in exactly `height` lines. Tasks that do not fit are only counted. While the tree has the focus, it
 * scrolls with the selected task instead, and its last line shows the position.
 */
export function taskPane(
  rows: readonly TaskTreeRow[],
  style: PaneStyle,
  pen: Pen,
): readonly string[] {
  const { width, height, chosen } = style;
  if (height <= 0) return [];
  const main = rows.find(({ level }) => level === 0)?.row ?? null;
  const isCut = rows.length > height;
  const room = isCut ? height - 1 : height;
  const { shown, rest } =
    chosen === null ? mostUrgentRows(rows, room) : rowsAround(rows, room, style);
  const lines = shown.map((each) => taskLine(each, main, style, pen));
  if (isCut) lines.push(fitLine(pen.prose('dim', `  … ${rest}`), width));
  while (lines.length < height) lines.push('');
  return lines;
}

/** The rows that are shown, and a description of the others. */
interface VisibleRows {
  readonly shown: readonly TaskTreeRow[];
  readonly rest: string;
}

function mostUrgentRows(rows: readonly TaskTreeRow[], room: number): VisibleRows {
  const { shown, hidden } = paneRows(rows, room);
  const parts = [
    ...(hidden.atWork === 0 ? [] : [`${hidden.atWork} more at work`]),
    ...(hidden.ended === 0 ? [] : [`${hidden.ended} more ended`]),
  ];
  return { shown, rest: `${parts.join(', ')}: /tasks` };
}

/** Returns the `room` rows around the selected task, and their position among all rows. */
function rowsAround(
  rows: readonly TaskTreeRow[],
  room: number,
  { chosen, dropped }: Pick<PaneStyle, 'chosen' | 'dropped'>,
): VisibleRows {
  const index = rows.findIndex(({ row }) => row.id === chosen);
  const first = Math.max(0, Math.min(index - Math.floor(room / 2), rows.length - room));
  const shown = rows.slice(first, first + room);
  const older = dropped === 0 ? '' : `, ${dropped} older in the logs`;
  return { shown, rest: `${first + 1} to ${first + shown.length} of ${rows.length}${older}` };
}

/** The minimum width for ids. A narrower terminal has no room for them; `/tasks` shows them. */
const MIN_WIDTH_FOR_IDS = 60;

/** The maximum width of a line. On wider lines the figures would be too far from the name of their task. */
const MAX_WIDTH = 140;

/** The minimum number of columns for the last line of an answer. */
const MIN_LAST_LINE = 12;

/**
 * Draws a task: its state, agent, id, description and activity. Its figures get the columns that are left, and the last
 * line of its answer gets those that are left after that.
 */
function taskLine(
  { row, level, isBackground }: TaskTreeRow,
  main: TreeTask | null,
  { width: terminalWidth, now, chosen }: PaneStyle,
  pen: Pen,
): string {
  const width = Math.min(terminalWidth, MAX_WIDTH);
  const { sign, role } = statusSign(row);
  const isChosen = row.id === chosen;
  const head = [
    `${isChosen ? pen.paint('accent', '▶') : ' '}${'  '.repeat(Math.min(level, 6))}${pen.paint(role, sign)}`,
    pen.prose(isChosen ? 'strong' : 'text', row.agent),
    ...(level === 0 || width < MIN_WIDTH_FOR_IDS ? [] : [pen.prose('dim', row.id.slice(0, 6))]),
    ...(isBackground ? [pen.prose('dim', 'bg')] : []),
    ...(width < MIN_WIDTH_FOR_IDS ? [] : [...workspaceMark(row, pen), ...boardMark(row, pen)]),
  ].join(' ');
  const does = pen.prose(role, activityLine(row, now));
  const about = level === 0 ? '' : pen.prose('text', row.description);
  const separator = about === '' ? 0 : SEPARATOR_WIDTH;
  const wanted = visibleWidth(head) + 1 + visibleWidth(about) + separator + visibleWidth(does);
  const right = figures(row, main, now, width - stableWidth(wanted));
  const room = width - (right === '' ? 0 : visibleWidth(right) + 1) - visibleWidth(head) - 1;
  const left = `${head} ${joinActivity(about, does, room, pen)}`;
  const free = width - visibleWidth(left) - visibleWidth(right) - 2;
  const quoted =
    // While the next answer is written, this is the end of an earlier one.
    row.lastLine === '' || row.activity.kind === 'streaming' || free < MIN_LAST_LINE
      ? ''
      : ` ${fitLine(pen.prose('dim', `“${row.lastLine}”`), free)}`;
  return joinEnds(`${left}${quoted}`, pen.prose('dim', right), width);
}

/** Marks a task that works in a workspace of its own; after its end, with what has become of its changes. */
function workspaceMark(row: TreeTask, pen: Pen): readonly string[] {
  if (row.workspace === null) return [];
  const { kind, state } = showLanding(row.workspace, row.landing);
  if (!hasEnded(row)) return [pen.prose('dim', `[${kind}]`)];
  const role = row.landing === 'unfinished' ? 'warn' : 'dim';
  return [pen.prose(role, `[${kind}: ${state}]`)];
}

/** Marks a task that has posted findings on the board of the tree. */
function boardMark({ findingCount }: TreeTask, pen: Pen): readonly string[] {
  return findingCount === 0 ? [] : [pen.prose('dim', `[${plural(findingCount, 'finding')}]`)];
}

/** Rounds a width up, so that the figures do not come and go with each digit of an activity. */
function stableWidth(width: number): number {
  return Math.ceil(width / 6) * 6;
}

/** The minimum number of columns for an activity. In fewer columns it can't be understood. */
const MIN_DOING = 6;

/** Draws the description and the activity in `room` columns. The description gets at most half if both do not fit. */
function joinActivity(about: string, does: string, room: number, pen: Pen): string {
  if (about === '') return fitLine(does, room);
  const wanted = Math.min(visibleWidth(does), Math.floor(room / 2));
  const maxAbout = Math.max(room - wanted - SEPARATOR_WIDTH, Math.min(room, MIN_ABOUT));
  const shown = fitLine(about, maxAbout);
  const left = room - visibleWidth(shown) - SEPARATOR_WIDTH;
  if (left < Math.min(MIN_DOING, visibleWidth(does))) return fitLine(about, room);
  return `${shown} ${pen.prose('dim', '·')} ${fitLine(does, left)}`;
}

const SEPARATOR_WIDTH = 3;
const MIN_ABOUT = 10;

/**
 * Draws the figures of a task that fit into `room` columns. Each figure has its own columns, so that the figures do not
 * move when they grow. The figures on the left are left out first; the time, which comes last, is left out last. The
 * columns of figures that are still zero are left to the text.
 */
function figures(row: TreeTask, main: TreeTask | null, now: number, room: number): string {
  const all = [
    shortTime((row.endedAt ?? now) - row.since).padStart(5),
    (row.tokens === 0 ? '' : `${shortTokens(row.tokens)} tok`).padStart(9),
    (row.turns === 0 ? '' : plural(row.turns, 'turn')).padStart(8),
    (row.costUsd === 0 ? '' : shortCost(row.costUsd)).padStart(7),
    differencesFrom(main, row),
  ];
  const taken = all.map((_, index) =>
    all
      .slice(0, all.length - index)
      .toReversed()
      .join(' ')
      .trimStart(),
  );
  return taken.find((text) => text.length + 1 <= room) ?? '';
}

/** Names the mode and the model of a task where they differ from those of the main task. */
function differencesFrom(main: TreeTask | null, { mode, model }: TreeTask): string {
  return [
    ...(main === null || mode === main.mode ? [] : [mode]),
    ...(main === null || model === main.model ? [] : [sanitizeLine(model)]),
  ].join(' ');
}

/** Describes the current activity of a task, or the reason why it does nothing. */
export function activityLine(row: TreeTask, now: number): string {
  if (hasEnded(row)) {
    const refused = row.refusedCount === 0 ? '' : `, ${plural(row.refusedCount, 'call')} refused`;
    return row.endReason === null ? `${row.status}${refused}` : `${row.status}: ${row.endReason}`;
  }
  const waitedFor = tasksWaitedFor(row);
  if (waitedFor > 0) return `waiting for ${plural(waitedFor, 'task')}`;
  const text = activityText(row, now);
  if (row.status === 'queued') return `queued: ${text ?? 'waiting for a slot'}`;
  return text ?? row.status;
}

/** Counts the tasks that a task waits for; 0 if the task does anything else. */
function tasksWaitedFor({ activity }: TreeTask): number {
  if (activity.kind !== 'tools' || activity.asking.length > 0) return 0;
  return activity.running.every((tool) => tool === 'Task') ? activity.running.length : 0;
}

/** The sign for the state of a task, and its color. The sign alone can be read without colors. */
export interface StatusSign {
  readonly sign: string;
  readonly role: TextRole;
}

const SIGNS: Readonly<Record<TaskStatus, StatusSign>> = {
  queued: { sign: '○', role: 'dim' },
  running: { sign: '●', role: 'accent' },
  parked: { sign: '?', role: 'warn' },
  completed: { sign: '✓', role: 'good' },
  partial: { sign: '◐', role: 'warn' },
  failed: { sign: '✗', role: 'bad' },
  stopped: { sign: '■', role: 'dim' },
  killed: { sign: '■', role: 'dim' },
  interrupted: { sign: '!', role: 'bad' },
};

/** The sign of a completed task to which the user refused a call: what it should do may not be done. */
const REFUSED_SIGN: StatusSign = { sign: '⊘', role: 'warn' };

export function statusSign(
  row: Pick<TreeTask, 'status' | 'openQuestionCount' | 'activity' | 'refusedCount'>,
): StatusSign {
  if (row.status === 'completed' && row.refusedCount > 0) return REFUSED_SIGN;
  if (row.status !== 'running') return SIGNS[row.status];
  if (row.openQuestionCount > 0) return SIGNS.parked;
  const isHeld = row.activity.kind === 'held' || row.activity.kind === 'waiting_to_retry';
  return isHeld ? { sign: '~', role: 'warn' } : SIGNS.running;
}

/** Returns the sign for a task of which only the status is known. */
export function idleStatusSign(status: TaskStatus): string {
  return SIGNS[status].sign;
}
