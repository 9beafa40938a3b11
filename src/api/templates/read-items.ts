import { closeSync, openSync, statSync } from 'node:fs';
import { errorMessage, systemErrorCode, UsageError } from '../../base/errors.ts';
import type { ItemSource, TemplateItem } from '../../protocol/template.ts';
import { readAtMost } from '../../sys/read-at-most.ts';
import { confirmPaths } from '../../tools/search/confirm.ts';
import { globFilter } from '../../tools/search/globs.ts';
import { withSearchEngine } from '../../tools/search/search-engine.ts';
import { comparePaths } from '../../tools/search/search-types.ts';
import { MAX_ITEM_BYTES, MAX_ITEMS, parseItems } from './parse-items.ts';

const SEARCH_MS = 30_000;
const GLOB = /[*?[\]{}]/;

/** What `--items` names: `-` is stdin, what is there as a file is that, and a pattern is a glob. */
export function itemSource(argument: string, path: string): ItemSource {
  if (argument === '-') return { kind: 'stdin' };
  if (isFile(path)) return { kind: 'file', path };
  if (GLOB.test(argument)) return { kind: 'glob', pattern: argument };
  throw new UsageError(
    `--items ${argument}: there is no such file. A pattern has *, ? or […] in it; - is stdin`,
  );
}

/**
 * The items of a file, or the paths that a glob matches in `cwd` (absolute and real), ignored files left out, in
 * path order. Throws UsageError.
 */
export async function readItems(
  source: Exclude<ItemSource, { kind: 'stdin' }>,
  cwd: string,
): Promise<readonly TemplateItem[]> {
  return source.kind === 'file' ? readFileItems(source.path) : matchedFiles(source.pattern, cwd);
}

function readFileItems(path: string): readonly TemplateItem[] {
  const bytes = contentOf(path);
  if (bytes === undefined) {
    throw new UsageError(`--items ${path}: larger than the limit of ${MAX_ITEM_BYTES} bytes`);
  }
  return parseItems(bytes.toString('utf8'), path);
}

function contentOf(path: string): Buffer | undefined {
  try {
    const descriptor = openSync(path, 'r');
    try {
      return readAtMost(descriptor, MAX_ITEM_BYTES);
    } finally {
      closeSync(descriptor);
    }
  } catch (thrown) {
    throw new UsageError(`--items ${path}: can't be read (${errorMessage(thrown)})`);
  }
}

async function matchedFiles(pattern: string, cwd: string): Promise<readonly string[]> {
  const scope = { directory: cwd, roots: [cwd], accepts: globFilter(pattern), nameGlobs: [] };
  const limits = {
    maxFiles: MAX_ITEMS + 1,
    maxMatches: MAX_ITEMS + 1,
    maxMatchesPerFile: 1,
    timeMs: SEARCH_MS,
    signal: new AbortController().signal,
  };
  const found = await withSearchEngine((engine) => engine.list(scope, limits));
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

function isFile(path: string): boolean {
  try {
    // A pipe is one too: `<(git diff --name-only)` of a shell.
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats?.isFile() === true || stats?.isFIFO() === true;
  } catch (thrown) {
    // A name that is no path may still be a pattern.
    if (systemErrorCode(thrown) === undefined) throw thrown;
    return false;
  }
}
