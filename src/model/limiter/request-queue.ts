import type { Lane } from '../../protocol/model.ts';

/** One that waits in line. */
export interface QueuedRequest {
  readonly lane: Lane;
  /** Its place: smaller comes first among those of its tree. */
  readonly order: number;
  /** When it first asked, on a monotonic clock. */
  readonly since: number;
}

/** A background request that has waited that long gets its share… */
const AGED_MS = 10_000;
/** …one lane after so many in a row that went to the foreground. */
const FOREGROUND_IN_A_ROW = 3;

/**
 * Who is next: the foreground before the background, the trees of each in turn, and within a tree who
 * came first. What waits in the background goes at last, too.
 */
export class RequestQueue<T extends QueuedRequest> {
  private readonly foreground = new Turns<T>();
  private readonly background = new Turns<T>();
  private inARow = 0;

  get size(): number {
    return this.foreground.size + this.background.size;
  }

  add(one: T): void {
    this.of(one).add(one);
  }

  /** One that is not in line is none the less not in line afterwards. */
  remove(one: T): void {
    this.of(one).remove(one);
  }

  next(now: number): T | undefined {
    return this.favoured(now).next();
  }

  /** Takes out who is `next`. */
  take(now: number): T | undefined {
    const favoured = this.favoured(now);
    this.inARow = favoured === this.foreground && this.background.size > 0 ? this.inARow + 1 : 0;
    return favoured.take();
  }

  /** In no order. */
  *all(): Iterable<T> {
    yield* this.foreground.all();
    yield* this.background.all();
  }

  private of({ lane }: T): Turns<T> {
    return lane.background ? this.background : this.foreground;
  }

  private favoured(now: number): Turns<T> {
    const { foreground, background } = this;
    if (foreground.size === 0 || background.size === 0) {
      return foreground.size === 0 ? background : foreground;
    }
    const isDue = this.inARow >= FOREGROUND_IN_A_ROW && now - background.oldest() >= AGED_MS;
    return isDue ? background : foreground;
  }
}

/** Trees in turn; a tree that comes, or has had its turn, is the last. */
class Turns<T extends QueuedRequest> {
  size = 0;
  private readonly trees = new Map<string, T[]>();

  add(one: T): void {
    const waiting = this.trees.get(one.lane.tree) ?? [];
    // Nearly always the last place: only one that was refused comes back to an earlier one.
    const behind = waiting.findLastIndex(({ order }) => order < one.order);
    waiting.splice(behind + 1, 0, one);
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

  *all(): Iterable<T> {
    for (const waiting of this.trees.values()) yield* waiting;
  }
}
