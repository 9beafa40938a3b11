/** Thousands of events can arrive: for these a frame is drawn at most this often. Keys draw one at once. */
const DRAW_MS = 60;
/** While tasks are at work, the times on the screen are updated this often. */
const TICK_MS = 1_000;

/** Draws a frame soon after a change, and regularly while anything is at work. */
export class Redraw {
  private readonly draw: () => void;
  private readonly isAtWork: () => boolean;
  private pending: NodeJS.Timeout | null = null;
  private ticker: NodeJS.Timeout | null = null;
  private isStopped = false;

  constructor({ draw, isAtWork }: { readonly draw: () => void; readonly isAtWork: () => boolean }) {
    this.draw = draw;
    this.isAtWork = isAtWork;
  }

  changed(): void {
    if (this.isStopped) return;
    this.pending ??= setTimeout(() => {
      this.pending = null;
      if (this.isAtWork()) this.ticker ??= setInterval(() => this.draw(), TICK_MS);
      else this.stopTicking();
      this.draw();
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
