/** Thousands of events can arrive: for these a frame is drawn at most this often. Keys draw one at once. */
const DRAW_MS = 60;
/** While tasks are at work, the times on the screen are updated this often. */
const TICK_MS = 1_000;

interface RedrawOptions {
  readonly draw: () => void;
  readonly isAtWork: () => boolean;
}

/** Draws a frame soon after a change, and regularly while anything is at work. */
export class Redraw {
  private readonly options: RedrawOptions;
  private pending: NodeJS.Timeout | null = null;
  private ticker: NodeJS.Timeout | null = null;
  private isStopped = false;

  constructor(options: RedrawOptions) {
    this.options = options;
  }

  changed(): void {
    if (this.isStopped) return;
    this.pending ??= setTimeout(() => {
      this.pending = null;
      const { draw, isAtWork } = this.options;
      if (isAtWork()) this.ticker ??= setInterval(draw, TICK_MS);
      else this.stopTicking();
      draw();
    }, DRAW_MS);
  }

  stop(): void {
    this.isStopped = true;
    if (this.pending !== null) clearTimeout(this.pending);
    this.stopTicking();
  }

  private stopTicking(): void {
    if (this.ticker !== null) clearInterval(this.ticker);
    this.ticker = null;
  }
}
