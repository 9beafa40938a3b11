import type { RequestPriority } from '../../protocol/model.ts';

/** The properties of a request by which the queue orders it. */
export interface QueuedRequest {
  readonly priority: RequestPriority;
  /** The position of the request: within a tree, smaller numbers come first. */
  readonly order: number;
  /** The time at which the request first waited, on a monotonic clock. */
  readonly waitingSince: number;
}

/** A request in the background that has waited this long gets every fourth slot (see `FOREGROUND_PER_BACKGROUND`). */
const MIN_BACKGROUND_WAIT_MS = 10_000;
/** The number of slots in a row for the foreground, after which a long-waiting request of the background gets one. */
const FOREGROUND_PER_BACKGROUND = 3;

/**
 * Orders the waiting requests: the foreground comes before the background, the trees of tasks take turns, and within
 * a tree the oldest request comes first. Requests in the background that have waited long get every fourth slot.
 */
export class RequestQueue<T extends QueuedRequest> {
  private readonly foreground = new RoundRobin<T>();
  private readonly background = new RoundRobin<T>();
  /** The number of slots in a row that went to the foreground while a request in the background waited. */
  private consecutiveForeground = 0;

  get size(): number {
    return this.foreground.size + this.background.size;
  }

  add(request: T): void {
    this.selectQueue(request).add(request);
  }

  /** Removes a request. Does nothing if the request is not in the queue. */
  remove(request: T): void {
    this.selectQueue(request).remove(request);
  }

  /** Returns the request that `take` would remove; undefined: the queue is empty. */
  next(now: number): T | undefined {
    return this.chooseNextQueue(now).next();
  }

  /** Removes and returns the next request. */
  take(now: number): T | undefined {
    const nextQueue = this.chooseNextQueue(now);
    this.consecutiveForeground =
      nextQueue === this.foreground && this.background.size > 0
        ? this.consecutiveForeground + 1
        : 0;
    return nextQueue.take();
  }

  private selectQueue({ priority }: T): RoundRobin<T> {
    return priority.background ? this.background : this.foreground;
  }

  private chooseNextQueue(now: number): RoundRobin<T> {
    const { foreground, background } = this;
    if (foreground.size === 0 || background.size === 0) {
      return foreground.size === 0 ? background : foreground;
    }
    const isDue =
      this.consecutiveForeground >= FOREGROUND_PER_BACKGROUND &&
      now - background.findOldestStart() >= MIN_BACKGROUND_WAIT_MS;
    return isDue ? background : foreground;
  }
}

/** The waiting requests by tree. The trees take turns: a new tree comes last, as does a tree after its turn. */
class RoundRobin<T extends QueuedRequest> {
  size = 0;
  private readonly trees = new Map<string, T[]>();

  add(request: T): void {
    const waiting = this.trees.get(request.priority.tree) ?? [];
    // The request is nearly always added at the end: only a refused request returns to an earlier position.
    const previous = waiting.findLastIndex(({ order }) => order < request.order);
    waiting.splice(previous + 1, 0, request);
    this.trees.set(request.priority.tree, waiting);
    this.size += 1;
  }

  remove(request: T): void {
    const { tree } = request.priority;
    const waiting = this.trees.get(tree) ?? [];
    const index = waiting.indexOf(request);
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

  /** Returns the time since which the oldest request has waited; infinite: no request waits. */
  findOldestStart(): number {
    let oldest = Infinity;
    for (const [first] of this.trees.values())
      oldest = Math.min(oldest, first?.waitingSince ?? Infinity);
    return oldest;
  }
}
