import { activityText } from '../../../api/index.ts';
import { plural } from '../../../base/text.ts';
import { hasEnded, type TaskRow } from '../view/task-row.ts';
import { paneRows, type TreeRow } from '../view/tree-rows.ts';
import { between, factsThatFit, fit } from './fit.ts';
import { shortCost, shortCount, shortTime } from './numbers.ts';
import type { Pen } from './pen.ts';
import { statusSign } from './status-sign.ts';

export interface PaneLook {
  readonly width: number;
  /** Exactly so many lines. */
  readonly height: number;
  /** Milliseconds since the epoch. */
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

/** Least columns for what a task is and does: its figures get the rest. */
function leastColumns(width: number): number {
  return Math.min(44, Math.max(20, Math.floor(width * 0.6)));
}

/** One task: its state, name and type, what it does now, and what it has used. */
function taskLine(
  { row, level, isBackground }: TreeRow,
  { width, now, chosen }: Pick<PaneLook, 'width' | 'now' | 'chosen'>,
  pen: Pen,
): string {
  const { sign, role } = statusSign(row);
  const isChosen = row.id === chosen;
  const parts = [
    `${isChosen ? pen.paint('accent', '▶') : ' '}${'  '.repeat(Math.min(level, 6))}${pen.paint(role, sign)}`,
    pen.prose(
      isChosen ? 'strong' : 'text',
      level === 0 ? row.agent : `${row.agent} ${row.id.slice(0, 6)}`,
    ),
    ...(isBackground ? [pen.prose('dim', 'bg')] : []),
    // What it does must be seen beside it.
    ...(level === 0
      ? []
      : [
          fit(pen.prose('text', row.description), Math.max(10, Math.floor(width / 4))),
          pen.prose('dim', '·'),
        ]),
    pen.prose(role, doing(row, now)),
    ...(row.lastLine === '' ? [] : [pen.prose('dim', `“${row.lastLine}”`)]),
  ];
  // Of one width, so that those of all tasks stand below each other, and don't move as they grow.
  const facts = [
    shortTime((row.endedAt ?? now) - row.since).padStart(6),
    `${shortCount(row.tokens)} tok`.padStart(10),
    plural(row.turns, 'turn').padStart(8),
    shortCost(row.costUsd).padStart(8),
  ];
  const right = factsThatFit(facts, { width, least: leastColumns(width), separator: ' ' });
  return between(parts.join(' '), pen.prose('dim', right), width);
}

/** What it does, or why it does nothing. */
export function doing(row: TaskRow, now: number): string {
  if (hasEnded(row)) return row.status;
  const text = activityText(row, now);
  if (row.status === 'queued') return `queued: ${text ?? 'waits for a slot'}`;
  return text ?? row.status;
}
