import { type FSWatcher, type Stats } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { plural } from '../../../base/text.ts';
import { lstatIfPresent, readDirectoryNames } from '../path-lookup.ts';
import { isOwnTemporaryName } from '../temporary-files.ts';
import type { DirectoryWatches } from './directory-watches.ts';
import { readStats, toEntryStats } from './entry-content.ts';
import { FileEntries, type FileEntry } from './file-entries.ts';
import type { KeptContents } from './kept-contents.ts';
import { isSummarizedDirectory } from './summarized-directories.ts';

/** The maximum number of files in a root whose changes are found. */
const MAX_FILES = 100_000;
/** The maximum number of files in a root that is not watched, so that each command has to look at all of them. */
const MAX_UNWATCHED_FILES = 20_000;
/** The maximum time in milliseconds to look at all files of a root. */
const MAX_SCAN_MS = 3_000;
/** The time after which a scan lets other work run, in milliseconds. */
const SLICE_MS = 10;

interface DirectoryEntry {
  readonly kind: 'directory';
  readonly path: string;
  readonly identity: string;
  readonly entries: Map<string, Entry>;
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

type Entry = FileEntry | DirectoryEntry | SummarizedEntry;

/** Receives what an update of an index finds. */
export interface ChangeReport {
  /** A file has changed. `before` or `after` is null if it did not or does not exist. */
  file(path: string, before: FileEntry | null, after: FileEntry | null): void;
  /** Something in a directory has changed whose files are not listed one by one. */
  summarized(directory: string): void;
  /** Something has changed under a name that is not valid UTF-8. */
  unreadableName(directory: string): void;
}

/** Names that have to be compared with the disk. */
interface Work {
  readonly at: DirectoryEntry;
  readonly names: Iterable<string>;
  /** True if directories with these names are compared completely. */
  readonly isDeep: boolean;
}

/** The parts of a `RootIndex`. */
export interface RootIndexParts {
  /** The directory: absolute, without links. */
  readonly root: string;
  /** Absolute paths that are left out. */
  readonly excluded: ReadonlySet<string>;
  readonly watches: DirectoryWatches;
  readonly contents: KeptContents;
}

/** The files below a root as they were when they were last compared with the disk. */
export class RootIndex {
  readonly root: string;
  /** The reason why changes of this root are not found, or null. */
  problem: string | null = null;
  private readonly parts: RootIndexParts;
  private readonly top: DirectoryEntry;
  private readonly files: FileEntries;
  private touched = new Map<DirectoryEntry, Set<string>>();
  private touchedSummaries = new Set<string>();
  /** The known names of files with several names (hard links), by the identity of the file and by their path. */
  private readonly linkedNames = new Map<string, Map<string, Place>>();
  private fileCount = 0;
  private isBuilt = false;
  /** True if events may be missing, so that all files have to be compared. */
  private mustScan = true;

  constructor(parts: RootIndexParts) {
    this.parts = parts;
    this.root = parts.root;
    this.files = new FileEntries(parts);
    this.top = this.createDirectory(parts.root, lstatIfPresent(parts.root));
  }

  /**
   * Compares the root with the disk: everything, or only the paths about which the system has sent events.
   *
   * @param report receives the changes; null if they are of no interest
   */
  async update(report: ChangeReport | null): Promise<void> {
    if (this.problem !== null) return;
    const { canWatch } = this.parts.watches;
    if (this.top.mayBeReplaced) {
      this.watch(this.top);
      this.mustScan = true;
    }
    const scans = this.mustScan || !canWatch;
    const { touched, touchedSummaries } = this;
    this.touched = new Map();
    this.touchedSummaries = new Set();
    this.mustScan = false;
    for (const path of touchedSummaries) report?.summarized(path);
    const work: Work[] = scans
      ? [this.listDirectory(this.top)]
      : [...touched].map(([at, names]) => ({ at, names, isDeep: false }));
    await this.run(work, this.isBuilt ? report : null);
    this.isBuilt = true;
    if (!canWatch && this.fileCount > MAX_UNWATCHED_FILES) {
      this.giveUp(
        `no more directories can be watched, and it has ${plural(this.fileCount, 'file')}`,
      );
    }
  }

