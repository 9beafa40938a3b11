import { lstatSync, type Stats } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import type { ToolContext } from '../../protocol/tool.ts';
import { fileKind } from '../../sys/file-errors.ts';
import { inDirectory } from '../../sys/open-in-roots.ts';
import { isInside } from '../../sys/paths.ts';
import { isSecretPath } from '../../sys/secret-paths.ts';
import { literalPath, type PlacedGlob } from './globs/placed-globs.ts';
import { listFilesInScope } from './ripgrep.ts';
import { isBinaryFile } from './decode-text.ts';
import { MAX_SEARCHED_BYTES, NEVER_SEARCHED, type SearchScope } from './search-types.ts';

/** The time for finding out which of the named paths are ignored, in milliseconds. */
const IGNORED_TIME_MS = 2000;

export interface NamedSearch {
  /** The directory that was searched, as the call names it and without links; both absolute. */
  readonly asked: string;
  readonly real: string;
  /** Absolute paths of the files that were found, below `asked`. */
  readonly found: ReadonlySet<string>;
  readonly includesIgnored: boolean;
  /** Whether the contents were searched; otherwise names were listed. */
  readonly readsContents: boolean;
  readonly show: (path: string) => string;
}

/** A path that a glob without wildcards names and that was not found. */
interface NamedPath {
  /** Absolute, below the directory as the call names it. */
  readonly path: string;
  /** Relative to that directory. */
  readonly below: string;
  /** Whether the glob has no slash, so that it may mean a file in another directory. */
  readonly mayBeElsewhere: boolean;
}

/**
 * Explains why files that globs without wildcards name were left out: one note in brackets for each. There is no
 * note on a file that was searched and has no match, or on a name that may stand in another directory.
 */
export async function namedNotes(
  globs: readonly PlacedGlob[],
  search: NamedSearch,
  context: ToolContext,
): Promise<readonly string[]> {
  const reasons = pathsNotFound(globs, search, context).map((named) => ({
    named,
    reason: reasonByName(named, search, context),
  }));
  const candidates = reasons.filter(({ reason }) => typeof reason === 'object');
  const ignored = await ignoredAmong(
    candidates.map(({ named }) => named.below),
    search,
    context,
  );
  return reasons.flatMap(({ named: { path, below }, reason }) => {
    const why =
      typeof reason !== 'object'
        ? reason
        : ignored.has(below)
          ? 'is ignored by .gitignore or the like: set include_ignored, or name it as path'
          : reasonByContent(below, reason, { search, context });
    return why === undefined ? [] : [`[left out: ${search.show(path)} ${why}]`];
  });
}

function pathsNotFound(
  globs: readonly PlacedGlob[],
  search: NamedSearch,
  context: ToolContext,
): readonly NamedPath[] {
  const withheld = context.withheldBelow(search);
  return globs.flatMap((glob) => {
    const path = glob.excludes || glob.isFullList ? undefined : literalPath(glob);
    if (path === undefined || path === search.asked || !isInside(search.asked, path)) return [];
    const below = relative(search.asked, path);
    if (withheld?.(below) !== undefined || isFound(path, search.found)) return [];
    return [{ path, below, mayBeElsewhere: !glob.glob.startsWith('/') }];
  });
}

function isFound(path: string, found: ReadonlySet<string>): boolean {
  return found.has(path) || [...found].some((each) => each.startsWith(`${path}/`));
}

/**
 * The reason that a path's name and kind give. Returns its stats where they give none, because it is a file or a
 * directory that could have been searched, and undefined where nothing should be said about it.
 */
function reasonByName(
  { below, mayBeElsewhere }: NamedPath,
  { real, readsContents }: NamedSearch,
  context: ToolContext,
): string | Stats | undefined {
  const path = join(real, below);
  const stats = statsOf(path, context);
  if (stats === 'missing') return readsContents && !mayBeElsewhere ? 'does not exist' : undefined;
  if (stats === undefined) return undefined;
  if (stats.isSymbolicLink()) return 'is a link, and links are not followed: name where it leads';
  const isDirectory = stats.isDirectory();
  if (!isDirectory && !stats.isFile()) return `is ${fileKind(stats)}`;
  if (readsContents && !isDirectory && isSecretPath(path)) {
    return 'is a secret file: name it as path';
  }
  return below.split('/').includes(NEVER_SEARCHED)
    ? `lies in ${NEVER_SEARCHED}, which is only searched when it is named as path`
    : stats;
}

/** Returns undefined for a path that this user may not inspect. */
function statsOf(path: string, context: ToolContext): Stats | 'missing' | undefined {
  try {
    return inDirectory(
      dirname(path),
      { roots: context.roots },
      (held) => lstatSync(held.at(basename(path)), { throwIfNoEntry: false }) ?? 'missing',
    );
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    return thrown.code === 'NOT_FOUND' ? 'missing' : undefined;
  }
}

/**
 * The paths, relative to the searched directory, that are left out because of ignore files: ripgrep lists them, or
 * files in them, only when it does not read ignore files.
 */
async function ignoredAmong(
  paths: readonly string[],
  search: NamedSearch,
  context: ToolContext,
): Promise<ReadonlySet<string>> {
  if (search.includesIgnored || paths.length === 0) return new Set();
  const listed = await listedAmong(paths, { includesIgnored: false }, { search, context });
  if (listed === null) return new Set();
  const missing = paths.filter((path) => !listed.has(path));
  if (missing.length === 0) return new Set();
  const everything = await listedAmong(missing, { includesIgnored: true }, { search, context });
  return everything ?? new Set();
}

/** The paths that ripgrep lists, or that hold a file that it lists; null when that took too long. */
async function listedAmong(
  paths: readonly string[],
  { includesIgnored }: { readonly includesIgnored: boolean },
  { search, context }: { readonly search: NamedSearch; readonly context: ToolContext },
): Promise<ReadonlySet<string> | null> {
  const listed = new Set<string>();
  const accepts = (file: string): boolean => {
    for (const path of paths) {
      if (file === path || file.startsWith(`${path}/`)) listed.add(path);
    }
    return false;
  };
  const { stopped } = await listFilesInScope(
    { ...scopeOf(search, context), includesIgnored, accepts },
    { maxFiles: Infinity, timeMs: IGNORED_TIME_MS, signal: context.signal },
  );
  return stopped === undefined ? listed : null;
}

function scopeOf({ real }: NamedSearch, { roots }: ToolContext): SearchScope {
  return { directory: real, roots, accepts: () => true, nameGlobs: [] };
}

/** The reason that the size or content of a file gives; undefined where it was searched or only listed. */
function reasonByContent(
  below: string,
  stats: Stats,
  { search, context }: { readonly search: NamedSearch; readonly context: ToolContext },
): string | undefined {
  if (stats.isDirectory() || !search.readsContents) return undefined;
  if (stats.size > MAX_SEARCHED_BYTES) {
    return `is larger than ${MAX_SEARCHED_BYTES / 1024 / 1024} MB: use Bash`;
  }
  return isBinaryFile(below, scopeOf(search, context))
    ? 'is binary: name it as path to search it as text'
    : undefined;
}
