import { systemClock } from '../../base/clock.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import { drawErrorLines, printError } from '../../sys/print.ts';
import { liveTree } from './live-tree.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** Where it is shown: of stderr. */
export interface LiveTerminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** Milliseconds between two drawings; times go on by themselves. */
const DRAW_MS = 100;
const TICK_MS = 1_000;
const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;
const MOST_LINES = 8;

/** What is at work, at the bottom of a terminal: a line for each task, drawn anew as it goes on. */
export class LiveBlock {
  private readonly terminal: LiveTerminal;
  private readonly atWork = new Map<string, TaskState>();
  private soon: NodeJS.Timeout | null = null;
  private ticker: NodeJS.Timeout | null = null;
  private isDrawn = false;

  constructor(terminal: LiveTerminal) {
    this.terminal = terminal;
  }

  /** `state`: the fold of the task's log with the event, which it goes on to change. */
  see(event: TaskEvent, state: TaskState): void {
    if (state.spec.parent === null) return;
    if (event.type === 'task.ended') this.atWork.delete(event.task);
    else this.atWork.set(event.task, state);
    this.drawSoon();
  }

  /** A line of its own, above. */
  line(text: string): void {
    this.erase();
    printError(`${text}\n`, 'prose');
    this.drawSoon();
  }

  /** Nothing of it is left. Twice is once. */
  end(): void {
    this.atWork.clear();
    this.erase();
    if (this.soon !== null) clearTimeout(this.soon);
    if (this.ticker !== null) clearInterval(this.ticker);
    this.soon = null;
    this.ticker = null;
  }

  /** Its timers keep no process alive that has nothing else to do. */
  private drawSoon(): void {
    this.ticker ??= setInterval(() => this.draw(), TICK_MS).unref();
    this.soon ??= setTimeout(() => {
      this.soon = null;
      this.draw();
    }, DRAW_MS).unref();
  }

  private draw(): void {
    const { columns = USUAL_COLUMNS, rows = USUAL_ROWS } = this.terminal;
    const most = Math.max(1, Math.min(MOST_LINES, Math.floor(rows / 3)));
    const lines = liveTree([...this.atWork.values()], {
      columns,
      most,
      now: systemClock.monotonic(),
    });
    if (lines.length === 0) this.erase();
    else {
      drawErrorLines(lines);
      this.isDrawn = true;
    }
  }

  private erase(): void {
    if (this.isDrawn) drawErrorLines([]);
    this.isDrawn = false;
  }
}
