/** The delay of a frame after a change, so that thousands of events make few frames. Keys draw a frame without this delay. */
const DRAW_DELAY_MS = 60;
/** The time between two updates of the times on the screen while tasks are at work. */
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
