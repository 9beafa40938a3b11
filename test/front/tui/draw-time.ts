import { setTimeout as sleep } from 'node:timers/promises';

/** Lets a time pass, in milliseconds. */
type PassTime = (ms: number) => Promise<void>;

let current: PassTime = (ms) => sleep(ms);

/** Lets the time pass in which a frame is drawn: by waiting, unless a test has virtual time. */
export function passDrawTime(ms: number): Promise<void> {
  return current(ms);
}

/** Replaces the way in which time passes, and returns a function that restores the earlier one. */
export function replaceDrawTime(passTime: PassTime): () => void {
  const earlier = current;
  current = passTime;
  return () => {
    current = earlier;
  };
}
