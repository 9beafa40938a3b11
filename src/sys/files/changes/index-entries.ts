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
export interface SummarizedEntry {
  readonly kind: 'summarized';
  readonly state: string;
  readonly watcher: FSWatcher | null;
  /** True if something in it has changed since the last update. */
  isTouched: boolean;
}

/** An entry of an index. */
export type IndexEntry = FileEntry | DirectoryEntry | SummarizedEntry;

/** Receives what an update of an index finds. */
export interface ChangeReport {
  /** True if the contents of changed files have to be known. */
  readonly needsContents: boolean;
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

/** The names of files that have several names (hard links): a change causes an event about one of them only. */
export class LinkedNames {
  /** The known names by the identity of the file and by their path. */
  private readonly names = new Map<string, Map<string, Place>>();
  /** The files whose names the present update has listed. */
  private readonly listed = new Set<string>();
  /** The files among them of which not all names are known. */
  private readonly incomplete = new Set<string>();

  /** Begins an update, in which the names of each changed file are listed once. */
  beginUpdate(): void {
    this.listed.clear();
  }

  /** Adds a name of a file that has changed. Returns the known names if the update has not listed them yet. */
  add(place: Place, stats: Pick<Stats, 'dev' | 'ino' | 'nlink'>): readonly PathsToCompare[] {
    const identity = identityOf(stats);
    const names = this.names.get(identity) ?? new Map<string, Place>();
    names.set(place.path, place);
    this.names.set(identity, names);
    if (this.listed.has(identity)) return [];
    this.listed.add(identity);
    if (names.size < stats.nlink) this.incomplete.add(identity);
    return [...names.values()].filter(({ path }) => path !== place.path).map(listName);
  }

  /**
   * Finds the names below a directory that files have had since they had no others. Other names of the files may lie
   * outside of the directory.
   */
  findMissing(top: DirectoryEntry): readonly PathsToCompare[] {
    if (this.incomplete.size === 0) return [];
    const found: PathsToCompare[] = [];
    const visit = (at: DirectoryEntry): void => {
      for (const [name, entry] of at.entries) {
        if (entry.kind === 'directory') visit(entry);
        if (entry.kind !== 'file' || entry.stats.nlink > 1) continue;
        if (this.incomplete.has(identityOf(entry.stats))) found.push(listName({ at, name }));
      }
    };
    visit(top);
    this.incomplete.clear();
    return found;
  }

  delete(path: string, stats: Pick<Stats, 'dev' | 'ino'>): void {
    const names = this.names.get(identityOf(stats));
    names?.delete(path);
    if (names?.size === 0) this.names.delete(identityOf(stats));
  }
}

function listName({ at, name }: Omit<Place, 'path'>): PathsToCompare {
  return { at, names: [name], isDeep: false };
}
