import { lstatSync, type Stats } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { MusterError } from '../base/errors.ts';
import type { ToolContext } from '../protocol/tool.ts';
import { fileKind } from '../sys/file-errors.ts';
import { inDirectory } from '../sys/open-in-roots.ts';
import { isInside } from '../sys/paths.ts';
import { isSecretPath } from '../sys/secret-paths.ts';
import { namedPath, type PlacedGlob } from './search/globs.ts';
import { IgnoreRules } from './search/ignore-rules.ts';
import { isBinaryFile } from './search/sniff.ts';
import { MAX_SEARCHED_BYTES, NEVER_SEARCHED } from './search/search-types.ts';

export interface NamedSearch {
  /** The directory that was searched, as it was asked for and as it is; absolute. */
  readonly asked: string;
  readonly real: string;
  /** Absolute paths of what was found, below `asked`. */
  readonly found: ReadonlySet<string>;
  readonly includesIgnored: boolean;
  /** Whether the contents were searched; otherwise names were listed. */
  readonly readsContents: boolean;
  readonly show: (path: string) => string;
}

/**
 * What globs without wildcards name, and was left out: one note in brackets for each, with the reason. What
 * was looked at and has no match gets none, nor does a name that may stand in another directory.
 */
export function namedNotes(
  globs: readonly PlacedGlob[],
  search: NamedSearch,
  context: ToolContext,
): readonly string[] {
  const withheld = context.withheldBelow(search);
  return globs.flatMap((glob) => {
    const path = glob.excludes || glob.isWholeList ? undefined : namedPath(glob);
    if (path === undefined || path === search.asked || !isInside(search.asked, path)) return [];
    const below = relative(search.asked, path);
    if (withheld?.(below) !== undefined || isFound(path, search.found)) return [];
    // Without a slash it may be a name in any other directory.
    const isElsewhere = !glob.glob.startsWith('/');
    const reason = whyLeftOut(below, { ...search, isElsewhere }, context);
    return reason === undefined ? [] : [`[left out: ${search.show(path)} ${reason}]`];
  });
}

function isFound(path: string, found: ReadonlySet<string>): boolean {
  return found.has(path) || [...found].some((each) => each.startsWith(`${path}/`));
}

function whyLeftOut(
  below: string,
  search: NamedSearch & { readonly isElsewhere: boolean },
  context: ToolContext,
): string | undefined {
  const { real, includesIgnored, readsContents } = search;
  const path = join(real, below);
  const stats = statsOf(path, context);
  if (stats === 'missing') {
    return readsContents && !search.isElsewhere ? 'does not exist' : undefined;
  }
  if (stats === undefined) return undefined;
  if (stats.isSymbolicLink()) return 'is a link, and links are not followed: name where it leads';
  const isDirectory = stats.isDirectory();
  if (!isDirectory && !stats.isFile()) return `is ${fileKind(stats)}`;
  if (readsContents && !isDirectory && isSecretPath(path)) {
    return 'is a secret file: name it as path';
  }
  if (below.split('/').includes(NEVER_SEARCHED)) {
    return `lies in ${NEVER_SEARCHED}, which is only searched when it is named as path`;
  }
  if (!includesIgnored && IgnoreRules.ignoreBelow(real, below, { isDirectory })) {
    return 'is ignored by .gitignore or the like: set include_ignored, or name it as path';
  }
  if (isDirectory || !readsContents) return undefined;
  if (stats.size > MAX_SEARCHED_BYTES) {
    return `is larger than ${MAX_SEARCHED_BYTES / 1024 / 1024} MB: use Bash`;
  }
  const scope = { directory: real, roots: context.roots, accepts: () => true, nameGlobs: [] };
  return isBinaryFile(below, scope) ? 'is binary: name it as path to search it as text' : undefined;
}

/** Undefined for what cannot be looked at. */
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
