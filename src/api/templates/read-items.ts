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

const SEARCH_MS = 30_000;
const SOURCES = 'Items come from a file, a pipe, a pattern as in "src/**/*.ts", or (-) stdin';

/**
 * Returns the source that `--items` names: `-` is stdin, an existing path is that file or pipe, and a pattern is a
 * glob.
 */
export function parseItemSource(argument: string, path: string): ItemSource {
  if (argument === '-') return { kind: 'stdin' };
  try {
    // A pipe is a file, too: `<(git diff --name-only)` of a shell.
    if (hasReadableFile(path)) return { kind: 'file', path };
  } catch (thrown) {
    throw itemsError(thrown, `. ${SOURCES}`);
  }
  if (!isLiteralGlob(argument)) return { kind: 'glob', pattern: argument };
  throw new UsageError(`--items ${argument}: there is no such file. ${SOURCES}`);
}

export interface ItemsRequest {
  /** A file, a glob or `-`. */
  readonly argument: string;
  /** The absolute path that the argument means if it is a file. */
  readonly path: string;
  /** The directory of a glob; absolute and real. */
  readonly cwd: string;
  /** Reads all of stdin. */
  readonly readStdin: () => Promise<string>;
  readonly signal: AbortSignal;
}

/** Reads the items that `--items` names. Throws as `readItems` does. */
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
 * ignored files. Throws UsageError; MusterError `CANCELLED` at the signal.
 */
export async function readItems(
  source: Exclude<ItemSource, { kind: 'stdin' }>,
  cwd: string,
  options: NamedFileOptions = {},
): Promise<readonly TemplateItem[]> {
  return source.kind === 'file'
    ? readFileItems(source.path, options)
    : matchedFiles(source.pattern, cwd, options);
}

async function readFileItems(
  path: string,
  options: NamedFileOptions,
): Promise<readonly TemplateItem[]> {
  const bytes = await readNamedFile(path, { ...options, maxBytes: MAX_ITEM_BYTES }).catch(
    (thrown: unknown) => {
      throw itemsError(thrown);
    },
  );
  return parseItems(bytes.toString('utf8'), path);
}

/** Turns an error into UsageError if the command line named something wrong. */
function itemsError(thrown: unknown, advice = ''): unknown {
  if (!(thrown instanceof MusterError) || thrown.code === 'CANCELLED') return thrown;
  return new UsageError(`--items ${thrown.message}${advice}`, { cause: thrown });
}

function itemFilter(pattern: string): PathFilter {
  try {
    return createGlobFilter(pattern);
  } catch (thrown) {
    throw itemsError(thrown);
  }
}

async function matchedFiles(
  pattern: string,
  cwd: string,
  { signal = new AbortController().signal }: NamedFileOptions,
): Promise<readonly string[]> {
  const scope = { directory: cwd, roots: [cwd], accepts: itemFilter(pattern), nameGlobs: [] };
  const limits = { maxFiles: MAX_ITEMS + 1, timeMs: SEARCH_MS, signal };
  const found = await listFilesInScope(scope, limits);
  if (found.stopped === 'time') {
    throw new UsageError(
      `--items ${pattern}: the search took longer than ${SEARCH_MS / 1000} s; name a smaller directory`,
    );
  }
  const paths = confirmPaths(found.paths.toSorted(comparePaths), scope);
  if (paths.length === 0) throw new UsageError(`--items ${pattern}: no file of ${cwd} matches`);
  if (paths.length > MAX_ITEMS) {
    throw new UsageError(`--items ${pattern}: more than ${MAX_ITEMS} files, the limit of one run`);
  }
  return paths;
}
