/**
 * Web streams without a promise for each value and stage: what one stage gives is handed to the next
 * by a call, and only who reads at the end waits. Node's own cost more than all that is done in them
 * when a thousand answers stream at once (docs/decisions/0005).
 *
 * They have the part of the standard that the provider packages use: readers, `pipeThrough`, `tee`;
 * no strategies, no byte streams, no iteration, no asynchronous `start`. Values that came before an
 * error are read before it; the standard's streams may drop those.
 */

/** Values that may wait at a stage before its source is asked to pause. */
export const AHEAD = 16;

export type Read<T> =
  | { readonly done: false; readonly value: T }
  | { readonly done: true; readonly value: undefined };

export type End = { readonly failed: false } | { readonly failed: true; readonly reason: unknown };

const DONE: Read<never> = { done: true, value: undefined };
const CLOSED: End = { failed: false };

interface Controller<T> {
  /** Above 0 as long as more is wanted. */
  readonly desiredSize: number;
  enqueue(value: T): void;
  close(): void;
  error(reason: unknown): void;
}

interface Source<T> {
  start?(controller: Controller<T>): void;
  /** Asked for more, and again when what it returned has settled. */
  pull?(controller: Controller<T>): unknown;
  cancel?(reason: unknown): unknown;
  /**
   * Whether, once asked, it goes on by itself until it sees that no more is wanted, and need not be asked for
   * each value: with each stage between, that costs. Default false.
   */
  flows?(): boolean;
}

/** Whom a stream hands its values to once it is piped or split. */
export interface Sink<T> {
  write(value: T): void;
  /** After the last value; `fail` in its stead where it ends with an error. */
  close(): void;
  fail(reason: unknown): void;
  wantsMore(): boolean;
}

/** Where `pipeThrough` leads. */
export interface Stage<I, O> extends Sink<I> {
  readonly readable: PlainReadableStream<O>;
  /** Told first where the values will come from. */
  follow(upstream: PlainReadableStream<I>): void;
}

export class PlainReadableStream<T> {
  private readonly source: Source<T>;
  private readonly controller: Controller<T>;
  private readonly values: Read<T>[] = [];
  private readonly reads: PromiseWithResolvers<Read<T>>[] = [];
  private isLocked = false;
  private end: End | null = null;
  private sink: Sink<T> | null = null;
  private isPulling = false;
  /** Asked for more, and it has not seen since that no more is wanted. */
  private isFlowing = false;
  private describe: ((reason: unknown) => unknown) | null = null;
  /** Whether a value came since it was asked for one. */
  private gave = false;

  constructor(source: Source<T> = {}) {
    this.source = source;
    this.controller = new StreamController(this);
    source.start?.(this.controller);
  }

  get locked(): boolean {
    return this.isLocked;
  }

  getReader(): PlainReader<T> {
    this.lock();
    return new PlainReader(this);
  }

  pipeThrough<O>(stage: Stage<T, O>): PlainReadableStream<O> {
    this.lock();
    stage.follow(this);
    this.handTo(stage);
    return stage.readable;
  }

  /** Both get all values; the source runs as far ahead as the faster one. */
  tee(): [PlainReadableStream<T>, PlainReadableStream<T>] {
    this.lock();
    let left = 2;
    const branch = () =>
      new PlainReadableStream<T>({
        pull: () => this.ask(),
        flows: () => this.flows,
        cancel: (reason) => {
          left -= 1;
          return left === 0 ? this.leave(reason) : undefined;
        },
      });
    const [one, other] = [branch(), branch()];
    const both = (tell: (branch: PlainReadableStream<T>) => void): void => {
      tell(one);
      tell(other);
    };
    this.handTo({
      write: (value) => both((to) => to.put(value)),
      close: () => both((to) => to.finish(CLOSED)),
      fail: (reason) => both((to) => to.finish(failure(reason))),
      wantsMore: () => one.wantsMore() || other.wantsMore(),
    });
    return [one, other];
  }

  async cancel(reason?: unknown): Promise<void> {
    if (this.isLocked) throw new TypeError('the stream is locked');
    await this.leave(reason);
  }

  /** This stream, which fails with what `describe` makes of the reason: no stage between costs nothing. */
  failingAs(describe: (reason: unknown) => unknown): this {
    if (this.isLocked) throw new TypeError('the stream is locked');
    this.describe = describe;
    if (this.end?.failed === true) this.end = failure(describe(this.end.reason));
    return this;
  }

  // The rest is for readers, controllers and stages.

