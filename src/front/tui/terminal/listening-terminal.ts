import type { Terminal } from '@earendil-works/pi-tui';
import { type Background, TerminalAnswers } from './terminal-replies.ts';

const ASK_BACKGROUND = '\u001b]11;?\u0007';
const FOCUS_IN = '\u001b[I';
const FOCUS_OUT = '\u001b[O';

/** A terminal whose reports about itself are read before the library takes them for keys. */
export class ListeningTerminal implements Terminal {
  private readonly terminal: Terminal;
  private readonly onBackground: (background: Background) => void;
  private readonly answers = new TerminalAnswers(() => performance.now());
  private hasFocus: boolean | null = null;

  constructor(terminal: Terminal, onBackground: (background: Background) => void) {
    this.terminal = terminal;
    this.onBackground = onBackground;
  }

  /** Whether the user looks at it; null if the terminal has not said so. */
  get isFocused(): boolean | null {
    return this.hasFocus;
  }

  get columns(): number {
    return this.terminal.columns;
  }

  get rows(): number {
    return this.terminal.rows;
  }

  get kittyProtocolActive(): boolean {
    return this.terminal.kittyProtocolActive;
  }

  /** Asks for the background without waiting for the reply. */
  askBackground(): void {
    this.answers.asked();
    this.terminal.write(ASK_BACKGROUND);
  }

  start(onInput: (data: string) => void, onResize: () => void): void {
    this.terminal.start((data) => {
      if (data === FOCUS_IN || data === FOCUS_OUT) this.hasFocus = data === FOCUS_IN;
      const { keys, background } = this.answers.hear(data);
      if (background !== null) this.onBackground(background);
      for (const key of keys) onInput(key);
    }, onResize);
  }

  stop(): void {
    this.terminal.stop();
  }

  async drainInput(maxMs?: number, idleMs?: number): Promise<void> {
    await this.terminal.drainInput(maxMs, idleMs);
  }

  write(data: string): void {
    this.terminal.write(data);
  }

  moveBy(lines: number): void {
    this.terminal.moveBy(lines);
  }

  hideCursor(): void {
    this.terminal.hideCursor();
  }

  showCursor(): void {
    this.terminal.showCursor();
  }

  clearLine(): void {
    this.terminal.clearLine();
  }

  clearFromCursor(): void {
    this.terminal.clearFromCursor();
  }

  clearScreen(): void {
    this.terminal.clearScreen();
  }

  setTitle(title: string): void {
    this.terminal.setTitle(title);
  }

  setProgress(active: boolean): void {
    this.terminal.setProgress(active);
  }
}
