import type { RequestPriority } from '../../protocol/model.ts';

/** A request as the queue sees it. */
export interface QueuedRequest {
  readonly lane: RequestPriority;
  /** The position of the request: within a tree, smaller numbers come first. */
  readonly order: number;
  /** The time at which it first waited, on a monotonic clock. */
  readonly since: number;
}

/** A background request that has waited this long (ms) gets its share: */
const BACKGROUND_DUE_MS = 10_000;
/** one slot after this many that went to the foreground in a row. */
const FOREGROUND_PER_BACKGROUND = 3;

/**
 * Orders the waiting requests: the foreground comes before the background, the trees of tasks take turns, and
 * within a tree the first comes first. Background requests that have waited long get a share.
 */
export class RequestQueue<T extends QueuedRequest> {
  private readonly foreground = new RoundRobin<T>();
  private readonly background = new RoundRobin<T>();
  private consecutiveForeground = 0;

  get size(): number {
    return this.foreground.size + this.background.size;
  }

  add(one: T): void {
    this.lineFor(one).add(one);
  }

  /** Removes a request. Does nothing if it is not in the queue. */
  remove(one: T): void {
    this.lineFor(one).remove(one);
  }

  next(now: number): T | undefined {
    return this.line(now).next();
  }

  /** Removes and returns the request that is `next`. */
  take(now: number): T | undefined {
    const nextLine = this.line(now);
    this.consecutiveForeground =
      nextLine === this.foreground && this.background.size > 0 ? this.consecutiveForeground + 1 : 0;
    return nextLine.take();
  }

  private lineFor({ lane }: T): RoundRobin<T> {
    return lane.background ? this.background : this.foreground;
  }

  private line(now: number): RoundRobin<T> {
    const { foreground, background } = this;
    if (foreground.size === 0 || background.size === 0) {
      return foreground.size === 0 ? background : foreground;
    }
    const isDue =
      this.consecutiveForeground >= FOREGROUND_PER_BACKGROUND &&
      now - background.oldest() >= BACKGROUND_DUE_MS;
    return isDue ? background : foreground;
  }
}

/** Requests by tree. The trees take turns: a new tree, and one that has had its turn, comes last. */
class RoundRobin<T extends QueuedRequest> {
  size = 0;
  private readonly trees = new Map<string, T[]>();

  add(one: T): void {
    const waiting = this.trees.get(one.lane.tree) ?? [];
    // This is nearly always the end: only a refused request returns to an earlier position.
    const previous = waiting.findLastIndex(({ order }) => order < one.order);
    waiting.splice(previous + 1, 0, one);
    this.trees.set(one.lane.tree, waiting);
    this.size += 1;
  }

  remove(one: T): void {
    const { tree } = one.lane;
    const waiting = this.trees.get(tree) ?? [];
    const index = waiting.indexOf(one);
    if (index === -1) return;
    waiting.splice(index, 1);
    this.size -= 1;
    if (waiting.length === 0) this.trees.delete(tree);
  }

  next(): T | undefined {
    for (const [first] of this.trees.values()) return first;
    return undefined;
  }

  take(): T | undefined {
    for (const [tree, waiting] of this.trees) {
      const first = waiting.shift();
      this.trees.delete(tree);
      if (waiting.length > 0) this.trees.set(tree, waiting);
      this.size -= 1;
      return first;
    }
    return undefined;
  }

  oldest(): number {
    let oldest = Infinity;
    for (const [first] of this.trees.values()) oldest = Math.min(oldest, first?.since ?? Infinity);
    return oldest;
  }
}
