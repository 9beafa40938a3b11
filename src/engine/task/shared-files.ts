import type { FileMemory } from '../../protocol/tool.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { deferred } from '../../base/async.ts';
import { isInside } from '../../base/path-inside.ts';

export interface WrittenVersion {
  readonly task: string;
  readonly agent: string;
  /** Of what it left there; null: it deleted the file, or moved it away. */
  readonly hash: string | null;
}

/**
 * Which task of a tree wrote a file last, or took it away, by real path. It dies with the process: what
 * was done before that, only logs tell.
 */
export class FileVersions {
  private readonly last = new Map<string, WrittenVersion>();
  private readLogs: (() => FileVersions) | null = null;
  private before: FileVersions | null = null;

  /** `readLogs`: what the tree did under an owner that is gone. Read once, when it is first asked for. */
  setEarlierVersions(readLogs: () => FileVersions): void {
    this.readLogs = readLogs;
  }

  /** Set before it is done: where it never is, it fits nothing that is found. */
  set(path: string, stamp: WrittenVersion): void {
    this.last.set(path, stamp);
  }

  /** Who left the file as it is (null: gone), when that was another task. */
  findOtherWriter(path: string, hash: string | null, reader: string): WrittenVersion | undefined {
    const stamp = this.last.get(path);
    if (stamp !== undefined && stamp.hash === hash) {
      return stamp.task === reader ? undefined : stamp;
    }
    if (this.before === null && this.readLogs !== null) this.before = this.readLogs();
    return this.before?.findOtherWriter(path, hash, reader);
  }
}

/** Stands for the hash of a file that another task took away, once this one was told so. */
const GONE = 'gone';

/** What the fold knows, and on top what calls under way have just seen. */
export function createFileMemory(state: TaskState, stamps: FileVersions): FileMemory {
  const fresh = new Map<string, string>();
  const { id, agent } = state.spec;
  const stamp = (path: string, hash: string | null) =>
    stamps.set(path, { task: id, agent: agent.name, hash });
  const named = (path: string, hash: string | null) => {
    const by = stamps.findOtherWriter(path, hash, id);
    return by === undefined ? undefined : `task ${by.task} (${by.agent})`;
  };
  const seen = (path: string) => fresh.get(path) ?? state.knownFiles.get(path) ?? undefined;
  return {
    seen,
    remember: (path, hash) => void fresh.set(path, hash),
    willWrite: stamp,
    willRemove: (path) => stamp(path, null),
    changedBy: named,
    removedBy: (path) => named(path, null),
    acceptRemoval: (path) => {
      const known = seen(path);
      if (known === undefined || known === GONE) return false;
      fresh.set(path, GONE);
      return true;
    },
  };
}

/** At most so many are named; the others are counted. */
const MOST_NAMED = 5;

/**
 * What the parent is told of its own reads that an ended child, with all below it, has made stale;
 * empty: none.
 */
export function staleReadsNote(parent: TaskState, child: TaskState): string {
  const stale = [...child.filesChanged.values()]
    .filter(({ path, after }) => {
      const known = parent.knownFiles.get(path);
      if (known === undefined || known === null || known === after) return false;
      // Unless the parent has written over it since: a child in the background ends later than it writes.
      const own = parent.filesChanged.get(path);
      return own?.after !== known || own.before !== after;
    })
    .map(({ path }) => JSON.stringify(path));
  if (stale.length === 0) return '';
  const named = stale.slice(0, MOST_NAMED).join(', ');
  const rest = stale.length > MOST_NAMED ? ` and ${stale.length - MOST_NAMED} more` : '';
  return `[Changed since you read it: ${named}${rest}. Read again what you go on with.]`;
}

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
  async withLock<T>(paths: readonly string[], work: () => Promise<T>): Promise<T> {
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
