import { systemClock } from '../../base/clock.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import { drawErrorLines, printError } from '../../sys/print.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { activityText } from '../../api/index.ts';
import { formatDuration } from '../../base/text.ts';

/** The terminal of stderr. */
export interface LiveTerminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** The delay of a drawing after a change, so that several changes make one drawing. */
const DRAW_DELAY_MS = 100;
/** The time between two updates of the times in the lines. */
const TICK_MS = 1_000;
const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;
const MAX_LINES = 8;

/** Draws the tasks at work at the bottom of a terminal, one line each, and updates them. */
export class LiveBlock {
  private readonly terminal: LiveTerminal;
  private readonly atWork = new Map<string, TaskState>();
  private drawTimer: NodeJS.Timeout | null = null;
  private ticker: NodeJS.Timeout | null = null;
  private isDrawn = false;

  constructor(terminal: LiveTerminal) {
    this.terminal = terminal;
  }

  /** Adds an event. `state` is the state of the task after the event; later events change the same object. */
  add(event: TaskEvent, state: TaskState): void {
    if (state.spec.parent === null) return;
    if (event.type === 'task.ended') this.atWork.delete(event.task);
    else this.atWork.set(event.task, state);
    this.drawSoon();
  }

  /** Prints a line that stays, above the live lines. */
  line(text: string): void {
    this.erase();
    printError(`${text}\n`, 'prose');
    this.drawSoon();
  }

  /** Removes the live lines from the terminal. A second call has no effect. */
  end(): void {
    this.atWork.clear();
    this.erase();
    if (this.drawTimer !== null) clearTimeout(this.drawTimer);
    if (this.ticker !== null) clearInterval(this.ticker);
    this.drawTimer = null;
    this.ticker = null;
  }

  /** Draws after a short delay, and then regularly. The timers do not keep the process alive. */
  private drawSoon(): void {
    this.ticker ??= setInterval(() => this.draw(), TICK_MS).unref();
    this.drawTimer ??= setTimeout(() => {
      this.drawTimer = null;
      this.draw();
    }, DRAW_DELAY_MS).unref();
  }

  private draw(): void {
    const { columns = USUAL_COLUMNS, rows = USUAL_ROWS } = this.terminal;
    const maxLines = Math.max(1, Math.min(MAX_LINES, Math.floor(rows / 3)));
    const lines = liveTree([...this.atWork.values()], {
      columns,
      maxLines,
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

export interface LiveTreeOptions {
  /** Columns of the terminal. */
  readonly columns: number;
  /** The maximum number of lines; at least 1. */
  readonly maxLines: number;
  /** The current steady time. */
  readonly now: number;
}

/**
 * Describes what the tasks below the main task do now. Each task has a line below the line of its parent. No line is
 * wider than the terminal; tasks that do not fit are counted.
 */
export function liveTree(
  states: readonly TaskState[],
  { columns, maxLines, now }: LiveTreeOptions,
): readonly string[] {
  const below = Map.groupBy(states, ({ spec }) => spec.parent);
  const known = new Set(states.map(({ spec }) => spec.id));
  const lines: string[] = [];
  const visit = (state: TaskState, level: number): void => {
    lines.push(cut(`${'  '.repeat(level)}${taskText(state, now)}`, columns - 1));
    for (const child of below.get(state.spec.id) ?? []) visit(child, level + 1);
  };
  for (const state of states) if (!known.has(state.spec.parent ?? '')) visit(state, 0);
  if (lines.length <= maxLines) return lines;
  const shown = lines.slice(0, maxLines - 1);
  return [...shown, cut(`… ${lines.length - shown.length} more at work`, columns - 1)];
}

function taskText(state: TaskState, now: number): string {
  const { spec, status, activation } = state;
  const activity = activityText(state, now);
  const mark = status === 'queued' ? '○' : '●';
  const time = formatDuration(Math.floor(Math.max(0, now - activation.since) / 1_000) * 1_000);
  const head = `${mark} ${spec.agent.name} ${spec.id.slice(0, 6)}`;
  return oneLine(`${head} ${time}: ${activity ?? status}: ${spec.description}`);
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** The first code point whose character may be two columns wide. All later ones count as wide, because a line may be cut too early but must not wrap. */
const FIRST_WIDE = 0x1100;

function cut(text: string, columns: number): string {
  let taken = 0;
  let end = 0;
  for (const character of text) {
    const width = (character.codePointAt(0) ?? 0) >= FIRST_WIDE ? 2 : 1;
    if (taken + width > columns) return `${dropLastCharacter(text.slice(0, end))}…`;
    taken += width;
    end += character.length;
  }
  return text;
}

function dropLastCharacter(text: string): string {
  return Array.from(text).slice(0, -1).join('');
}
