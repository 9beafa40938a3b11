import { MusterError, UsageError } from '../../base/errors.ts';
import type { ItemSource, TemplateItem } from '../../protocol/template.ts';
import {
  hasReadableFile,
  readNamedFile,
  type NamedFileOptions,
} from '../../sys/files/named-file.ts';
import { confirmPaths } from '../../tools/search/confirm-hits.ts';
import { isLiteralGlob, createGlobFilter } from '../../tools/search/globs/placed-globs.ts';
import { listFilesInScope } from '../../tools/search/ripgrep.ts';
import { comparePaths, type PathFilter } from '../../tools/search/search-types.ts';
import { MAX_ITEM_BYTES, MAX_ITEMS, parseItems } from './parse-items.ts';

const SEARCH_TIMEOUT_MS = 30_000;
const SOURCES_HINT =
  'Items can come from a file, a pipe, a pattern such as "src/**/*.ts", or stdin (-)';

/**
 * Parses the argument of `--items`: `-` is stdin, an existing path is a file or a pipe, and a pattern is a glob. `path`
 * is the absolute path of the argument.
 */
function parseItemSource(
  argument: string,
  path: string,
): Exclude<ItemSource, { kind: 'arguments' }> {
  if (argument === '-') return { kind: 'stdin' };
  try {
    // A pipe is also a file, such as `<(git diff --name-only)` in a shell.
    if (hasReadableFile(path)) return { kind: 'file', path };
  } catch (thrown) {
    throw toItemsError(thrown, `. ${SOURCES_HINT}`);
  }
  if (!isLiteralGlob(argument)) return { kind: 'glob', pattern: argument };
  throw new UsageError(`--items ${argument}: there is no such file. ${SOURCES_HINT}`);
}

export interface ItemsRequest {
  /** A file, a glob or `-`. */
  readonly argument: string;
  /** The absolute path of the argument, if it is a file. */
  readonly path: string;
  /** The directory in which a glob is searched; absolute and real. */
  readonly cwd: string;
  /** Reads all of stdin. */
  readonly readStdin: () => Promise<string>;
  readonly signal: AbortSignal;
}

/** Reads the items of the argument of `--items`. Throws as `readItems` does. */
export async function loadItems({ argument, path, cwd, readStdin, signal }: ItemsRequest) {
  const source = parseItemSource(argument, path);
  const items =
    source.kind === 'stdin'
      ? parseItems(await readStdin(), 'stdin')
      : await readItems(source, cwd, { signal });
  return { source, items };
}

/**
 * Reads the items of a file, or the paths that a glob matches in `cwd` (absolute and real), in path order and without
 * ignored files. Throws UsageError, or MusterError `CANCELLED` when the signal aborts.
 */
export async function readItems(
  source: Exclude<ItemSource, { kind: 'stdin' | 'arguments' }>,
  cwd: string,
  options: NamedFileOptions = {},
): Promise<readonly TemplateItem[]> {
  return source.kind === 'file'
    ? readFileItems(source.path, options)
    : listMatchingFiles(source.pattern, cwd, options);
}

async function readFileItems(
  path: string,
  options: NamedFileOptions,
): Promise<readonly TemplateItem[]> {
  const bytes = await readNamedFile(path, { ...options, maxBytes: MAX_ITEM_BYTES }).catch(
    (thrown: unknown) => {
      throw toItemsError(thrown);
    },
  );
  return parseItems(bytes.toString('utf8'), path);
}

/** Converts an error to UsageError if the argument of `--items` caused it. */
function toItemsError(thrown: unknown, advice = ''): unknown {
  if (!(thrown instanceof MusterError) || thrown.code === 'CANCELLED') return thrown;
  return new UsageError(`--items ${thrown.message}${advice}`, { cause: thrown });
}

function createItemFilter(pattern: string): PathFilter {
  try {
    return createGlobFilter(pattern);
  } catch (thrown) {
    throw toItemsError(thrown);
  }
}

async function listMatchingFiles(
  pattern: string,
  cwd: string,
  { signal = new AbortController().signal }: NamedFileOptions,
): Promise<readonly string[]> {
  const scope = { directory: cwd, roots: [cwd], accepts: createItemFilter(pattern), nameGlobs: [] };
  const limits = { maxFiles: MAX_ITEMS + 1, timeMs: SEARCH_TIMEOUT_MS, signal };
  const found = await listFilesInScope(scope, limits);
  if (found.stopped === 'time') {
    throw new UsageError(
      `--items ${pattern}: the search took longer than ${SEARCH_TIMEOUT_MS / 1000} s; name a smaller directory`,
    );
  }
  const paths = confirmPaths(found.paths.toSorted(comparePaths), scope);
  if (paths.length === 0) throw new UsageError(`--items ${pattern}: no file of ${cwd} matches`);
  if (paths.length > MAX_ITEMS) {
    throw new UsageError(`--items ${pattern}: more than ${MAX_ITEMS} files, the limit of one run`);
  }
  return paths;
}
