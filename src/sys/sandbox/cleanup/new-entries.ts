import type { QuarantinedEntry, CleanupResult } from '../../../base/cleanup-result.ts';
import { basename, join } from 'node:path';
import { isPlainRepository } from '../../git/plain-repository.ts';
import { isOwnWrite } from '../../files/own-writes.ts';
import { isProtectedName } from '../../files/protected-names.ts';
import {
  listFilesBelow,
  readEntryContent,
  type EntryContent,
  type ExistingFile,
} from './file-content.ts';
import { findFirstLink, lstatIfPresent, directoryNames } from '../../files/path-lookup.ts';
import { quarantineEntry } from './quarantine.ts';

/** The protected paths that existed and that did not exist when a command began. Absolute real paths. */
export interface ProtectedPathState {
  /** Paths that did not exist. */
  readonly missing: readonly string[];
  /** The protected names that existed at the top of each writable directory. */
  readonly present: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Returns the paths of those files that have the content of a commit of the repository. */
export type FindCommitted = (files: readonly EntryContent[]) => Promise<ReadonlySet<string>>;

/** The maximum number of files of an entry that are compared with commits. */
const MAX_FILES = 2_000;

/**
 * Entries that a command creates under protected names that did not exist when it began. The sandbox cannot
 * prevent their creation, so they are quarantined when the command has ended, or while it runs in the
 * background. Three kinds may stay: files that git wrote with the content of a commit, a new repository that
 * makes git run no programs, and files that Muster itself wrote.
 */
export class NewEntries {
  private readonly pathState: ProtectedPathState;
  private readonly committed: FindCommitted;
  private readonly directory: string | null;
  /** Files that may stay as they are, by path. */
  private readonly accepted = new Map<string, number>();
  private settling: Promise<CleanupResult> | null = null;

  /** `directory`: the directory for quarantined entries. */
  constructor(pathState: ProtectedPathState, committed: FindCommitted, directory: string | null) {
    this.pathState = pathState;
    this.committed = committed;
    this.directory = directory;
  }

  /** Accepts files, by path, as long as the time of their last change is the given time. */
  accept(files: ReadonlyMap<string, number>): void {
    for (const [path, time] of files) this.accepted.set(path, time);
  }

  /** Returns the accepted files, by path, with the time of their last change. */
  acceptedFiles(): ReadonlyMap<string, number> {
    return this.accepted;
  }

  /** Quarantines the entries that may not stay. */
  settle(): Promise<CleanupResult> {
    this.settling ??= this.compareAndRemove().finally(() => {
      this.settling = null;
    });
    return this.settling;
  }

  /**
   * Quarantines entries at once, without comparing them with commits: only files that were accepted earlier may stay.
   * `isOfCommand` tells whether the command created an entry. Default: always true.
   */
  settleNow(isOfCommand: (path: string) => boolean = () => true): readonly QuarantinedEntry[] {
    return this.findEntries()
      .filter(({ path }) => isOfCommand(path))
      .flatMap((entry) => this.remove(entry));
  }

  /** Tells whether there is an entry with a file that may not stay or has not been compared yet. */
  hasUnknown(): boolean {
    return this.findEntries().some(
      ({ files }) => files === null || files.some((file) => !this.mayStay(file)),
    );
  }

  private async compareAndRemove(): Promise<CleanupResult> {
    const fromCommits: string[] = [];
    const found = this.findEntries();
    const unknown = found.flatMap(({ files }) => files ?? []).filter((file) => !this.mayStay(file));
    if (unknown.length > 0) {
      const contents = unknown
        .map(({ path }) => readEntryContent(path))
        .filter((file) => file !== null);
      const committed = await this.committed(contents);
      for (const { path, stats } of unknown) {
        if (!committed.has(path)) continue;
        this.accepted.set(path, stats.ctimeMs);
        fromCommits.push(path);
      }
    }
    return { removed: this.findEntries().flatMap((entry) => this.remove(entry)), fromCommits };
  }

  private findEntries(): readonly NewEntry[] {
    const { missing, present } = this.pathState;
    const named = [...present].flatMap(([directory, names]) =>
      directoryNames(directory)
        .filter((name) => isProtectedName(name) && !names.has(name))
        .map((name) => join(directory, name)),
    );
    // These paths contained no link before the command. If a path contains a link now, the link is the new entry.
    const made = missing
      .filter((path) => lstatIfPresent(path) !== undefined)
      .map((path) => findFirstLink(path) ?? path);
    const paths = new Set([...made, ...named.filter((path) => findFirstLink(path) === undefined)]);
    return [...paths].flatMap((path) => {
      const files = listFilesBelow([path], MAX_FILES);
      return files?.length === 0 && lstatIfPresent(path) === undefined ? [] : [{ path, files }];
    });
  }

  private remove({ path, files }: NewEntry): readonly QuarantinedEntry[] {
    if (basename(path) === '.git' && isPlainRepository(path)) return [];
    const stays = files?.filter((file) => this.mayStay(file)) ?? [];
    const removed =
      files === null || stays.length === 0
        ? [path]
        : files.filter((file) => !stays.includes(file)).map((file) => file.path);
    return removed.flatMap((each) => quarantineEntry(each, this.directory) ?? []);
  }

  private mayStay({ path, stats }: ExistingFile): boolean {
    return this.accepted.get(path) === stats.ctimeMs || isOwnWrite(path, stats);
  }
}

interface NewEntry {
  readonly path: string;
  /**
   * The file itself, or all files below a directory; null if there are too many or some cannot be inspected.
   */
  readonly files: readonly ExistingFile[] | null;
}
