import type { Clock } from '../base/clock.ts';
import { Deadlines, type Deadline } from '../base/deadlines.ts';
import type { Script } from './script.ts';

/** The times of the log: they stand still until the next event. */
export function loggedClock(script: Script): Clock {
  return { now: () => script.now(), monotonic: () => script.monotonic() };
}

interface Waiting {
  readonly at: number;
  readonly fire: () => void;
}

/** Deadlines that are due when the log goes on with what they bring about. */
export class LoggedDeadlines extends Deadlines {
  private waiting: readonly Waiting[] = [];
  private readonly time: Clock;

  constructor(time: Clock) {
    super(time);
    this.time = time;
  }

  override after(ms: number, fire: () => void): Deadline {
    const entry = { at: this.time.monotonic() + ms, fire };
    this.waiting = [...this.waiting, entry];
    return { cancel: () => this.forget(entry) };
  }

  /** Lets the first one be due; false: there is none. */
  pass(): boolean {
    const [first] = this.waiting.toSorted((a, b) => a.at - b.at);
    if (first === undefined) return false;
    this.forget(first);
    first.fire();
    return true;
  }

  private forget(entry: Waiting): void {
    this.waiting = this.waiting.filter((other) => other !== entry);
  }
}
