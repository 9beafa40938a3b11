import { join } from 'node:path';
import type { DefinitionFormat } from './format.ts';
import type { DefinitionKind, SearchPath } from './kind.ts';
import { pluginSearchPaths } from './plugins.ts';
import type { SearchContext } from './search-context.ts';
import { ownerOfDirectory } from './user-directories.ts';

/** Returns all paths to search for a kind of definition, in order of precedence (docs/agents.md, "Search order"). */
export function searchPaths<T extends { readonly name: string }>(
  kind: DefinitionKind<T>,
  context: SearchContext,
): readonly SearchPath<T>[] {
  const { user } = context;
  // A home directory that is a repository is still the user's own.
  const ofUser = new Set(kind.searchOrder.flat().flatMap(({ locations }) => locations.user(user)));
  return [
    ...kind.searchOrder.flatMap((formats) => [
      ...projectPaths(formats, kind, context).filter(({ path }) => !ofUser.has(path)),
      ...formats.flatMap((format) => userPaths(format, context)),
    ]),
    ...pluginSearchPaths(kind, context),
  ];
}

function projectPaths<T extends { readonly name: string }>(
  formats: readonly DefinitionFormat<T>[],
  { projectOrder }: DefinitionKind<T>,
  { directories, root: boundary }: SearchContext,
): readonly SearchPath<T>[] {
  const inDirectory = (
    format: DefinitionFormat<T>,
    location: string,
    directory: string,
  ): SearchPath<T> => ({ format, scope: 'project', path: join(directory, location), boundary });
  const locations = formats.flatMap((format) =>
    format.locations.project.map((location) => [format, location] as const),
  );
  return projectOrder === 'format'
    ? locations.flatMap((each) => directories.map((directory) => inDirectory(...each, directory)))
    : directories.flatMap((directory) => locations.map((each) => inDirectory(...each, directory)));
}

function userPaths<T>(
  format: DefinitionFormat<T>,
  { user, root }: SearchContext,
): readonly SearchPath<T>[] {
  return format.locations.user(user).map((path) => {
    const { scope, boundary } = ownerOfDirectory(path, user, root);
    return { format, scope, path, boundary };
  });
}