  /** Makes the next update compare everything, because events are missing. */
  requireScan(): void {
    this.mustScan = true;
  }

  /** Compares one path and everything below it with the disk at once. */
  updateNow(path: string, report: ChangeReport | null): void {
    if (!this.isBuilt || this.problem !== null) return;
    let at = this.top;
    for (const name of path.slice(this.root === '/' ? 1 : this.root.length + 1).split('/')) {
      const entry = at.entries.get(name);
      if (entry?.kind === 'directory' && join(at.path, name) !== path) {
        at = entry;
        continue;
      }
      const work: Work[] = [{ at, names: [name], isDeep: true }];
      for (let next = work.pop(); next !== undefined; next = work.pop()) {
        for (const each of next.names) this.compare(next, each, { work, report });
      }
      return;
    }
  }

  close(): void {
    this.remove(this.top, null);
  }

  private async run(work: Work[], report: ChangeReport | null): Promise<void> {
    const startedAt = performance.now();
    let sliceStartedAt = startedAt;
    let count = 0;
    for (let next = work.pop(); next !== undefined; next = work.pop()) {
      for (const name of next.names) {
        if (next.at.isRemoved) break;
        this.compare(next, name, { work, report });
        count += 1;
        if (count % 64 !== 0) continue;
        const now = performance.now();
        if (this.fileCount > MAX_FILES) {
          this.giveUp(`it has more than ${MAX_FILES} files`);
          return;
        }
        if (now - startedAt > MAX_SCAN_MS) {
          this.giveUp(`looking at its files takes more than ${MAX_SCAN_MS / 1000} s`);
          return;
        }
        if (now - sliceStartedAt > SLICE_MS) {
          await nextTurn();
          sliceStartedAt = performance.now();
        }
      }
    }
  }

  private giveUp(problem: string): void {
    this.problem = problem;
    this.remove(this.top, null);
    this.touched.clear();
  }

  private compare(
    { at, isDeep }: Work,
    name: string,
    { work, report }: { readonly work: Work[]; readonly report: ChangeReport | null },
  ): void {
    const path = at.path === '/' ? `/${name}` : `${at.path}/${name}`;
    if (name === '.git' || isOwnTemporaryName(name) || this.parts.excluded.has(path)) return;
    const found = readStats(path);
    // What cannot be inspected counts as unchanged.
    if (found === 'unreadable') return;
    const known = at.entries.get(name);
    if (found === undefined && known === undefined && name.includes('\uFFFD')) {
      report?.unreadableName(at.path);
      return;
    }
    if (found?.isDirectory() === true) {
      this.compareDirectory({ at, name, path, known, found, isDeep }, work, report);
      return;
    }
    if (known !== undefined && known.kind !== 'file') {
      this.removeEntry({ at, name, path }, known, report);
      this.compareFile({ at, name, path }, { known: undefined, found }, work, report);
    } else this.compareFile({ at, name, path }, { known, found }, work, report);
  }

  private compareDirectory(
    {
      known,
      found,
      isDeep,
      ...place
    }: Place & {
      readonly known: Entry | undefined;
      readonly found: Stats;
      readonly isDeep: boolean;
    },
    work: Work[],
    report: ChangeReport | null,
  ): void {
    const { at, name, path } = place;
    if (known?.kind === 'directory' && known.identity === identityOf(found)) {
      // A new directory may get the inode number of a removed one.
      const isRenewed = known.mayBeReplaced;
      if (isRenewed) this.watch(known);
      if (isDeep || isRenewed) work.push(this.listDirectory(known));
      return;
    }
    const isSummarized = isSummarizedDirectory(
      name,
      (beside) => lstatIfPresent(join(at.path, beside)) !== undefined,
    );
    const state = `${identityOf(found)}:${found.mtimeMs}`;
    if (isSummarized && known?.kind === 'summarized') {
      if (known.state === state) return;
      known.watcher?.close();
      report?.summarized(path);
    } else if (known !== undefined) this.removeEntry(place, known, report);
    if (isSummarized) {
      if (known?.kind !== 'summarized') report?.summarized(path);
      const watcher = this.parts.watches.watch(path, () => void this.touchedSummaries.add(path));
      at.entries.set(name, { kind: 'summarized', state, watcher });
      return;
    }
    const directory = this.createDirectory(path, found);
    at.entries.set(name, directory);
    work.push(this.listDirectory(directory));
  }

