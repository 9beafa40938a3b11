import { basename } from 'node:path';
import { isInside } from '../../../base/path-inside.ts';
import { listenToOwnChanges } from '../own-writes.ts';
import { DirectoryWatches } from './directory-watches.ts';
import { FormerVersions, toVersion, type StoreContent } from './former-versions.ts';
import { KeptContents } from './kept-contents.ts';
import { isSameVersion, mergeChanges, type PathChange } from './path-change.ts';
import type { FileEntry } from './file-entries.ts';
import type { ChangeReport } from './index-entries.ts';
import { RootIndex } from './root-index.ts';
import { isCacheDirectory } from './summarized-directories.ts';

/** Changes that are not listed one by one. */
export interface UnlistedDirectory {
  /** The absolute path of a directory. */
  readonly path: string;
  /**
   * `dependencies`: it holds dependencies or a cache. `names`: it holds names that are not valid UTF-8. `untracked`: its
   * changes cannot be found.
   */
  readonly reason: 'dependencies' | 'names' | 'untracked';
  /** The limit because of which changes cannot be found. Set for `untracked`. */
  readonly detail?: string;
}

/** The changes that a command has made in its roots. */
export interface ObservedChanges {
  readonly changes: readonly PathChange[];
  readonly unlisted: readonly UnlistedDirectory[];
}

/** The observation of one running command. */
export interface ChangeObservation {
  /** Finds the changes so far. Call it now and then during a long command, so that the times of changes are known. */
  checkpoint(): Promise<void>;
  /** Ends the observation. Resolves to all changes since its begin. */
  end(): Promise<ObservedChanges>;
  /** Ends the observation without a result. May also be called after `end`. */
  cancel(): void;
}

/** Is called for each change of a file that is found, whoever made it. */
export interface FoundChangeListener {
  found(path: string, kind: 'created' | 'changed' | 'deleted'): void;
  /** Called for changes that are not listed one by one, except those in caches. */
  unlisted(directory: string): void;
}

/** A change that was found but whose earlier content has not been looked up yet. */
interface FoundChange {
  readonly path: string;
  readonly before: FileEntry | null;
  readonly after: FileEntry | null;
  readonly observers: readonly Observer[];
  readonly at: number;
}

/** The parts of a `WorkspaceChanges`. */
export interface WorkspaceChangesParts {
  /** Absolute paths that are left out, such as Muster's own data directory. */
  readonly excluded: readonly string[];
  /** Returns the milliseconds since the epoch. */
  readonly now: () => number;
  /** Watches the directories. Default: as this system can. */
  readonly watches?: DirectoryWatches;
}

/**
 * Finds what commands change in the roots of a workspace. Keeps an index of the files of each root and compares it with
 * the disk when a command begins and when it ends: what was changed before its begin is not attributed to it, and
 * neither is what Muster itself has changed.
 */
export class WorkspaceChanges {
  private readonly parts: WorkspaceChangesParts;
  private readonly watches: DirectoryWatches;
  private readonly contents = new KeptContents();
  private readonly indexes = new Map<string, RootIndex>();
  private readonly active = new Set<Observer>();
  private readonly listeners = new Set<FoundChangeListener>();
  private readonly excluded: ReadonlySet<string>;
  private readonly stopListening: () => void;
  private found: FoundChange[] = [];
  private last: Promise<unknown> = Promise.resolve();

  constructor(parts: WorkspaceChangesParts) {
    this.parts = parts;
    this.watches = parts.watches ?? new DirectoryWatches();
    this.excluded = new Set(parts.excluded);
    this.stopListening = listenToOwnChanges({
      before: (path) => {
        if (this.active.size > 0) this.updateNow(path, this.attributed);
      },
      after: (path) => this.updateNow(path, this.unattributed),
    });
  }

  /**
   * Brings the indexes of these roots up to date, and builds them at first, which takes some time. The roots are absolute
   * and contain no links. Resolves to false if the changes of a root cannot be found.
   */
  async prepare(roots: readonly string[]): Promise<boolean> {
    const indexes = this.openIndexes(roots);
    await this.runAlone(() => this.update(indexes));
    return indexes.every(({ problem }) => problem === null);
  }

