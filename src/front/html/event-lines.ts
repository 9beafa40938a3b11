import { formatElapsed } from '../../report/figures.ts';
import { truncate } from '../../base/text.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';

/** The maximum numbers of kept events of one task: of its first events and of its newest events. */
const MAX_FIRST = 1_000;
const MAX_NEWEST = 9_000;
/** The maximum number of kept events of all tasks. */
const MAX_LINES = 200_000;
/** The maximum length of the text of an event's own fields, in code points. */
const SHOWN_DETAIL = 240;

/** The kept lines of a task, and the number of all its events. */
interface TaskLines {
  readonly first: TaskEventLine[];
  newest: TaskEventLine[];
  count: number;
}

interface TaskEventLine {
  readonly seq: number;
  readonly ts: number;
  readonly text: string;
}

/** Keeps a line for each event of the tasks on a page, within limits. */
export class EventLines {
  private readonly tasks = new Map<string, TaskLines>();
  private lineCount = 0;

  readonly add = (event: TaskEvent): void => {
    const task = this.tasks.get(event.task) ?? { first: [], newest: [], count: 0 };
    this.tasks.set(event.task, task);
    task.count += 1;
    if (this.lineCount >= MAX_LINES) return;
    const { v: _, task: _task, epoch: _epoch, seq, ts, type, ...rest } = event;
    const detail = JSON.stringify(rest);
    const shown = truncate(detail, SHOWN_DETAIL);
    const cut = shown.length < detail.length ? '…' : '';
    const line = { seq, ts, text: `${type.padEnd(15)} ${shown}${cut}` };
    if (task.first.length < MAX_FIRST) task.first.push(line);
    else task.newest.push(line);
    this.lineCount += 1;
    if (task.newest.length <= 2 * MAX_NEWEST) return;
    this.lineCount -= task.newest.length - MAX_NEWEST;
    task.newest = task.newest.slice(-MAX_NEWEST);
  };

  /**
   * Joins the lines of a task, with a note in place of the events that are left out. `from` is the start of the time
   * scale.
   */
  text(id: string, from: number): string {
    const { first, newest, count } = this.tasks.get(id) ?? { first: [], newest: [], count: 0 };
    const last = newest.slice(-MAX_NEWEST);
    const omitted = count - first.length - last.length;
    const gap =
      omitted === 0 ? [] : [`… ${omitted} events left out here: muster tasks log ${id} …`];
    const lines = (some: readonly TaskEventLine[]) =>
      some.map(
        ({ seq, ts, text }) =>
          `${String(seq).padStart(5)} ${formatElapsed(ts - from).padStart(11)}  ${text}`,
      );
    return [...lines(first), ...gap, ...lines(last)].join('\n');
  }
}
