import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { MusterError, systemErrorCode } from '../base/errors.ts';

/**
 * The part that an entry plays in a check. `source`: it is copied. `ignored`: git ignores it, so it is copied only if it
 * is as it was. `dependency`: it belongs to installed packages, which checks use where they are.
 */
export type EntryRole = 'source' | 'ignored' | 'dependency';

/** A file or link of a directory tree. */
export interface ScannedFile {
  /** The path relative to the tree, with `/`. */
  readonly path: string;
  readonly kind: 'file' | 'link';
  readonly role: EntryRole;
  /** The permission bits. */
  readonly mode: number;
  readonly size: number;
  /** A text that differs after every change of the file, also after one that restores the time of modification. */
  readonly stamp: string;
  /** The target of a link among the installed packages. */
  readonly leadsTo?: string;
}

/** The entries of a tree at one time. */
export interface TreeScan {
  readonly entries: ReadonlyMap<string, ScannedFile>;
  /** The texts of the ignore files, by the path of their directory. */
  readonly ignoreFiles: ReadonlyMap<string, string>;
}

/** The maximum number of files in a tree whose work can be checked. */
const MAX_ENTRIES = 500_000;
const MAX_IGNORE_FILE_BYTES = 1_000_000;
/** The number of entries whose properties are read at the same time. */
const BATCH = 64;

/** Directories of installed packages. */
const DEPENDENCIES: ReadonlySet<string> = new Set(['node_modules', '.venv', 'venv']);
/** Names that hold only what programs make again: never compared, and never copied. */
const CACHES: ReadonlySet<string> = new Set([
  '.git',
  '__pycache__',
  '.pytest_cache',
  '.mypy_cache',
  '.ruff_cache',
  '.hypothesis',
  '.tox',
  '.nox',
  '.cache',
  '.turbo',
  '.parcel-cache',
  '.next',
  '.nuxt',
  '.svelte-kit',
  '.nyc_output',
  '.eslintcache',
  '.gradle',
  '.DS_Store',
]);

/** Returns true for the name of a directory of installed packages. */
export function isPackageDirectory(name: string): boolean {
  return DEPENDENCIES.has(name);
}

/** Entries of `node_modules` in which tools keep caches. Code is not loaded from them. */
const PACKAGE_CACHES =
  /^\.(?:cache|vite|vitest|vite-temp|vitest-\w+|package-lock\.json|modules\.yaml|yarn-state\.yml|yarn-integrity|babel-cache|tmp)$/;

function isPackageCache(name: string): boolean {
  return PACKAGE_CACHES.test(name);
}

/** The options of a scan. */
export interface TreeScanOptions {
  /** Absolute paths that are left out, with everything below them. */
  readonly hidden: readonly string[];
  /**
   * The ignore files of an earlier scan. With them, the roles do not depend on ignore files that a task has changed since
   * then. Null for the first scan.
   */
  readonly earlier: ReadonlyMap<string, string> | null;
  readonly signal: AbortSignal;
}

/**
 * Scans a tree. Links are not followed, and sockets and devices are left out. Throws MusterError `LIMIT_EXCEEDED` if
 * the tree has too many files.
 */
export async function scanTree(root: string, options: TreeScanOptions): Promise<TreeScan> {
  const scan = new Scan(root, options);
  await scan.readDirectory('', { rules: [], role: 'source' });
  return { entries: scan.entries, ignoreFiles: scan.ignoreFiles };
}

/** The ignore rules of a directory. */
interface Rules {
  /** The path of the directory, with `/` at its end; '' for the root. */
  readonly base: string;
  readonly rules: Ignore;
}

interface Inherited {
  readonly rules: readonly Rules[];
  readonly role: EntryRole;
}

class Scan {
  readonly entries = new Map<string, ScannedFile>();
  readonly ignoreFiles = new Map<string, string>();
  private readonly root: string;
  private readonly options: TreeScanOptions;
  private readonly hidden: ReadonlySet<string>;

  constructor(root: string, options: TreeScanOptions) {
    this.root = root;
    this.options = options;
    this.hidden = new Set(options.hidden);
  }

