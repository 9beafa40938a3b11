import { deferred } from '../../base/async.ts';
import { isInside } from '../../base/path-inside.ts';

interface Turn {
  readonly paths: readonly string[];
  readonly over: Promise<void>;
}

/**
 * Lets the calls of a tree that change files take turns where they change the same ones: between the
 * look at a file and the write over it no other task of the tree gets at it, so that whoever comes second
 * is told who came first.
 */
export class FileLocks {
  private readonly turns = new Set<Turn>();

  /** `paths`: absolute, real; a directory stands for all in it. Never waits for one that came later. */
  async take<T>(paths: readonly string[], work: () => Promise<T>): Promise<T> {
    const earlier = [...this.turns].filter((turn) => overlaps(turn.paths, paths));
    const { promise, resolve } = deferred<void>();
    const turn = { paths, over: promise };
    this.turns.add(turn);
    try {
      await Promise.all(earlier.map(({ over }) => over));
      return await work();
    } finally {
      this.turns.delete(turn);
      resolve();
    }
  }
}

function overlaps(some: readonly string[], others: readonly string[]): boolean {
  return some.some((a) => others.some((b) => isInside(a, b) || isInside(b, a)));
}
