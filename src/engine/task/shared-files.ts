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
 * Tracks which task of a tree last wrote or removed each file, by real path. The data is lost with the process; the
 * versions from before this process are read from the logs.
 */
export class FileVersions {
  private readonly newest = new Map<string, WrittenVersion>();
  private readLogs: (() => FileVersions) | null = null;
  private earlier: FileVersions | null = null;

  /**
   * Sets the function that reads the versions from before this process. It is called once, when they are first
   * needed.
   */
  setEarlierVersions(readLogs: () => FileVersions): void {
    this.readLogs = readLogs;
  }

  /**
   * Records a write before it happens. If the write never happens, its hash matches no content, so the record has no
   * effect.
   */
  set(path: string, version: WrittenVersion): void {
    this.newest.set(path, version);
  }

  /**
   * Finds the task that gave a file its present content, if it is a different task than the reader.
   *
   * @param hash the hash of the content; null if the file was removed
   */
  findOtherWriter(path: string, hash: string | null, reader: string): WrittenVersion | undefined {
    const version = this.newest.get(path);
    if (version !== undefined && version.hash === hash) {
      return version.task === reader ? undefined : version;
    }
    if (this.earlier === null && this.readLogs !== null) this.earlier = this.readLogs();
    return this.earlier?.findOtherWriter(path, hash, reader);
  }
}

/** Replaces the hash of a file that another task has removed, once this task has been notified of the removal. */
const GONE = 'gone';

/** Creates the file memory of a task: the files in its state, and the files that its running calls have just seen. */
export function createFileMemory(state: TaskState, versions: FileVersions): FileMemory {
  const seenByRunningCalls = new Map<string, string>();
  const { id, agent } = state.spec;
  const setVersion = (path: string, hash: string | null) =>
    versions.set(path, { task: id, agent: agent.name, hash });
  const nameOtherWriter = (path: string, hash: string | null) => {
    const by = versions.findOtherWriter(path, hash, id);
    return by === undefined ? undefined : `task ${by.task} (${by.agent})`;
  };
  const seen = (path: string) =>
    seenByRunningCalls.get(path) ?? state.knownFiles.get(path) ?? undefined;
  return {
    seen,
    remember: (path, hash) => void seenByRunningCalls.set(path, hash),
    willWrite: setVersion,
    willRemove: (path) => setVersion(path, null),
    changedBy: nameOtherWriter,
    removedBy: (path) => nameOtherWriter(path, null),
    acceptRemoval: (path) => {
      const known = seen(path);
      if (known === undefined || known === GONE) return false;
      seenByRunningCalls.set(path, GONE);
      return true;
    },
  };
}

/** The maximum number of files that a note names. The other files are only counted. */
const MAX_NAMED = 5;

/**
 * Returns a note for the parent about files that the parent has read and that an ended child or its descendants have
 * changed since. Returns '' when there are no such files.
 */
export function staleReadsNote(parent: TaskState, child: TaskState): string {
  const stale = [...child.filesChanged.values()]
    .filter(({ path, after }) => {
      const knownHash = parent.knownFiles.get(path);
      if (knownHash === undefined || knownHash === null || knownHash === after) return false;
      // Ignore a file that the parent has overwritten since: a child in the background ends later than it writes.
      const ownChange = parent.filesChanged.get(path);
      return ownChange?.after !== knownHash || ownChange.before !== after;
    })
    .map(({ path }) => JSON.stringify(path));
  if (stale.length === 0) return '';
  const named = stale.slice(0, MAX_NAMED).join(', ');
  const rest = stale.length > MAX_NAMED ? ` and ${stale.length - MAX_NAMED} more` : '';
  return `[Changed since you read it: ${named}${rest}. Read again what you go on with.]`;
}

/** One use of the lock: its paths, and the promise of its end. */
interface LockTurn {
  readonly paths: readonly string[];
  readonly over: Promise<void>;
}

/**
 * Makes the calls of a tree that change the same files run one after another. Between the check of a file and the
 * write no other task of the tree can change the file, so the second writer is notified of the first write.
 */
export class FileLocks {
  private readonly turns = new Set<LockTurn>();

  /**
   * Runs `work` while it holds the lock on these paths (absolute, real; a directory includes all files in it). Waits
   * only for calls that came earlier.
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
