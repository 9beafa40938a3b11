import type { Stats } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { plural } from '../../../base/text.ts';
import { lstatIfPresent, readDirectoryNames } from '../path-lookup.ts';
import { isOwnTemporaryName } from '../temporary-files.ts';
import type { DirectoryWatches } from './directory-watches.ts';
import { readStats, toEntryStats } from './entry-content.ts';
import { FileEntries, type FileEntry } from './file-entries.ts';
import {
  identityOf,
  LinkedNames,
  type ChangeReport,
  type DirectoryEntry,
  type IndexEntry,
  type Place,
  type PathsToCompare,
} from './index-entries.ts';
import type { KeptContents } from './kept-contents.ts';
import { isSummarizedDirectory } from './summarized-directories.ts';

/** The maximum number of files in a root whose changes are found. */
const MAX_FILES = 100_000;
/** The maximum number of files in a root that is not watched, so that each command has to look at all of them. */
const MAX_UNWATCHED_FILES = 20_000;
/** The maximum time in milliseconds to compare a root with the disk. */
const MAX_UPDATE_MS = 5_000;
/** The maximum number of bytes that one update reads to hash them. */
const MAX_HASHED_BYTES = 256 * 1024 * 1024;
/** The same for an update while a command runs. Larger files wait for its end. */
const MAX_HASHED_BYTES_MEANWHILE = 4 * 1024 * 1024;
/** The time after which a scan lets other work run, in milliseconds. */
const SLICE_MS = 10;

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
  private readonly linkedNames = new LinkedNames();
  /** The number of bytes that the present update may still read to hash them. */
  private bytesToHash = 0;
  private isMeanwhile = false;
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
   * @param isMeanwhile true if the changes of running commands are only wanted for their times
   */
  async update(
    report: ChangeReport | null,
    { isMeanwhile }: { readonly isMeanwhile: boolean },
  ): Promise<void> {
    const { canWatch } = this.parts.watches;
    if (this.problem !== null || (isMeanwhile && !canWatch)) return;
    this.isMeanwhile = isMeanwhile;
    this.bytesToHash = isMeanwhile ? MAX_HASHED_BYTES_MEANWHILE : MAX_HASHED_BYTES;
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
    const work: PathsToCompare[] = scans
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
    this.isMeanwhile = false;
    this.bytesToHash = MAX_HASHED_BYTES;
    let at = this.top;
    for (const name of path.slice(this.root === '/' ? 1 : this.root.length + 1).split('/')) {
      const entry = at.entries.get(name);
      if (entry?.kind === 'directory' && join(at.path, name) !== path) {
        at = entry;
        continue;
      }
      const work: PathsToCompare[] = [{ at, names: [name], isDeep: true }];
      for (let next = work.pop(); next !== undefined; next = work.pop()) {
        for (const each of next.names) this.compare(next, each, { work, report });
      }
      return;
    }
  }

  close(): void {
    this.remove(this.top, null);
  }

  private async run(work: PathsToCompare[], report: ChangeReport | null): Promise<void> {
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
        if (now - startedAt > MAX_UPDATE_MS) {
          const reason = `looking at its files takes more than ${MAX_UPDATE_MS / 1000} s`;
          if (!this.isBuilt) this.giveUp(reason);
          // Once it is built, the next update may have less to do.
          this.mustScan = true;
          report?.incomplete(this.root, reason);
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
    { at, isDeep }: PathsToCompare,
    name: string,
    { work, report }: { readonly work: PathsToCompare[]; readonly report: ChangeReport | null },
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
      readonly known: IndexEntry | undefined;
      readonly found: Stats;
      readonly isDeep: boolean;
    },
    work: PathsToCompare[],
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
    work: PathsToCompare[],
    report: ChangeReport | null,
  ): void {
    const { at, name, path } = place;
    if (found === undefined) {
      if (known !== undefined) this.removeEntry(place, known, report);
      return;
    }
    if (this.isMeanwhile && found.size > this.bytesToHash) {
      this.touch(at, name);
      return;
    }
    const compared = this.files.compare(path, known, toEntryStats(found), {
      isOfInterest: report !== null,
      isFirst: !this.isBuilt,
      maxBytes: this.bytesToHash,
    });
    if (compared === null) return;
    if (report !== null) this.bytesToHash -= found.size;
    if (known === undefined) this.fileCount += 1;
    at.entries.set(name, compared.entry);
    if (found.nlink > 1) {
      for (const other of this.linkedNames.add(place, found)) {
        work.push({ at: other.at, names: [other.name], isDeep: false });
      }
    }
    if (compared.isChanged) report?.file(path, compared.before, compared.entry);
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
      this.touch(directory, name);
    });
  }

  private touch(directory: DirectoryEntry, name: string): void {
    const names = this.touched.get(directory);
    if (names === undefined) this.touched.set(directory, new Set([name]));
    else names.add(name);
  }

  /** Lists the known names of a directory and those on the disk. Its watch exists before, so that no change is missed. */
  private listDirectory(directory: DirectoryEntry): PathsToCompare {
    const names = new Set([
      ...directory.entries.keys(),
      ...(readDirectoryNames(directory.path) ?? []),
    ]);
    return { at: directory, names, isDeep: true };
  }

  private removeEntry(
    { at, name, path }: Place,
    entry: IndexEntry,
    report: ChangeReport | null,
  ): void {
    at.entries.delete(name);
    if (entry.kind === 'directory') this.remove(entry, report);
    else if (entry.kind === 'summarized') {
      entry.watcher?.close();
      report?.summarized(path);
    } else {
      this.fileCount -= 1;
      this.files.forget(entry);
      if (entry.stats.nlink > 1) this.linkedNames.delete(path, entry.stats);
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
