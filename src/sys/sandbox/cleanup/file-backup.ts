import type { QuarantinedEntry, CleanupResult } from '../../../base/cleanup-result.ts';
import {
  closeSync,
  constants,
  fchmodSync,
  openSync,
  renameSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { atScopeEnd } from '../../../base/at-scope-end.ts';
import { errorMessage, systemErrorCode } from '../../../base/errors.ts';
import { newId } from '../../../base/ids.ts';
import { addsOnlyHarmlessSettings } from '../../git/config-check.ts';
import { holdDirectory } from '../../files/held-directory.ts';
import { isOwnWrite } from '../../files/own-writes.ts';
import { isInside } from '../../../base/path-inside.ts';
import { listFilesBelow, readEntryContent, type EntryContent } from './file-content.ts';
import { existsWithoutLinks, findFirstLink, lstatIfPresent } from '../../files/path-lookup.ts';
import type { FindCommitted } from './new-entries.ts';
import { quarantineEntry } from './quarantine.ts';

const MAX_FILES = 2_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** Protected files and directories that a command which runs only git may write to. Absolute real paths. */
export interface GitWritablePaths {
  /** Files of the working tree, whose content may come from a commit. */
  readonly trees: readonly string[];
  /** Configuration files. */
  readonly configurations: readonly string[];
  /**
   * Files of linked working trees. They may be deleted together with their directory, but not changed.
   */
  readonly links: readonly string[];
}

type Restored = Required<Pick<CleanupResult, 'removed' | 'putBack'>>;
type Files = ReadonlyMap<string, EntryContent>;

/**
 * A backup of protected files, made before a command that runs only git. Afterwards it restores every file that
 * git did not write from a commit, except configuration files with harmless additions.
 */
export class ProtectedFileBackup {
  readonly paths: GitWritablePaths;
  private readonly before: Files;
  private readonly directory: string | null;

  constructor(paths: GitWritablePaths, before: Files, directory: string | null) {
    this.paths = paths;
    this.before = before;
    this.directory = directory;
  }

  /**
   * Creates a backup. Returns null if there are too many files or the files are too large. `directory` is the directory
   * for quarantined files.
   */
  static create(paths: GitWritablePaths, directory: string | null): ProtectedFileBackup | null {
    const before = readFiles(paths);
    return before === null ? null : new ProtectedFileBackup(paths, before, directory);
  }

  /** Returns the files in their state before the command. */
  files(): Iterable<EntryContent> {
    return this.before.values();
  }

  /** Restores the files whose changes are not allowed, after the command has ended. */
  async settle(committed: FindCommitted): Promise<CleanupResult> {
    const now = readFiles(this.paths);
    if (now === null) return { ...this.restoreEverything(), fromCommits: [] };
    const changed = [...this.changed(now)].filter((path) => !this.isAllowedChange(path, now));
    const wanted = changed.flatMap((path) => {
      const file = now.get(path) ?? this.before.get(path);
      return file === undefined ? [] : [file];
    });
    const fromCommits = await committed(wanted);
    const restored = this.restore(changed.filter((path) => !fromCommits.has(path)));
    return { ...restored, fromCommits: [...fromCommits] };
  }

  /**
   * Restores all changed files. `isOfCommand` tells whether the command wrote the entry that is at a path now. Default:
   * always true.
   */
  restoreAll(isOfCommand: (path: string) => boolean = () => true): Restored {
    const now = readFiles(this.paths);
    if (now === null) return this.restoreEverything();
    return this.restore(
      [...this.changed(now)].filter((path) => !existsWithoutLinks(path) || isOfCommand(path)),
    );
  }

  /** Removes everything at the paths and restores the backup. Used if there are too many files to compare. */
  private restoreEverything(): Restored {
    const { trees, configurations, links } = this.paths;
    return this.restore([
      ...new Set([...trees, ...configurations, ...links, ...this.before.keys()]),
    ]);
  }

  private *changed(now: Files): Generator<string, void, undefined> {
    for (const path of new Set([...this.before.keys(), ...now.keys()])) {
      const [fileBefore, fileNow] = [this.before.get(path), now.get(path)];
      const isSame =
        fileBefore !== undefined &&
        fileNow !== undefined &&
        fileBefore.kind === fileNow.kind &&
        fileBefore.mode === fileNow.mode &&
        fileBefore.content.equals(fileNow.content);
      if (!isSame) yield path;
    }
  }

  private isAllowedChange(path: string, now: Files): boolean {
    const [fileBefore, fileNow] = [this.before.get(path), now.get(path)];
    const stats = lstatIfPresent(path);
    if (stats !== undefined && isOwnWrite(path, stats)) return true;
    if (this.paths.links.includes(path)) return lstatIfPresent(dirname(path)) === undefined;
    if (!this.paths.configurations.includes(path)) return false;
    return (
      fileBefore !== undefined &&
      fileNow?.kind === 'file' &&
      addsOnlyHarmlessSettings(fileBefore.content, fileNow.content, (tree) =>
        isTreeOfSubmodule(path, tree),
      )
    );
  }

  private restore(paths: readonly string[]): Restored {
    // Parents are removed before their children, because a link in place of a parent would lead elsewhere.
    const removed = paths
      .toSorted((one, other) => one.length - other.length)
      .flatMap((path) =>
        existsWithoutLinks(path) ? (quarantineEntry(path, this.directory) ?? []) : [],
      );
    const putBack: string[] = [];
    const failed: QuarantinedEntry[] = [];
    for (const path of paths) {
      const fileBefore = this.before.get(path);
      if (fileBefore === undefined || existsWithoutLinks(path)) continue;
      const problem = findRestoreProblem(() => write(fileBefore));
      if (problem === null) putBack.push(path);
      else failed.push({ path, keptAt: null, problem });
    }
    return { removed: [...removed, ...failed], putBack };
  }
}

function readFiles({ trees, configurations, links }: GitWritablePaths): Files | null {
  const found = listFilesBelow([...trees, ...configurations, ...links], MAX_FILES);
  const files = new Map<string, EntryContent>();
  let bytes = 0;
  for (const { path } of found ?? []) {
    const file = readEntryContent(path);
    bytes += file?.content.length ?? 0;
    if (file === null || bytes > MAX_BYTES) return null;
    files.set(path, file);
  }
  return found === null ? null : files;
}

/** Tells whether the working tree that a submodule's configuration names lies in the enclosing repository. */
function isTreeOfSubmodule(configuration: string, tree: string): boolean {
  const [top = '', ...below] = configuration.split('/.git/modules/');
  if (below.length === 0 || isAbsolute(tree)) return false;
  const path = join(dirname(configuration), tree);
  const isInTop = path !== top && isInside(top, path) && !isInside(join(top, '.git'), path);
  return isInTop && findFirstLink(join(path, 'x')) === undefined;
}

/**
 * Runs a function that restores a file. Returns null if it succeeds, and otherwise the problem, so that one failure
 * does not prevent other files from being restored.
 */
function findRestoreProblem(putBack: () => void): string | null {
  try {
    putBack();
    return null;
  } catch (thrown) {
    if (systemErrorCode(thrown) === undefined) throw thrown;
    return `it could not be restored: ${errorMessage(thrown)}`;
  }
}

/** Writes a file without following links in its path, because git may have created a link there. */
function write({ path, kind, content, mode }: EntryContent): void {
  using parent = holdDirectory('/', dirname(path), { create: true });
  const draft = parent.at(`${basename(path)}.${newId()}`);
  if (kind === 'link') symlinkSync(content, draft);
  else {
    const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
    const file = openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    using _close = atScopeEnd(() => closeSync(file));
    for (let at = 0; at < content.length;) at += writeSync(file, content, at);
    fchmodSync(file, mode);
  }
  renameSync(draft, parent.at(basename(path)));
}
