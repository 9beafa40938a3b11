import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import type { DefinitionKind, SearchPath, DefinitionFormat } from './format.ts';
import { pluginSearchPaths } from './plugins.ts';
import { ownerOfDirectory, type SearchContext } from './search-context.ts';
import { walkFiles, type FoundFile, type SkippedPath } from './walk.ts';

/** The maximum number of directory entries that one search examines. */
const MAX_ENTRIES = 10_000;

/** The files of one search path. */
export interface ListedFiles<T> {
  readonly searchPath: SearchPath<T>;
  /** The real path of the directory that files must be in. */
  readonly boundary: string;
  readonly files: readonly FoundFile[];
  readonly skipped: readonly SkippedPath[];
}

/**
 * Lists the files that may contain definitions of a kind, in order of precedence, without opening them.
 *
 * @param scope limits the search to search paths of this scope. Default: all search paths
 */
export function listDefinitionFiles<T extends { readonly name: string }>(
  kind: DefinitionKind<T>,
  context: SearchContext,
  scope?: SearchPath<T>['scope'],
): readonly ListedFiles<T>[] {
  const budget = { entries: MAX_ENTRIES };
  return listSearchPaths(kind, context)
    .filter((each) => scope === undefined || each.scope === scope)
    .flatMap((searchPath) => {
      const { path, format } = searchPath;
      const boundary = context.paths.mayExist(path) ? realPath(searchPath.boundary) : undefined;
      if (boundary === undefined) return [];
      const accepts = (fileName: string): boolean => format.accepts(fileName);
      const { ownsFolder } = kind;
      const walk = walkFiles(path, { accepts, ownsFolder, boundary, budget });
      return [{ searchPath, boundary, ...checkFiles(walk, kind, searchPath) }];
    });
}

function checkFiles<T extends { readonly name: string }>(
  walk: Pick<ListedFiles<T>, 'files' | 'skipped'>,
  { checkFile }: DefinitionKind<T>,
  searchPath: SearchPath<T>,
): Pick<ListedFiles<T>, 'files' | 'skipped'> {
  if (checkFile === undefined) return walk;
  const checked = walk.files.map((file) => checkFile(file, searchPath));
  return {
    files: checked.filter((each) => 'realPath' in each),
    skipped: [...walk.skipped, ...checked.filter((each) => 'reason' in each)],
  };
}

/** Returns the real path of a directory, or undefined if the directory does not exist. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return undefined;
  }
}

/** Returns all paths to search for a kind of definition, in order of precedence (docs/agents.md, "Search order"). */
export function listSearchPaths<T extends { readonly name: string }>(
  kind: DefinitionKind<T>,
  context: SearchContext,
): readonly SearchPath<T>[] {
  const { user } = context;
  // If the home directory is itself a repository, its files are the user's own and not the project's.
  const userLocations = new Set(
    kind.searchOrder.flat().flatMap(({ locations }) => locations.user(user)),
  );
  return [
    ...kind.searchOrder.flatMap((formats) => [
      ...listProjectPaths(formats, kind, context).filter(({ path }) => !userLocations.has(path)),
      ...formats.flatMap((format) => listUserPaths(format, context)),
    ]),
    ...pluginSearchPaths(kind, context),
  ];
}

function listProjectPaths<T extends { readonly name: string }>(
  formats: readonly DefinitionFormat<T>[],
  { projectOrder }: DefinitionKind<T>,
  { directories, root: boundary }: SearchContext,
): readonly SearchPath<T>[] {
  const createPath = (
    format: DefinitionFormat<T>,
    location: string,
    directory: string,
  ): SearchPath<T> => ({ format, scope: 'project', path: join(directory, location), boundary });
  const locations = formats.flatMap((format) =>
    format.locations.project.map((location) => [format, location] as const),
  );
  return projectOrder === 'format'
    ? locations.flatMap((each) => directories.map((directory) => createPath(...each, directory)))
    : directories.flatMap((directory) => locations.map((each) => createPath(...each, directory)));
}

function listUserPaths<T>(
  format: DefinitionFormat<T>,
  { user, root }: SearchContext,
): readonly SearchPath<T>[] {
  return format.locations.user(user).map((path) => {
    const { scope, boundary } = ownerOfDirectory(path, user, root);
    return { format, scope, path, boundary };
  });
}
