import { plural } from '../../../base/text.ts';
import { shortTime } from '../view/numbers.ts';
import type { Pen } from '../view/pen.ts';
import { hasEnded, type TaskRow } from '../model/task-row.ts';
import type { TaskTree } from '../model/task-tree.ts';

/** A task that is queued for a shorter time is reported as if it started at once. */
const SHORT_WAIT_MS = 1_000;

/** Beyond this number, tasks that have left the tree are forgotten. */
const MAX_KNOWN = 2_000;

/** Writes a line for each change of the tree: a task starts, waits, continues, ends. */
export class PlainTasks {
  private readonly pen: Pen;
  private readonly reported = new Map<string, string>();

  constructor(pen: Pen) {
    this.pen = pen;
  }

  /** Returns the lines that are new since the last call. */
  newLines(ui: TaskTree, now: number): readonly string[] {
    const lines: string[] = [];
    for (const row of ui.rows.values()) {
      if (row.id === ui.root) continue;
      const reported = this.reported.get(row.id);
      const state = stateOf(row);
      if (reported === state || (state === 'queued' && now - row.since < SHORT_WAIT_MS)) continue;
      this.reported.set(row.id, state);
      const what = reported === undefined ? beginText(row, ui) : changeText(row, reported, now);
      lines.push(this.pen.prose('text', `Task ${row.id.slice(0, 6)} ${row.agent} ${what}`));
    }
    this.forgetGone(ui);
    return lines;
  }

  private forgetGone({ rows }: TaskTree): void {
    if (this.reported.size <= MAX_KNOWN) return;
    for (const id of this.reported.keys()) if (!rows.has(id)) this.reported.delete(id);
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

function changeText(row: TaskRow, reported: string, now: number): string {
  if (hasEnded(row)) return endText(row, now);
  if (row.activity.kind === 'held') return `waits for ${row.activity.because}`;
  if (row.status === 'parked') return 'waits for an answer';
  return reported === 'queued' ? 'begins' : 'goes on';
}

function endText(row: TaskRow, now: number): string {
  const why = row.endReason === null ? '' : `: ${row.endReason}`;
  const said = row.lastLine === '' || row.endReason !== null ? '' : `: ${row.lastLine}`;
  const took = shortTime((row.endedAt ?? now) - row.since);
  return `${row.status} after ${took}, ${plural(row.turns, 'turn')}${why}${said}`;
}
