import type { FSWatcher, Stats } from 'node:fs';
import type { FileEntry } from './file-entries.ts';

/** A directory whose entries are compared one by one. */
export interface DirectoryEntry {
  readonly kind: 'directory';
  readonly path: string;
  readonly identity: string;
  readonly entries: Map<string, IndexEntry>;
  watcher: FSWatcher | null;
  /** True if the directory may have been replaced by another one, which is not watched. */
  mayBeReplaced: boolean;
  /** True if the directory is no longer part of the index. */
  isRemoved: boolean;
}

/** A directory whose files are not listed one by one. */
interface SummarizedEntry {
  readonly kind: 'summarized';
  readonly state: string;
  readonly watcher: FSWatcher | null;
}

/** An entry of an index. */
export type IndexEntry = FileEntry | DirectoryEntry | SummarizedEntry;

/** Receives what an update of an index finds. */
export interface ChangeReport {
  /** A file has changed. `before` or `after` is null if it did not or does not exist. */
  file(path: string, before: FileEntry | null, after: FileEntry | null): void;
  /** Something in a directory has changed whose files are not listed one by one. */
  summarized(directory: string): void;
  /** Something has changed under a name that is not valid UTF-8. */
  unreadableName(directory: string): void;
  /** Not all changes of a root were found. */
  incomplete(root: string, reason: string): void;
}

/** Names that have to be compared with the disk. */
export interface PathsToCompare {
  readonly at: DirectoryEntry;
  readonly names: Iterable<string>;
  /** True if directories with these names are compared completely. */
  readonly isDeep: boolean;
}

/** The place of an entry: its directory, its name, and both as an absolute path. */
export interface Place {
  readonly at: DirectoryEntry;
  readonly name: string;
  readonly path: string;
}

/** Identifies a file or a directory, whatever its name is. */
export function identityOf({ dev, ino }: Pick<Stats, 'dev' | 'ino'>): string {
  return `${dev}:${ino}`;
}

/** The known names of files that have several names (hard links). */
export class LinkedNames {
  /** The names by the identity of the file and by their path. */
  private readonly names = new Map<string, Map<string, Place>>();

  /** Adds a name. Returns the other names of the file, about whose changes the system sends no event. */
  add(place: Place, stats: Pick<Stats, 'dev' | 'ino'>): readonly Place[] {
    const names = this.names.get(identityOf(stats)) ?? new Map<string, Place>();
    const others = [...names.values()].filter(({ path }) => path !== place.path);
    names.set(place.path, place);
    this.names.set(identityOf(stats), names);
    return others;
  }

  delete(path: string, stats: Pick<Stats, 'dev' | 'ino'>): void {
    this.names.get(identityOf(stats))?.delete(path);
  }
}
