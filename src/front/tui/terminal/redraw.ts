/** Thousands of events can arrive: for these a frame is drawn at most this often. Keys draw one at once. */
const DRAW_DELAY_MS = 60;
/** While tasks are at work, the times on the screen are updated this often. */
const TICK_MS = 1_000;

/** Draws a frame soon after a change, and regularly while anything is at work. */
export interface Redraw {
  changed(): void;
  stop(): void;
}

export function createRedraw(draw: () => void, isAtWork: () => boolean): Redraw {
  let pending: NodeJS.Timeout | undefined;
  let ticker: NodeJS.Timeout | undefined;
  let isStopped = false;
  const stopTicking = () => {
    clearInterval(ticker);
    ticker = undefined;
  };
  return {
    changed() {
      if (isStopped) return;
      pending ??= setTimeout(() => {
        pending = undefined;
        if (isAtWork()) ticker ??= setInterval(draw, TICK_MS);
        else stopTicking();
        draw();
      }, DRAW_DELAY_MS);
    },
    stop() {
      isStopped = true;
      clearTimeout(pending);
      stopTicking();
    },
  };
}