  async readDirectory(base: string, inherited: Inherited): Promise<void> {
    this.options.signal.throwIfAborted();
    const { role } = inherited;
    const rules = role === 'source' ? await this.addRules(base, inherited.rules) : [];
    const isPackages = DEPENDENCIES.has(base.split('/').at(-2) ?? '');
    const found = (await this.list(base)).filter(
      ({ name }) =>
        !CACHES.has(name) &&
        !(isPackages && isPackageCache(name)) &&
        !this.hidden.has(join(this.root, base, name)),
    );
    for (let from = 0; from < found.length; from += BATCH) {
      const batch = found.slice(from, from + BATCH);
      await Promise.all(
        batch.map(async (entry) => {
          if (!entry.isDirectory())
            await this.addEntry(
              base + entry.name,
              DEPENDENCIES.has(entry.name)
                ? 'dependency'
                : roleOf(base + entry.name, { rules, role }),
            );
        }),
      );
    }
    for (const { name } of found.filter((entry) => entry.isDirectory())) {
      const path = `${base}${name}/`;
      const below = DEPENDENCIES.has(name) ? 'dependency' : roleOf(path, { rules, role });
      await this.readDirectory(path, { rules, role: below });
    }
  }

  private async list(base: string) {
    try {
      return await readdir(join(this.root, base), { withFileTypes: true });
    } catch (thrown) {
      // Somebody has removed the directory since it was listed, or nobody may read it.
      if (systemErrorCode(thrown) === undefined) throw thrown;
      return [];
    }
  }

  private async addRules(base: string, above: readonly Rules[]): Promise<readonly Rules[]> {
    const { earlier } = this.options;
    const text = earlier === null ? await this.readIgnoreFile(base) : earlier.get(base);
    if (text === undefined) return above;
    this.ignoreFiles.set(base, text);
    return [...above, { base, rules: ignore().add(text) }];
  }

  private async readIgnoreFile(base: string): Promise<string | undefined> {
    const texts = [await this.readText(`${base}.gitignore`)];
    if (base === '') texts.push(await this.readText('.git/info/exclude'));
    const found = texts.filter((text) => text !== undefined);
    return found.length === 0 ? undefined : found.join('\n');
  }

  private async readText(path: string): Promise<string | undefined> {
    const full = join(this.root, path);
    try {
      const stats = await lstat(full);
      if (!stats.isFile() || stats.size > MAX_IGNORE_FILE_BYTES) return undefined;
      return await readFile(full, 'utf8');
    } catch (thrown) {
      if (systemErrorCode(thrown) === undefined) throw thrown;
      return undefined;
    }
  }

  private async addEntry(path: string, role: EntryRole): Promise<void> {
    let stats;
    try {
      stats = await lstat(join(this.root, path), { bigint: true });
    } catch (thrown) {
      if (systemErrorCode(thrown) === undefined) throw thrown;
      return;
    }
    const kind = stats.isFile() ? 'file' : stats.isSymbolicLink() ? 'link' : null;
    if (kind === null) return;
    const { ino, size, mtimeNs, ctimeNs } = stats;
    const stamp = `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
    const mode = Number(stats.mode & 0o777n);
    const entry = { path, kind, role, mode, size: Number(size), stamp } as const;
    this.entries.set(
      path,
      kind === 'link' && role === 'dependency' ? await this.addTarget(entry) : entry,
    );
    if (this.entries.size > MAX_ENTRIES) {
      const message = `accept: ${this.root} has more than ${MAX_ENTRIES} files, and acceptance compares all of them; give the task a smaller directory`;
      throw new MusterError('LIMIT_EXCEEDED', message);
    }
  }

  private async addTarget(entry: ScannedFile): Promise<ScannedFile> {
    try {
      return { ...entry, leadsTo: await readlink(join(this.root, entry.path)) };
    } catch (thrown) {
      if (systemErrorCode(thrown) === undefined) throw thrown;
      return entry;
    }
  }
}

/** Returns the role of a path by the ignore rules above it. The path of a directory ends with `/`. */
function roleOf(path: string, { rules, role }: Inherited): EntryRole {
  if (role !== 'source') return role;
  // The rules of the nearest directory come last and decide.
  for (const { base, rules: own } of rules.toReversed()) {
    const { ignored, unignored } = own.test(path.slice(base.length));
    if (ignored) return 'ignored';
    if (unignored) return 'source';
  }
  return 'source';
}
