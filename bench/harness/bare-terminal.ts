import type { TerminalDevice } from '../../src/front/tui/terminal/screen.ts';

/** A terminal that draws nothing, so that only the program that writes to it uses CPU time. */
export class BareTerminal implements TerminalDevice {
  readonly columns = 120;
  readonly rows = 40;
  readonly kittyProtocolActive = false;
  private onInput: (data: string) => void = () => {};
  private onWrite: ((data: string) => void) | null = null;

  start(onInput: (data: string) => void): void {
    this.onInput = onInput;
  }

  /** Presses a key that was due at `dueAt`. Resolves to the milliseconds from then until something was drawn. */
  async press(key: string, dueAt = performance.now()): Promise<number> {
    const drawnAt = new Promise<number>((resolve) => {
      this.onWrite = () => {
        this.onWrite = null;
        resolve(performance.now());
      };
    });
    this.onInput(key);
    return (await drawnAt) - dueAt;
  }

  write(data: string): void {
    this.onWrite?.(data);
  }

  stop(): void {}
  async drainInput(): Promise<void> {}
  moveBy(): void {}
  hideCursor(): void {}
  showCursor(): void {}
  clearLine(): void {}
  clearFromCursor(): void {}
  clearScreen(): void {}
  setTitle(): void {}
  setProgress(): void {}
}
