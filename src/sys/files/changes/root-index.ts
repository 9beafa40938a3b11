import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { plural } from '../../../base/text.ts';
import { lstatIfPresent, readDirectoryNames } from '../path-lookup.ts';
import { isOwnTemporaryName } from '../temporary-files.ts';
import { DirectoryEvents } from './directory-events.ts';
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
  private readonly events: DirectoryEvents;
  private readonly linkedNames = new LinkedNames();
  /** The number of bytes that the present update may still read to hash them. */
  private bytesToHash = 0;
  private isMeanwhile = false;
  private fileCount = 0;
  private isBuilt = false;
  /** True during a scan because of missing events: one of them may have been about a directory that was replaced. */
  private mayHaveLostEvents = false;

  constructor(parts: RootIndexParts) {
    this.parts = parts;
    this.root = parts.root;
    this.files = new FileEntries(parts);
    this.events = new DirectoryEvents(parts.watches);
    this.top = this.createDirectory(parts.root, lstatIfPresent(parts.root));
  }

  /**
   * Compares the root with the disk: everything, or only the paths about which the system has sent events.
   *
   * @param report receives the changes, except those before the first update
   * @param isMeanwhile true if the changes of running commands are only wanted for their times
   */
  async update(
    report: ChangeReport,
    { isMeanwhile }: { readonly isMeanwhile: boolean },
  ): Promise<void> {
    const { canWatch } = this.parts.watches;
    if (this.problem !== null || (isMeanwhile && !canWatch)) return;
    this.isMeanwhile = isMeanwhile;
    this.bytesToHash = isMeanwhile ? MAX_HASHED_BYTES_MEANWHILE : MAX_HASHED_BYTES;
    this.linkedNames.beginUpdate();
    const { events } = this;
    if (events.isUnwatched(this.top)) {
      events.watch(this.top);
      events.areIncomplete = true;
    }
    const scans = events.areIncomplete || !canWatch;
    this.mayHaveLostEvents = events.areIncomplete && canWatch;
    events.areIncomplete = false;
    const touched = events.take();
    const work = scans ? [this.listDirectory(this.top)] : touched;
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
    this.events.areIncomplete = true;
  }

  /** Compares one path and everything below it with the disk at once. */
  updateNow(path: string, report: ChangeReport): void {
    if (!this.isBuilt || this.problem !== null) return;
    this.isMeanwhile = false;
    this.bytesToHash = MAX_HASHED_BYTES;
    this.linkedNames.beginUpdate();
    let at = this.top;
    for (const name of path.slice(this.root === '/' ? 1 : this.root.length + 1).split('/')) {
      const entry = at.entries.get(name);
      if (entry?.kind === 'directory' && join(at.path, name) !== path) {
        at = entry;
        continue;
      }
      const work: PathsToCompare[] = [{ at, names: [name], isDeep: true }];
      for (let next = this.takeNext(work); next !== undefined; next = this.takeNext(work)) {
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
    for (let next = this.takeNext(work); next !== undefined; next = this.takeNext(work)) {
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
          this.events.areIncomplete = true;
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

  /** Takes the next names; at the end, those of files that were indexed before they got other names. */
  private takeNext(work: PathsToCompare[]): PathsToCompare | undefined {
    if (work.length === 0) work.push(...this.linkedNames.findMissing(this.top));
    return work.pop();
  }

  private giveUp(problem: string): void {
    this.problem = problem;
    this.remove(this.top, null);
    this.events.take();
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
      const isRenewed = this.events.isUnwatched(known) || this.mayHaveLostEvents;
      if (isRenewed) this.events.watch(known);
      if (isDeep || isRenewed) work.push(this.listDirectory(known));
      return;
    }
    const isSummarized = isSummarizedDirectory(
      name,
      (beside) => lstatIfPresent(join(at.path, beside)) !== undefined,
    );
    const state = `${identityOf(found)}:${found.mtimeMs}`;
    if (isSummarized && known?.kind === 'summarized') {
      if (known.state === state && !known.isTouched) return;
      known.watcher?.close();
    } else if (known !== undefined) this.removeEntry(place, known, report);
    if (isSummarized) {
      report?.summarized(path);
      at.entries.set(name, this.events.watchSummarized(place, state));
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
      this.events.add(at, name);
      return;
    }
    const compared = this.files.compare(path, known, toEntryStats(found), {
      needsContent: report?.needsContents === true,
      isFirst: !this.isBuilt,
      maxBytes: this.bytesToHash,
    });
    if (compared === null) return;
    if (report?.needsContents === true) this.bytesToHash -= found.size;
    if (known === undefined) this.fileCount += 1;
    at.entries.set(name, compared.entry);
    if (known !== undefined && known.stats.nlink > 1) this.linkedNames.delete(path, known.stats);
    if (found.nlink > 1) work.push(...this.linkedNames.add(place, found));
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
    this.events.watch(directory);
    return directory;
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
    directory.isRemoved = true;
    this.events.remove(directory);
    for (const [name, entry] of directory.entries) {
      this.removeEntry({ at: directory, name, path: join(directory.path, name) }, entry, report);
    }
  }
}
