import xterm from '@xterm/headless';
import type { Cell } from '../../../scripts/terminal-svg.ts';
import type { TerminalDevice } from '../../../src/front/tui/terminal/screen.ts';
import { passDrawTime } from './draw-time.ts';

/** A terminal without a window: what is written to it is drawn as a real one draws it. */
export class Emulator implements TerminalDevice {
  readonly kittyProtocolActive = false;
  /** All that was written to it. */
  written = '';
  readonly titles: string[] = [];
  bells = 0;
  private readonly terminal: xterm.Terminal;
  private onInput: (data: string) => void = () => {};
  private onResize: () => void = () => {};

  constructor(columns: number, rows: number) {
    this.terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
    this.terminal.onTitleChange((title) => this.titles.push(title));
    this.terminal.onBell(() => {
      this.bells += 1;
    });
  }

  get columns(): number {
    return this.terminal.cols;
  }

  get rows(): number {
    return this.terminal.rows;
  }

  start(onInput: (data: string) => void, onResize: () => void): void {
    this.onInput = onInput;
    this.onResize = onResize;
  }

  stop(): void {
    this.onInput = () => {};
  }

  async drainInput(): Promise<void> {}

  write(data: string): void {
    this.written += data;
    this.terminal.write(data);
  }

  resize(columns: number, rows: number): void {
    this.terminal.resize(columns, rows);
    this.onResize();
  }

  /** Keys as a terminal sends them, each by itself. */
  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) this.onInput(key);
    await this.settled();
  }

  async type(text: string): Promise<void> {
    await this.press(...text);
  }

  /** What is on the screen once all that was asked for is drawn, without blanks at the ends of lines. */
  async screen(): Promise<string> {
    await this.settled();
    const { active } = this.terminal.buffer;
    return Array.from({ length: this.rows }, (_, row) =>
      (active.getLine(active.viewportY + row)?.translateToString(true) ?? '').trimEnd(),
    ).join('\n');
  }

  /** What is on the screen now, cell by cell. */
  cells(): readonly (readonly Cell[])[] {
    const { active } = this.terminal.buffer;
    return Array.from({ length: this.rows }, (_, row) => {
      const line = active.getLine(active.viewportY + row);
      return Array.from({ length: this.columns }, (__, column) => cellOf(line?.getCell(column)));
    });
  }

  /** Whether any cell has a colour or a weight; reversed ones, as the cursor, left out. */
  get isPainted(): boolean {
    return this.cells().some((row) =>
      row.some(
        ({ foreground, background, isBold, isDim, isInverse }) =>
          !isInverse && (foreground !== null || background !== null || isBold || isDim),
      ),
    );
  }

  /**
   * Drawing waits for more to draw, and what is drawn is written a moment later: on a busy machine, when this
   * wait is over already. So until nothing more is written.
   */
  private async settled(): Promise<void> {
    await passDrawTime(120);
    for (let before = -1; before !== this.written.length;) {
      before = this.written.length;
      await passDrawTime(30);
    }
    const parsing = { hasEnded: false };
    this.terminal.write('', () => {
      parsing.hasEnded = true;
    });
    while (!parsing.hasEnded) await passDrawTime(1);
  }

  // What the library offers beside, and Muster does not use.
  moveBy(): void {}
  hideCursor(): void {}
  showCursor(): void {}
  clearLine(): void {}
  clearFromCursor(): void {}
  clearScreen(): void {}
  setTitle(): void {}
  setProgress(): void {}
}

function cellOf(cell: xterm.IBufferCell | undefined): Cell {
  return {
    text: cell === undefined ? ' ' : cell.getWidth() === 0 ? '' : cell.getChars() || ' ',
    foreground: cell === undefined || cell.isFgDefault() ? null : cell.getFgColor(),
    background: cell === undefined || cell.isBgDefault() ? null : cell.getBgColor(),
    isBold: (cell?.isBold() ?? 0) !== 0,
    isDim: (cell?.isDim() ?? 0) !== 0,
    isInverse: (cell?.isInverse() ?? 0) !== 0,
  };
}

export const KEYS = {
  enter: '\r',
  escape: '\u001b',
  tab: '\t',
  shiftTab: '\u001b[Z',
  up: '\u001b[A',
  down: '\u001b[B',
  left: '\u001b[D',
  pageUp: '\u001b[5~',
  pageDown: '\u001b[6~',
  ctrlB: '\u0002',
  ctrlC: '\u0003',
  ctrlG: '\u0007',
  ctrlO: '\u000f',
  ctrlT: '\u0014',
  ctrlX: '\u0018',
} as const;
