import { plural } from '../../../base/text.ts';
import { shortTime } from '../view/numbers.ts';
import type { Pen } from '../view/pen.ts';
import { hasEnded, type TaskRow } from '../model/task-row.ts';
import type { TaskTree } from '../model/task-tree.ts';

/** A task that waits no longer than this for its turn begins at once, for a person. */
const SHORT_WAIT_MS = 1_000;

/** Of this many, those that are not in view any more are forgotten. */
const MOST_KNOWN = 2_000;

/** Changes of the tree, a line each: a task begins, waits, goes on, ends. */
export class PlainTasks {
  private readonly pen: Pen;
  private readonly told = new Map<string, string>();

  constructor(pen: Pen) {
    this.pen = pen;
  }

  /** What there is to tell since the last time. */
  news(ui: TaskTree, now: number): readonly string[] {
    const lines: string[] = [];
    for (const row of ui.rows.values()) {
      if (row.id === ui.root) continue;
      const told = this.told.get(row.id);
      const state = stateOf(row);
      if (told === state || (state === 'queued' && now - row.since < SHORT_WAIT_MS)) continue;
      this.told.set(row.id, state);
      const what = told === undefined ? beginText(row, ui) : changeText(row, told, now);
      lines.push(this.pen.prose('text', `Task ${row.id.slice(0, 6)} ${row.agent} ${what}`));
    }
    this.forgetGone(ui);
    return lines;
  }

  private forgetGone({ rows }: TaskTree): void {
    if (this.told.size <= MOST_KNOWN) return;
    for (const id of this.told.keys()) if (!rows.has(id)) this.told.delete(id);
  }
}

function stateOf({ status, activity }: TaskRow): string {
  return status === 'running' && activity.kind === 'held' ? 'held' : status;
}

function beginText(row: TaskRow, ui: TaskTree): string {
  const where = ui.background.has(row.id) ? ' in the background' : '';
  const below = row.depth > 1 ? ` below ${row.parent?.slice(0, 6) ?? ''}` : '';
  const how = row.status === 'queued' ? 'waits for its turn' : 'begins';
  const begun = `${how}${where}${below}: ${row.description}`;
  return hasEnded(row) ? `${begun}. It ${endText(row, row.since)}` : begun;
}

function changeText(row: TaskRow, told: string, now: number): string {
  if (hasEnded(row)) return endText(row, now);
  if (row.activity.kind === 'held') return `waits for ${row.activity.because}`;
  if (row.status === 'parked') return 'waits for an answer';
  return told === 'queued' ? 'begins' : 'goes on';
}

function endText(row: TaskRow, now: number): string {
  const why = row.because === null ? '' : `: ${row.because}`;
  const said = row.lastLine === '' || row.because !== null ? '' : `: ${row.lastLine}`;
  const took = shortTime((row.endedAt ?? now) - row.since);
  return `${row.status} after ${took}, ${plural(row.turns, 'turn')}${why}${said}`;
}