  private compareFile(
    place: Place,
    { known, found }: { readonly known: FileEntry | undefined; readonly found: Stats | undefined },
    work: Work[],
    report: ChangeReport | null,
  ): void {
    const { at, name, path } = place;
    if (found === undefined) {
      if (known !== undefined) this.removeEntry(place, known, report);
      return;
    }
    const compared = this.files.compare(path, known, toEntryStats(found), {
      isOfInterest: report !== null,
      isFirst: !this.isBuilt,
    });
    if (compared === null) return;
    if (known === undefined) this.fileCount += 1;
    at.entries.set(name, compared.entry);
    if (found.nlink > 1) work.push(...this.addLinkedName(place, found));
    if (compared.isChanged) report?.file(path, compared.before, compared.entry);
  }

  /** Adds a name of a file with several names. Returns the others, about which the system has sent no event. */
  private addLinkedName(place: Place, stats: Stats): readonly Work[] {
    const names = this.linkedNames.get(identityOf(stats)) ?? new Map<string, Place>();
    const others = [...names.values()].filter(({ path }) => path !== place.path);
    names.set(place.path, place);
    this.linkedNames.set(identityOf(stats), names);
    return others.map(({ at, name }) => ({ at, names: [name], isDeep: false }));
  }

  private createDirectory(path: string, stats: Stats | undefined): DirectoryEntry {
    const directory: DirectoryEntry = {
      kind: 'directory',
      path,
      identity: stats === undefined ? '' : identityOf(stats),
      entries: new Map(),
      watcher: null,
      mayBeReplaced: false,
      isRemoved: false,
    };
    this.watch(directory);
    return directory;
  }

  private watch(directory: DirectoryEntry): void {
    directory.watcher?.close();
    directory.mayBeReplaced = false;
    const ownName = basename(directory.path);
    directory.watcher = this.parts.watches.watch(directory.path, (name) => {
      if (name === null) {
        this.mustScan = true;
        return;
      }
      if (name === ownName) directory.mayBeReplaced = true;
      const names = this.touched.get(directory);
      if (names === undefined) this.touched.set(directory, new Set([name]));
      else names.add(name);
    });
  }

  /** Lists the known names of a directory and those on the disk. Its watch exists before, so that no change is missed. */
  private listDirectory(directory: DirectoryEntry): Work {
    const names = new Set([
      ...directory.entries.keys(),
      ...(readDirectoryNames(directory.path) ?? []),
    ]);
    return { at: directory, names, isDeep: true };
  }

  private removeEntry({ at, name, path }: Place, entry: Entry, report: ChangeReport | null): void {
    at.entries.delete(name);
    if (entry.kind === 'directory') this.remove(entry, report);
    else if (entry.kind === 'summarized') {
      entry.watcher?.close();
      report?.summarized(path);
    } else {
      this.fileCount -= 1;
      this.files.forget(entry);
      if (entry.stats.nlink > 1) this.linkedNames.get(identityOf(entry.stats))?.delete(path);
      report?.file(path, entry, null);
    }
  }

  /** Removes everything below a directory, and its watches. */
  private remove(directory: DirectoryEntry, report: ChangeReport | null): void {
    directory.watcher?.close();
    directory.watcher = null;
    directory.isRemoved = true;
    this.touched.delete(directory);
    for (const [name, entry] of directory.entries) {
      this.removeEntry({ at: directory, name, path: join(directory.path, name) }, entry, report);
    }
  }
}

/** The place of an entry: its directory, its name, and both as an absolute path. */
interface Place {
  readonly at: DirectoryEntry;
  readonly name: string;
  readonly path: string;
}

function identityOf({ dev, ino }: Pick<Stats, 'dev' | 'ino'>): string {
  return `${dev}:${ino}`;
}
