import { closeSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { atScopeEnd } from '../../base/at-scope-end.ts';
import { readQuery } from '../../base/code-search/query.ts';
import { countTerms, rankLocations } from '../../base/code-search/rank.ts';
import { formatRanking } from '../../base/code-search/format-ranking.ts';
import type { SearchedFile } from '../../base/code-search/score-file.ts';
import { TermFinder } from '../../base/code-search/term-finder.ts';
import { fileKind } from '../../base/code/file-kind.ts';
import { MusterError } from '../../base/errors.ts';
import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import type { HeldDirectory } from '../../sys/files/held-directory.ts';
import { withHeldDirectory, openHeldFile } from '../../sys/files/open-in-roots.ts';
import { toAbsolutePath, displayPath } from '../../sys/files/paths.ts';
import { BINARY_SAMPLE_BYTES, type SearchScope, createOpenScope } from '../search/search-types.ts';
import { contentScope, resolveSearchTarget } from '../search/search-scope.ts';
import { listFilesInScope } from '../search/ripgrep.ts';
import { cutToBytes } from '../shared/output.ts';

interface CodeSearchInput {
  readonly question: string;
  readonly path: string;
  readonly limit: number;
}

const MAX_FILES = 100_000;
/** The maximum time for listing the files. */
const LIST_TIMEOUT_MS = 120_000;
/** The number of files that are read before other work of the process can run. */
const FILES_PER_TURN = 64;
/** A The number of files after which progress is reported. */
const FILES_PER_REPORT = 10_000;

/** Searches the files of a directory, reading each file once, and describes the best locations. */
export async function searchCode(
  { question, path, limit }: CodeSearchInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const requestedPath = toAbsolutePath(path, context.cwd);
  const scope = contentScope(
    requestedPath,
    resolveSearchTarget(requestedPath, context),
    { accepts: [], nameGlobs: [] },
    context,
  );
  const { signal } = context;
  const listed = await listFilesInScope(scope, {
    maxFiles: MAX_FILES,
    timeMs: LIST_TIMEOUT_MS,
    signal,
  });
  // A path with control characters could control a terminal.
  const paths = listed.paths.filter((each) => !/\p{Cc}/u.test(each));
  if (paths.length === 0) return { text: 'Nothing found: there are no files to search here.' };
  const query = readQuery(question);
  const finder = new TermFinder(query.terms);
  const reader = new FileReader(scope);
  const files = await readFiles(paths, { reader, finder, context });
  const ranking = rankLocations(query, finder, {
    files,
    readText: (each) => reader.readText(each),
  });
  const notes =
    listed.stopped === undefined
      ? []
      : [`Only the first ${files.length} files were searched: name a path to search fewer.`];
  const formatPath = (each: string) => displayPath(join(scope.directory, each), context.cwd);
  const text = [formatRanking(ranking, { maxPlaces: limit, show: formatPath }), ...notes].join(
    '\n\n',
  );
  return { text: cutToBytes(text, context.caps.resultBytes) };
}

interface ReadOptions {
  readonly reader: FileReader;
  readonly finder: TermFinder;
  readonly context: ToolContext;
}

/** Reads all files, directory by directory, in the order of their paths. */
async function readFiles(
  paths: readonly string[],
  { reader, finder, context }: ReadOptions,
): Promise<readonly SearchedFile[]> {
  const files: SearchedFile[] = [];
  for (const [directory, directoryPaths] of Map.groupBy(paths.toSorted(), (path) =>
    dirname(path),
  )) {
    for (let from = 0; from < directoryPaths.length; from += FILES_PER_TURN) {
      await setImmediate();
      context.signal.throwIfAborted();
      const batch = directoryPaths.slice(from, from + FILES_PER_TURN);
      reader.forEachText(directory, batch, (path, text) => {
        files.push(
          text === null ? { path, size: 0, counts: null } : countTerms(path, text, finder),
        );
        if (files.length % FILES_PER_REPORT === 0) {
          context.progress(`code search: ${files.length} of ${paths.length} files read`);
        }
      });
    }
  }
  return files;
}

/**
 * The maximum size of a source file whose text is searched. Larger ones are usually generated, so only their paths are
 * searched.
 */
const MAX_SOURCE_BYTES = 1024 * 1024;
/** The maximum size of any other file whose text is searched. */
const MAX_OTHER_BYTES = 256 * 1024;
/** Matches the names of files that are rarely text. Such files are not opened. */
const BINARY_NAME =
  /\.(?:png|jpe?g|gif|ico|webp|bmp|tiff?|pdf|zip|gz|tgz|bz2|xz|7z|jar|war|class|so|dylib|dll|exe|o|a|wasm|woff2?|ttf|otf|eot|mp[34]|mov|wav|ogg|avi|sqlite|db|pyc|bin)$/i;

/** Reads the files of a scope into one reused buffer, without following links. */
class FileReader {
  readonly #scope: SearchScope;
  readonly #buffer = Buffer.allocUnsafeSlow(MAX_SOURCE_BYTES);

  constructor(scope: SearchScope) {
    this.#scope = scope;
  }

  /** Calls `visit` with the text of each file in a directory, or with null if the text of the file is not searched. */
  forEachText(
    directory: string,
    paths: readonly string[],
    visit: (path: string, text: string | null) => void,
  ): void {
    const texts = this.#inDirectory(directory, (held) =>
      paths.map((path) => this.#read(held, path)),
    );
    for (const [index, path] of paths.entries()) visit(path, texts?.[index] ?? null);
  }

  /** Returns the text of a file, or null if the text is not searched. */
  readText(path: string): string | null {
    return this.#inDirectory(dirname(path), (held) => this.#read(held, path));
  }

  #inDirectory<T>(directory: string, act: (held: HeldDirectory) => T): T | null {
    const full = join(this.#scope.directory, directory);
    return nullOnFailure(() => withHeldDirectory(full, createOpenScope(this.#scope, full), act));
  }

  #read(held: HeldDirectory, path: string): string | null {
    if (BINARY_NAME.test(path)) return null;
    const full = join(this.#scope.directory, path);
    return nullOnFailure(() => {
      const { fd, stats } = openHeldFile(held, full, createOpenScope(this.#scope, full));
      using _close = atScopeEnd(() => closeSync(fd));
      const limit = fileKind(path) === 'source' ? MAX_SOURCE_BYTES : MAX_OTHER_BYTES;
      return stats.size > limit ? null : this.#readDescriptor(fd, limit);
    });
  }

  #readDescriptor(fd: number, maxBytes: number): string | null {
    let length = 0;
    while (length < maxBytes) {
      const read = readSync(fd, this.#buffer, length, maxBytes - length, length);
      if (read === 0) break;
      length += read;
    }
    const bytes = this.#buffer.subarray(0, length);
    const nul = bytes.indexOf(0);
    return nul !== -1 && nul < BINARY_SAMPLE_BYTES ? null : bytes.toString('utf8');
  }
}

/**
 * Returns null if an attempt to open a file fails, because the file is gone, unreadable or has been replaced. Then only
 * its path is searched.
 */
function nullOnFailure<T>(attempt: () => T): T | null {
  try {
    return attempt();
  } catch (thrown) {
    if (thrown instanceof MusterError) return null;
    throw thrown;
  }
}
