import { basename } from 'node:path';
import type { DirectoryWatches } from './directory-watches.ts';
import type { DirectoryEntry, PathsToCompare, Place, SummarizedEntry } from './index-entries.ts';

/** Receives the events about the directories of an index, and keeps the names that have to be compared with the disk. */
export class DirectoryEvents {
  /** True if events may be missing, so that everything has to be compared. */
  areIncomplete = true;
  private readonly watches: DirectoryWatches;
  private names = new Map<DirectoryEntry, Set<string>>();

  constructor(watches: DirectoryWatches) {
    this.watches = watches;
  }

  /** Tells whether changes in a directory cause no events, although directories can be watched. */
  isUnwatched({ mayBeReplaced, watcher }: DirectoryEntry): boolean {
    return mayBeReplaced || (watcher === null && this.watches.canWatch);
  }

  /** Watches a directory. Ends an earlier watch of it. */
  watch(directory: DirectoryEntry): void {
    directory.watcher?.close();
    directory.mayBeReplaced = false;
    const ownName = basename(directory.path);
    directory.watcher = this.watches.watch(directory.path, (name) => {
      if (name === null) {
        this.areIncomplete = true;
        return;
      }
      if (name === ownName) directory.mayBeReplaced = true;
      this.add(directory, name);
    });
  }

  /** Watches a directory whose files are not listed one by one. */
  watchSummarized({ at, name, path }: Place, state: string): SummarizedEntry {
    const watcher = this.watches.watch(path, () => {
      entry.isTouched = true;
      this.add(at, name);
    });
    const entry: SummarizedEntry = { kind: 'summarized', state, watcher, isTouched: false };
    return entry;
  }

  /** Adds a name that the next update has to compare. */
  add(directory: DirectoryEntry, name: string): void {
    const names = this.names.get(directory);
    if (names === undefined) this.names.set(directory, new Set([name]));
    else names.add(name);
  }

  /** Removes the watch and the names of a directory that is no longer part of the index. */
  remove(directory: DirectoryEntry): void {
    directory.watcher?.close();
    directory.watcher = null;
    this.names.delete(directory);
  }

  /** Removes and returns all names. */
  take(): PathsToCompare[] {
    const taken = [...this.names].map(([at, names]) => ({ at, names, isDeep: false }));
    this.names = new Map();
    return taken;
  }
}
