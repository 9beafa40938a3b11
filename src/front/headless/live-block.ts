import { systemClock } from '../../base/clock.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import { drawErrorLines, printError } from '../../sys/print.ts';
import { liveTree } from './live-tree.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** The terminal of stderr. */
export interface LiveTerminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** Milliseconds between two drawings, and between two updates of the times. */
const DRAW_MS = 100;
const TICK_MS = 1_000;
const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;
const MOST_LINES = 8;

/** Draws the tasks at work at the bottom of a terminal, one line each, and updates them. */
export class LiveBlock {
  private readonly terminal: LiveTerminal;
  private readonly atWork = new Map<string, TaskState>();
  private soon: NodeJS.Timeout | null = null;
  private ticker: NodeJS.Timeout | null = null;
  private isDrawn = false;

  constructor(terminal: LiveTerminal) {
    this.terminal = terminal;
  }

  /** `state`: the state of the task after the event; later events change the same object. */
  add(event: TaskEvent, state: TaskState): void {
    if (state.spec.parent === null) return;
    if (event.type === 'task.ended') this.atWork.delete(event.task);
    else this.atWork.set(event.task, state);
    this.drawSoon();
  }

  /** Prints a line above. */
  line(text: string): void {
    this.erase();
    printError(`${text}\n`, 'prose');
    this.drawSoon();
  }

  /** Removes the lines from the terminal. May be called twice. */
  end(): void {
    this.atWork.clear();
    this.erase();
    if (this.soon !== null) clearTimeout(this.soon);
    if (this.ticker !== null) clearInterval(this.ticker);
    this.soon = null;
    this.ticker = null;
  }

  /** The timers do not keep the process alive. */
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