  read(): Promise<Read<T>> {
    const value = this.values.shift();
    if (value !== undefined) {
      this.ask();
      return Promise.resolve(value);
    }
    if (this.end !== null) {
      return this.end.failed ? Promise.reject(this.end.reason) : Promise.resolve(DONE);
    }
    const read = Promise.withResolvers<Read<T>>();
    this.reads.push(read);
    this.ask();
    return read.promise;
  }

  unlock(): void {
    this.isLocked = false;
    for (const read of this.reads.splice(0)) read.reject(released());
  }

  /** Nobody wants any more of it. Rejects with what it failed with, or what its source says to that. */
  async leave(reason: unknown): Promise<void> {
    this.values.length = 0;
    this.sink = null;
    if (this.end?.failed === true) throw this.end.reason;
    if (this.end !== null) return;
    this.finish(CLOSED);
    await this.source.cancel?.(reason);
  }

  put(value: T): void {
    if (this.end !== null) return;
    this.gave = true;
    if (this.sink !== null) {
      this.sink.write(value);
      return;
    }
    const read = this.reads.shift();
    if (read === undefined) this.values.push({ done: false, value });
    else read.resolve({ done: false, value });
  }

  /** The first end stands. */
  finish(end: End): void {
    if (this.end !== null) return;
    this.end = end.failed && this.describe !== null ? failure(this.describe(end.reason)) : end;
    if (this.sink !== null) tellEnd(this.sink, this.end);
    for (const read of this.reads.splice(0)) {
      if (this.end.failed) read.reject(this.end.reason);
      else read.resolve(DONE);
    }
  }

  /** Also remembers a no: whoever heard it pauses, and is to be asked again. */
  wantsMore(): boolean {
    const hasRoom = this.sink === null ? this.values.length < AHEAD : this.sink.wantsMore();
    if (hasRoom && this.end === null) return true;
    this.isFlowing = false;
    return false;
  }

  /** Whether its values come by themselves once it was asked. */
  get flows(): boolean {
    return this.source.flows?.() === true;
  }

  /** Has the source go on, where it has to be asked. */
  ask(): void {
    try {
      while (this.pullOnce());
    } catch (reason) {
      this.finish(failure(reason));
    }
  }

  /** Whether it is worth asking again at once. */
  private pullOnce(): boolean {
    if (this.isPulling || this.isFlowing) return false;
    if (this.source.pull === undefined || !this.wantsMore()) return false;
    this.isPulling = true;
    this.gave = false;
    // Ahead of it: it may have given enough by the time that it returns.
    this.isFlowing = this.flows;
    const pulled = this.source.pull(this.controller);
    if (pulled instanceof Promise) {
      void this.pulledLater(pulled);
      return false;
    }
    this.isPulling = false;
    return this.gave;
  }

  private async pulledLater(pulled: Promise<unknown>): Promise<void> {
    try {
      await pulled;
    } catch (reason) {
      this.finish(failure(reason));
    }
    this.isPulling = false;
    this.ask();
  }

  private lock(): void {
    if (this.isLocked) throw new TypeError('the stream is locked');
    this.isLocked = true;
  }

  private handTo(sink: Sink<T>): void {
    this.sink = sink;
    for (const { done, value } of this.values.splice(0)) if (!done) sink.write(value);
    if (this.end !== null) tellEnd(sink, this.end);
    this.ask();
  }
}

/** A class, as an object with a getter of its own is one of its own shape, and slow to use. */
class StreamController<T> implements Controller<T> {
  private readonly stream: PlainReadableStream<T>;

  constructor(stream: PlainReadableStream<T>) {
    this.stream = stream;
  }

  get desiredSize(): number {
    return this.stream.wantsMore() ? 1 : 0;
  }

  enqueue(value: T): void {
    this.stream.put(value);
  }

  close(): void {
    this.stream.finish(CLOSED);
  }

  error(reason: unknown): void {
    this.stream.finish(failure(reason));
  }
}

function failure(reason: unknown): End {
  return { failed: true, reason };
}

function tellEnd<T>(sink: Sink<T>, end: End): void {
  if (end.failed) sink.fail(end.reason);
  else sink.close();
}

class PlainReader<T> {
  private stream: PlainReadableStream<T> | null;

  constructor(stream: PlainReadableStream<T>) {
    this.stream = stream;
  }

  read(): Promise<Read<T>> {
    return this.stream === null ? Promise.reject(released()) : this.stream.read();
  }

  async cancel(reason?: unknown): Promise<void> {
    if (this.stream === null) throw released();
    await this.stream.leave(reason);
  }

  releaseLock(): void {
    this.stream?.unlock();
    this.stream = null;
  }
}

function released(): TypeError {
  return new TypeError('the reader was released');
}
