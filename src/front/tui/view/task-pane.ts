import { activityText } from '../../../api/index.ts';
import { plural } from '../../../base/text.ts';
import { hasEnded, type TaskRow } from '../model/task-row.ts';
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
}

/** Draws the tree in exactly `height` lines. Tasks that do not fit are only counted. */
export function taskPane(
  rows: readonly TaskTreeRow[],
  style: PaneStyle,
  pen: Pen,
): readonly string[] {
  const { width, height, chosen } = style;
  if (height <= 0) return [];
  const isCut = rows.length > height;
  const { shown, hidden } = paneRows(rows, isCut ? height - 1 : height, chosen);
  const lines = shown.map((each) => taskLine(each, style, pen));
  if (isCut) lines.push(fitLine(pen.prose('dim', `  … ${hiddenText(hidden)}`), width));
  while (lines.length < height) lines.push('');
  return lines;
}

function hiddenText({ atWork, ended }: ReturnType<typeof paneRows>['hidden']): string {
  const parts = [
    ...(atWork === 0 ? [] : [`${atWork} more at work`]),
    ...(ended === 0 ? [] : [`${ended} more ended`]),
  ];
  return `${parts.join(', ')}: /tasks`;
}

/** The minimum width for ids. A narrower terminal has no room for them; `/tasks` shows them. */
const MIN_WIDTH_FOR_IDS = 60;

/** The maximum width of a line. On wider lines the figures would be too far from the name of their task. */
const MAX_WIDTH = 140;

/** Returns the number of columns that are reserved for the name and the activity of a task. Its figures get the rest. */
function minTextColumns(width: number): number {
  return Math.min(44, Math.max(20, Math.floor(width * 0.6)));
}

/** Draws a task: its state, agent, id and description, its activity, and its use. */
function taskLine(
  { row, level, isBackground }: TaskTreeRow,
  { width: terminalWidth, now, chosen }: PaneStyle,
  pen: Pen,
): string {
  const width = Math.min(terminalWidth, MAX_WIDTH);
  const { sign, role } = statusSign(row);
  const isChosen = row.id === chosen;
  const right = figures(row, now, width);
  const head = [
    `${isChosen ? pen.paint('accent', '▶') : ' '}${'  '.repeat(Math.min(level, 6))}${pen.paint(role, sign)}`,
    pen.prose(isChosen ? 'strong' : 'text', row.agent),
    ...(level === 0 || width < MIN_WIDTH_FOR_IDS ? [] : [pen.prose('dim', row.id.slice(0, 6))]),
    ...(isBackground ? [pen.prose('dim', 'bg')] : []),
  ].join(' ');
  const does = [
    pen.prose(role, activityLine(row, now)),
    ...(row.lastLine === '' ? [] : [pen.prose('dim', `“${row.lastLine}”`)]),
  ].join(' ');
  const room = width - visibleWidth(right) - 1 - visibleWidth(head) - 1;
  const about = level === 0 ? '' : pen.prose('text', row.description);
  const left = `${head} ${joinActivity(about, does, room, pen)}`;
  return joinEnds(left, pen.prose('dim', right), width);
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
 * Draws the figures of a task. Each figure has its own columns, so that the figures do not move when they grow. On a
 * narrow terminal the figures are left out from the left; the time, which comes last, is left out last. The columns of
 * figures that are still zero are left to the activity.
 */
function figures(row: TaskRow, now: number, width: number): string {
  const all = [
    shortTime((row.endedAt ?? now) - row.since).padStart(5),
    (row.tokens === 0 ? '' : `${shortTokens(row.tokens)} tok`).padStart(9),
    (row.turns === 0 ? '' : plural(row.turns, 'turn')).padStart(8),
    (row.costUsd === 0 ? '' : shortCost(row.costUsd)).padStart(7),
  ];
  const taken = all.map((_, index) =>
    all
      .slice(0, all.length - index)
      .toReversed()
      .join(' '),
  );
  const fitting = taken.find((text) => text.length + 1 + minTextColumns(width) <= width);
  return (fitting ?? '').trimStart();
}

/** Describes the current activity of a task, or the reason why it does nothing. */
export function activityLine(row: TaskRow, now: number): string {
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
function tasksWaitedFor({ activity }: TaskRow): number {
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
  row: Pick<TaskRow, 'status' | 'openQuestionCount' | 'activity' | 'refusedCount'>,
): StatusSign {
  if (row.status === 'completed' && row.refusedCount > 0) return REFUSED_SIGN;
  if (row.status !== 'running') return SIGNS[row.status];
  if (row.openQuestionCount > 0) return SIGNS.parked;
  const isHeld = row.activity.kind === 'held' || row.activity.kind === 'waiting_to_retry';
  return isHeld ? { sign: '~', role: 'warn' } : SIGNS.running;
}
