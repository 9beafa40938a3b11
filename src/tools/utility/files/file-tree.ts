import { closeSync, opendirSync, type BigIntStats } from 'node:fs';
import { join } from 'node:path';
import { atScopeEnd } from '../../../base/at-scope-end.ts';
import { MusterError } from '../../../base/errors.ts';
import { plural } from '../../../base/text.ts';
import type { ToolContext, PathExclusion } from '../../../protocol/tool.ts';
import { readEntryStats, type HeldEntry } from '../../../sys/files/entry-in-roots.ts';
import { holdDirectory, type HeldDirectory } from '../../../sys/files/held-directory.ts';
import { openHeldFile } from '../../../sys/files/open-in-roots.ts';
import { displayPath } from '../../../sys/files/paths.ts';
import { requireNotStale } from '../../shared/change-file.ts';
import { fileFingerprint, MAX_EDIT_BYTES } from '../../shared/file-text.ts';

/** The most entries and bytes that one call moves or deletes, because the log names every file with its hash. */
const MAX_ENTRIES = 500;
const MAX_HASHED_BYTES = 256 * 1024 * 1024;

/** An entry that is moved or deleted, alone or with its directory. */
export interface TreeEntry {
  /** The path from the entry that the call names; empty for that entry itself. */
  readonly path: string;
  /** The absolute path. */
  readonly real: string;
  readonly stats: BigIntStats;
  /** The `fileFingerprint` of a file; null for other entries. */
  readonly hash: string | null;
}

/** Limits on what may be moved or deleted together with its directory. */
export interface TreeLimits {
  readonly recursive: boolean;
  /** The rules that withhold paths, for each location from which or to which the tree goes. */
  readonly withheld: readonly (PathExclusion | null)[];
}

/**
 * Reads an entry and, for a directory, everything below it. A directory comes before its content; links are not
 * followed. Throws MusterError for a directory that is not empty without `recursive`, for more than the limits, for
 * another file system, for a path that a rule withholds, and for a file that changed since this task read it.
 */
export async function readFileTree(
  top: HeldEntry & { readonly stats: BigIntStats },
  limits: TreeLimits,
  context: ToolContext,
): Promise<readonly TreeEntry[]> {
  return await new TreeReader(top, limits, context).read();
}

class TreeReader {
  private readonly entries: TreeEntry[] = [];
  private hashed = 0;
  private readonly top: HeldEntry & { readonly stats: BigIntStats };
  private readonly limits: TreeLimits;
  private readonly context: ToolContext;

  constructor(
    top: HeldEntry & { readonly stats: BigIntStats },
    limits: TreeLimits,
    context: ToolContext,
  ) {
    this.top = top;
    this.limits = limits;
    this.context = context;
  }

  async read(): Promise<readonly TreeEntry[]> {
    await this.add('', this.top.directory, this.top.stats);
    return this.entries;
  }

  private async add(path: string, holder: HeldDirectory, stats: BigIntStats): Promise<void> {
    const real = join(this.top.real, path);
    this.requireAllowed(path, stats);
    const hash = stats.isFile() ? await this.hash(real, holder) : null;
    this.entries.push({ path, real, stats, hash });
    if (this.entries.length > MAX_ENTRIES) throw this.tooMuch(`${MAX_ENTRIES} entries`);
    if (stats.isDirectory()) await this.addBelow(path, real);
  }

  private async addBelow(path: string, real: string): Promise<void> {
    const directory = holdDirectory(this.top.root, real);
    using _close = atScopeEnd(() => directory.close());
    for (const name of names(directory)) {
      this.context.signal.throwIfAborted();
      if (!this.limits.recursive) throw this.notEmpty();
      const stats = readEntryStats(directory, name);
      if (stats === undefined) throw this.unreadable(join(path, name));
      await this.add(join(path, name), directory, stats);
    }
    directory.verify();
  }

  private requireAllowed(path: string, stats: BigIntStats): void {
    if (stats.dev !== this.top.stats.dev) {
      throw new MusterError('PERMISSION_DENIED', `${this.shown(path)} is on another file system`);
    }
    if (path === '') return;
    const asNamed = stats.isDirectory() ? `${path}/` : path;
    for (const withheld of this.limits.withheld) {
      const why = withheld?.(asNamed);
      if (why === undefined) continue;
      const message = `${this.shown(path)} may not be moved or deleted with its directory (${why}). Nothing was done: name the files and directories that you mean.`;
      throw new MusterError('PERMISSION_DENIED', message);
    }
  }

  private async hash(real: string, holder: HeldDirectory): Promise<string> {
    const file = openHeldFile(holder, real, this.context);
    using _close = atScopeEnd(() => closeSync(file.fd));
    const { size } = file.stats;
    if (size <= BigInt(MAX_EDIT_BYTES)) this.hashed += Number(size);
    if (this.hashed > MAX_HASHED_BYTES) throw this.tooMuch(`${MAX_HASHED_BYTES} bytes of files`);
    const hash = await fileFingerprint(file, this.context.signal);
    requireNotStale(real, { real, hash }, this.context);
    return hash;
  }

  private tooMuch(limit: string): MusterError {
    const message = `${this.shown('')} holds more than ${limit}, the limit of one call: name smaller directories, or use Bash`;
    return new MusterError('LIMIT_EXCEEDED', message);
  }

  /** The error for an entry that cannot be checked. */
  private unreadable(path: string): MusterError {
    const message = `${this.shown(path)} has just disappeared, or its name is not UTF-8: use Bash`;
    return new MusterError('CONFLICT', message, { retryable: true });
  }

  private notEmpty(): MusterError {
    const message = `${this.shown('')} is a directory and not empty: set recursive to mean all of it`;
    return new MusterError('INVALID_PARAM', message);
  }

  private shown(path: string): string {
    return displayPath(join(this.top.real, path), this.context.cwd);
  }
}

/** The sorted names in a directory, at most one more than the limit. */
function names(directory: HeldDirectory): readonly string[] {
  const found: string[] = [];
  const opened = opendirSync(directory.at('.'));
  try {
    for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) {
      found.push(entry.name);
      if (found.length > MAX_ENTRIES) break;
    }
  } finally {
    opened.closeSync();
  }
  return found.toSorted();
}

/** Describes what a call has moved or deleted: `the file`, `the directory with 3 files and 1 directory`. */
export function describeFileTree([top, ...below]: readonly TreeEntry[]): string {
  if (top === undefined) return 'nothing';
  if (top.stats.isSymbolicLink()) return 'the link';
  if (!top.stats.isDirectory()) return 'the file';
  const directories = below.filter(({ stats }) => stats.isDirectory()).length;
  const files = below.length - directories;
  if (below.length === 0) return 'the empty directory';
  const inner = directories === 0 ? '' : ` and ${plural(directories, 'directory', 'directories')}`;
  return `the directory with ${plural(files, 'file')}${inner}`;
}
