import { activityText } from '../../../api/index.ts';
import { plural } from '../../../base/text.ts';
import { hasEnded, type TaskRow } from '../model/task-row.ts';
import { paneRows, type TreeRow } from '../model/tree-rows.ts';
import { visibleWidth } from './fit.ts';
import { between, fit } from './fit.ts';
import { shortCost, shortCount, shortTime } from './numbers.ts';
import type { Pen } from './pen.ts';
import { statusSign } from './status-sign.ts';

export interface PaneLook {
  readonly width: number;
  /** Exactly so many lines. */
  readonly height: number;
  /** Milliseconds on the monotonic clock. */
  readonly now: number;
  /** The task that keys are for; null: none. */
  readonly chosen: string | null;
}

/** The tree in `height` lines: what does not fit is counted. */
export function taskPane(rows: readonly TreeRow[], look: PaneLook, pen: Pen): readonly string[] {
  const { width, height, chosen } = look;
  if (height <= 0) return [];
  const isCut = rows.length > height;
  const { shown, hidden } = paneRows(rows, isCut ? height - 1 : height, chosen);
  const lines = shown.map((each) => taskLine(each, look, pen));
  if (isCut) lines.push(fit(pen.prose('dim', `  … ${hiddenText(hidden)}`), width));
  while (lines.length < height) lines.push('');
  return lines;
}

function hiddenText({
  atWork,
  ended,
}: {
  readonly atWork: number;
  readonly ended: number;
}): string {
  const parts = [
    ...(atWork === 0 ? [] : [`${atWork} more at work`]),
    ...(ended === 0 ? [] : [`${ended} more ended`]),
  ];
  return `${parts.join(', ')}: /tasks`;
}

/** Below this, what a task is to do needs the columns of its id; /tasks shows that, too. */
const LEAST_WIDTH_FOR_IDS = 60;

/** On wider terminals figures would stand too far from whose they are. */
const MOST_WIDTH = 140;

/** Least columns for what a task is and does: its figures get the rest. */
function leastColumns(width: number): number {
  return Math.min(44, Math.max(20, Math.floor(width * 0.6)));
}

/** One task: its state, name and type, what it does now, and what it has used. */
function taskLine(
  { row, level, isBackground }: TreeRow,
  { width: terminalWidth, now, chosen }: Pick<PaneLook, 'width' | 'now' | 'chosen'>,
  pen: Pen,
): string {
  const width = Math.min(terminalWidth, MOST_WIDTH);
  const { sign, role } = statusSign(row);
  const isChosen = row.id === chosen;
  const right = figures(row, { now, width });
  const head = [
    `${isChosen ? pen.paint('accent', '▶') : ' '}${'  '.repeat(Math.min(level, 6))}${pen.paint(role, sign)}`,
    pen.prose(isChosen ? 'strong' : 'text', row.agent),
    ...(level === 0 || width < LEAST_WIDTH_FOR_IDS ? [] : [pen.prose('dim', row.id.slice(0, 6))]),
    ...(isBackground ? [pen.prose('dim', 'bg')] : []),
  ].join(' ');
  const does = [
    pen.prose(role, activityLine(row, now)),
    ...(row.lastLine === '' ? [] : [pen.prose('dim', `“${row.lastLine}”`)]),
  ].join(' ');
  const room = width - visibleWidth(right) - 1 - visibleWidth(head) - 1;
  const about = level === 0 ? '' : pen.prose('text', row.description);
  return between(`${head} ${beside(about, does, { room, pen })}`, pen.prose('dim', right), width);
}

/** Room for less than this says nothing of what a task does. */
const LEAST_DOING = 6;

/** What a task is to do and what it does, in `room` columns: of the first at most half where both don't fit. */
function beside(
  about: string,
  does: string,
  { room, pen }: { readonly room: number; readonly pen: Pen },
): string {
  if (about === '') return fit(does, room);
  const wanted = Math.min(visibleWidth(does), Math.floor(room / 2));
  const shown = fit(about, Math.max(room - wanted - SEPARATOR_WIDTH, Math.min(room, LEAST_ABOUT)));
  const left = room - visibleWidth(shown) - SEPARATOR_WIDTH;
  if (left < Math.min(LEAST_DOING, visibleWidth(does))) return fit(about, room);
  return `${shown} ${pen.prose('dim', '·')} ${fit(does, left)}`;
}

const SEPARATOR_WIDTH = 3;
const LEAST_ABOUT = 10;

/**
 * Each in columns of its own, so that those of all tasks stand below each other and don't move as they grow.
 * Time comes last, and is the last to go; what is nothing yet leaves its columns to what the task does.
 */
function figures(
  row: TaskRow,
  { now, width }: { readonly now: number; readonly width: number },
): string {
  const all = [
    shortTime((row.endedAt ?? now) - row.since).padStart(5),
    (row.tokens === 0 ? '' : `${shortCount(row.tokens)} tok`).padStart(9),
    (row.turns === 0 ? '' : plural(row.turns, 'turn')).padStart(8),
    (row.costUsd === 0 ? '' : shortCost(row.costUsd)).padStart(7),
  ];
  const taken = all.map((_, count) =>
    all
      .slice(0, all.length - count)
      .toReversed()
      .join(' '),
  );
  const fitting = taken.find((text) => text.length + 1 + leastColumns(width) <= width);
  return (fitting ?? '').trimStart();
}

/** What the task is doing, or why it does nothing. */
export function activityLine(row: TaskRow, now: number): string {
  if (hasEnded(row)) return row.because === null ? row.status : `${row.status}: ${row.because}`;
  const waitedFor = tasksWaitedFor(row);
  if (waitedFor > 0) return `waiting for ${plural(waitedFor, 'task')}`;
  const text = activityText(row, now);
  if (row.status === 'queued') return `queued: ${text ?? 'waits for a slot'}`;
  return text ?? row.status;
}

/** How many tasks it waits for, where it does nothing else. */
function tasksWaitedFor({ activity }: TaskRow): number {
  if (activity.kind !== 'tools' || activity.asking.length > 0) return 0;
  return activity.running.every((tool) => tool === 'Task') ? activity.running.length : 0;
}