  /** Adds a listener for all changes that are found after the first look. Returns a function that removes it. */
  listen(listener: FoundChangeListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Begins to observe a command that can write in these roots. */
  async begin(roots: readonly string[], store: StoreContent): Promise<ChangeObservation> {
    const observer = new Observer(roots, store);
    const indexes = this.openIndexes(roots);
    await this.runAlone(async () => {
      await this.update(indexes);
      this.active.add(observer);
    });
    return {
      checkpoint: () => this.runAlone(() => this.update(indexes, { isMeanwhile: true })),
      end: () =>
        this.runAlone(async () => {
          try {
            await this.update(indexes);
          } finally {
            this.active.delete(observer);
          }
          return observer.result(indexes);
        }),
      cancel: () => void this.active.delete(observer),
    };
  }

  /** Closes all watches. */
  close(): void {
    this.stopListening();
    for (const index of this.indexes.values()) index.close();
    this.indexes.clear();
    this.watches.close();
  }

  /** Reports changes to the listeners only: Muster made them, or no command runs. */
  private readonly unattributed: ChangeReport = {
    needsContents: false,
    file: (path, before, after) => {
      const kind = before === null ? 'created' : after === null ? 'deleted' : 'changed';
      for (const listener of this.listeners) listener.found(path, kind);
    },
    summarized: (path) => {
      if (!isCacheDirectory(basename(path))) this.announceUnlisted(path);
    },
    unreadableName: () => {},
    incomplete: (path) => this.announceUnlisted(path),
  };

  /** Reports changes to the commands that run, too. */
  private readonly attributed: ChangeReport = {
    needsContents: true,
    file: (path, before, after) => {
      this.unattributed.file(path, before, after);
      const observers = this.observersOf(path);
      const at = this.parts.now();
      if (observers.length > 0) this.found.push({ path, before, after, observers, at });
    },
    summarized: (path) => {
      this.unattributed.summarized(path);
      this.addUnlisted({ path, reason: 'dependencies' });
    },
    unreadableName: (path) => this.addUnlisted({ path, reason: 'names' }),
    incomplete: (path, detail) => {
      this.unattributed.incomplete(path, detail);
      this.addUnlisted({ path, reason: 'untracked', detail });
    },
  };

  private announceUnlisted(directory: string): void {
    for (const listener of this.listeners) listener.unlisted(directory);
  }

  private addUnlisted(unlisted: UnlistedDirectory): void {
    for (const observer of this.observersOf(unlisted.path)) observer.addUnlisted(unlisted);
  }

  private observersOf(path: string): readonly Observer[] {
    return [...this.active].filter((observer) => observer.covers(path));
  }

  private openIndexes(roots: readonly string[]): readonly RootIndex[] {
    const outer = roots.filter(
      (root) => !roots.some((each) => each !== root && isInside(each, root)),
    );
    return [...new Set(outer)].map((root) => {
      const open = [...this.indexes.values()].find((index) => isInside(index.root, root));
      if (open !== undefined) return open;
      const { excluded, watches, contents } = this;
      const index = new RootIndex({ root, excluded, watches, contents });
      this.indexes.set(root, index);
      return index;
    });
  }

  /** Runs work after all earlier work, because two updates of an index at the same time would disturb each other. */
  private runAlone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.last.then(work);
    this.last = done.catch(() => {});
    return done;
  }

  /** `isMeanwhile`: true for an update while all observed commands continue. */
  private async update(
    indexes: readonly RootIndex[],
    { isMeanwhile } = { isMeanwhile: false },
  ): Promise<void> {
    if (isMeanwhile && !this.watches.canWatch) return;
    const isComplete = await this.watches.waitForDelivery();
    if (!isComplete) for (const index of this.indexes.values()) index.requireScan();
    const report = this.active.size === 0 ? this.unattributed : this.attributed;
    for (const index of indexes) await index.update(report, { isMeanwhile });
    await this.attributeFound();
  }

  private updateNow(path: string, report: ChangeReport): void {
    for (const index of this.indexes.values()) {
      if (isInside(index.root, path)) index.updateNow(path, report);
    }
  }

  /** Looks up the earlier contents of the found changes, stores them, and adds the changes to their observers. */
  private async attributeFound(): Promise<void> {
    const { found } = this;
    if (found.length === 0) return;
    this.found = [];
    const [first] = found.flatMap(({ observers }) => observers);
    const former = new FormerVersions((bytes) => first?.store(bytes) ?? Promise.resolve());
    try {
      for (const { path, before, after, observers, at } of found) {
        const change: PathChange = {
          path,
          before: before === null ? null : await former.version(path, before, after),
          after: after === null ? null : toVersion(after, after.hash),
          shared: observers.length > 1,
          since: at,
          until: at,
        };
        if (isSameVersion(change.before, change.after)) continue;
        for (const observer of observers) observer.add(change);
      }
    } finally {
      await former.close();
    }
  }
}

/** A command that is observed. */
class Observer {
  readonly store: StoreContent;
  private readonly roots: readonly string[];
  private readonly changes = new Map<string, PathChange>();
  private readonly unlisted = new Map<string, UnlistedDirectory>();

  constructor(roots: readonly string[], store: StoreContent) {
    this.roots = roots;
    this.store = store;
  }

  covers(path: string): boolean {
    return this.roots.some((root) => isInside(root, path));
  }

  add(change: PathChange): void {
    const { path } = change;
    const first = this.changes.get(path);
    const merged = first === undefined ? change : mergeChanges(first, change);
    if (merged === null) this.changes.delete(path);
    else this.changes.set(path, merged);
  }

  addUnlisted(unlisted: UnlistedDirectory): void {
    this.unlisted.set(unlisted.path, unlisted);
  }

  result(indexes: readonly RootIndex[]): ObservedChanges {
    const untracked = indexes.flatMap(({ root, problem }): UnlistedDirectory[] =>
      problem === null ? [] : [{ path: root, reason: 'untracked', detail: problem }],
    );
    return {
      changes: [...this.changes.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1)),
      unlisted: [...untracked, ...this.unlisted.values()],
    };
  }
}
