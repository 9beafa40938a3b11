import type { FileMemory } from '../../protocol/tool.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { deferred } from '../../base/async.ts';
import { isInside } from '../../base/path-inside.ts';

/** The version of a file that a task wrote. */
export interface WrittenVersion {
  readonly task: string;
  readonly agent: string;
  /** The hash of the new content; null when the task deleted the file or moved it away. */
  readonly hash: string | null;
}

/**
 * Tracks which task of a tree wrote or removed each file last, by real path. It is lost with the process; the
 * versions from before are read from the logs.
 */
export class FileVersions {
  private readonly last = new Map<string, WrittenVersion>();
  private readLogs: (() => FileVersions) | null = null;
  private before: FileVersions | null = null;

  /** Sets the function that reads the versions from before this process, called once when they are first needed. */
  setEarlierVersions(readLogs: () => FileVersions): void {
    this.readLogs = readLogs;
  }

  /** Notes a write before it is done. If it is never done, its hash matches no content. */
  set(path: string, version: WrittenVersion): void {
    this.last.set(path, version);
  }

  /** Finds the task that left a file with this hash (null: removed it), if it is another one than the reader. */
  findOtherWriter(path: string, hash: string | null, reader: string): WrittenVersion | undefined {
    const version = this.last.get(path);
    if (version !== undefined && version.hash === hash) {
      return version.task === reader ? undefined : version;
    }
    if (this.before === null && this.readLogs !== null) this.before = this.readLogs();
    return this.before?.findOtherWriter(path, hash, reader);
  }
}

/** Stands for the hash of a file that another task removed, once this task was notified of that. */
const GONE = 'gone';

/** Creates the file memory of a task: the files in its state, and those that running calls have just seen. */
export function createFileMemory(state: TaskState, versions: FileVersions): FileMemory {
  const fresh = new Map<string, string>();
  const { id, agent } = state.spec;
  const setVersion = (path: string, hash: string | null) =>
    versions.set(path, { task: id, agent: agent.name, hash });
  const named = (path: string, hash: string | null) => {
    const by = versions.findOtherWriter(path, hash, id);
    return by === undefined ? undefined : `task ${by.task} (${by.agent})`;
  };
  const seen = (path: string) => fresh.get(path) ?? state.knownFiles.get(path) ?? undefined;
  return {
    seen,
    remember: (path, hash) => void fresh.set(path, hash),
    willWrite: setVersion,
    willRemove: (path) => setVersion(path, null),
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

/** The maximum number of files that a note names; the others are counted. */
const MAX_NAMED = 5;

/**
 * Returns a note for the parent about files that it has read and that an ended child, or a task below that, has
 * changed since. Empty when there are none.
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
  const named = stale.slice(0, MAX_NAMED).join(', ');
  const rest = stale.length > MAX_NAMED ? ` and ${stale.length - MAX_NAMED} more` : '';
  return `[Changed since you read it: ${named}${rest}. Read again what you go on with.]`;
}

interface Turn {
  readonly paths: readonly string[];
  readonly over: Promise<void>;
}

/**
 * Makes the calls of a tree that change the same files take turns. Between the check of a file and the write no
 * other task of the tree can change it, so that the second writer is notified of the first.
 */
export class FileLocks {
  private readonly turns = new Set<Turn>();

  /**
   * Runs `work` while it holds the lock on these paths (absolute, real; a directory includes all files in it).
   * Never waits for a call that came later.
   */
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
