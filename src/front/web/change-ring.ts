import { newId } from '../../base/ids.ts';
import { onAbort } from '../../base/async.ts';
import type { ChangeMessages } from './wire.ts';
import { SIGN_OF_LIFE_MS, type StreamMessage } from './event-stream.ts';

/** The maximum size of the changes that are kept for clients that connect again, in UTF-16 units. */
const MAX_KEPT_LENGTH = 8_000_000;

interface KeptChange {
  readonly event: keyof ChangeMessages;
  readonly data: string;
}

/** The latest changes of the overview, numbered, so that a client continues after the last one that it has read. */
export class ChangeRing {
  /** The name of this run of the server, which is part of each cursor. */
  readonly #run = newId();
  readonly #kept: KeptChange[] = [];
  readonly #maxLength: number;
  readonly #waiting = new Set<() => void>();
  /** The number of the first kept change. */
  #first = 1;
  #length = 0;

  /** @param maxLength UTF-16 units */
  constructor(maxLength = MAX_KEPT_LENGTH) {
    this.#maxLength = maxLength;
  }

  /** The position after the newest change. */
  get cursor(): string {
    return this.#cursorAt(this.#last);
  }

  add<Name extends keyof ChangeMessages>(event: Name, data: ChangeMessages[Name]): void {
    const change = { event, data: JSON.stringify(data) };
    this.#kept.push(change);
    this.#length += change.data.length;
    let dropped = 0;
    while (this.#length > this.#maxLength && dropped < this.#kept.length - 1) {
      this.#length -= this.#kept[dropped]?.data.length ?? 0;
      dropped += 1;
    }
    this.#kept.splice(0, dropped);
    this.#first += dropped;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /**
   * Yields the changes after a cursor, and then new ones until the signal aborts; null as a sign of life. Ends with a
   * `reset` if the cursor is not of this run, or if the changes after it are not kept any more.
   */
  async *follow(
    cursor: string,
    signal: AbortSignal,
  ): AsyncGenerator<StreamMessage | null, void, undefined> {
    const start = this.#parse(cursor);
    if (start === null) {
      yield reset('the cursor is of another run of the server');
      return;
    }
    for (let next = start + 1; !signal.aborted;) {
      if (next < this.#first) {
        yield reset(
          `the page is too far behind: the server keeps ${this.#maxLength} characters of changes`,
        );
        return;
      }
      const change = this.#kept[next - this.#first];
      if (change === undefined) {
        if (!(await this.#waitForNews(signal))) yield null;
        continue;
      }
      yield { event: change.event, id: this.#cursorAt(next), data: change.data };
      next += 1;
    }
  }

  get #last(): number {
    return this.#first + this.#kept.length - 1;
  }

  #cursorAt(number: number): string {
    return `${this.#run}:${number}`;
  }

  #parse(cursor: string): number | null {
    const [run, digits = ''] = cursor.split(':');
    if (run !== this.#run || !/^\d{1,15}$/.test(digits)) return null;
    const number = Number(digits);
    return number > this.#last ? null : number;
  }

  /** Resolves to true when there is a new change or the signal aborts, and to false after a time without one. */
  async #waitForNews(signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const wake = (): void => resolve(true);
    this.#waiting.add(wake);
    const removeListener = onAbort(signal, wake);
    const timer = setTimeout(() => resolve(false), SIGN_OF_LIFE_MS);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      removeListener();
      this.#waiting.delete(wake);
    }
  }
}

function reset(reason: string): StreamMessage {
  const data: ChangeMessages['reset'] = { reason };
  return { event: 'reset', id: null, data: JSON.stringify(data) };
}
