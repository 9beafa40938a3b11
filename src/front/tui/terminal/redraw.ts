/** Events come by the thousand: for them the picture is drawn at most so often. For keys it is drawn at once. */
const DRAW_MS = 60;
/** Times on the screen go on. */
const TICK_MS = 1_000;

/** When the picture is drawn anew by itself: soon after something has changed, and while anything is at work. */
export class Redraw {
  private readonly draw: () => void;
  private readonly isAtWork: () => boolean;
  private soon: NodeJS.Timeout | null = null;
  private ticker: NodeJS.Timeout | null = null;
  private isStopped = false;

  constructor({ draw, isAtWork }: { readonly draw: () => void; readonly isAtWork: () => boolean }) {
    this.draw = draw;
    this.isAtWork = isAtWork;
  }

  changed(): void {
    if (this.isStopped) return;
    this.soon ??= setTimeout(() => {
      this.soon = null;
      this.keepTime();
      this.draw();
    }, DRAW_MS);
  }

  stop(): void {
    this.isStopped = true;
    if (this.soon !== null) clearTimeout(this.soon);
    this.stopTicking();
  }

  private keepTime(): void {
    if (this.isAtWork()) this.ticker ??= setInterval(() => this.draw(), TICK_MS);
    else this.stopTicking();
  }

  private stopTicking(): void {
    if (this.ticker !== null) clearInterval(this.ticker);
    this.ticker = null;
  }
}
