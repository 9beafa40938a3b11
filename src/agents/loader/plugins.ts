import { readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { parseJsonLine } from '../../base/jsonl.ts';
import { isInside } from '../../base/path-inside.ts';
import type { DefinitionKind, SearchPath, DefinitionFormat } from './format.ts';
import { readTextFile } from './read-text.ts';
import {
  ownerOfDirectory,
  PRODUCT_HOMES,
  type PathCache,
  type InstalledPlugin,
  type SearchContext,
} from './search-context.ts';

/** The maximum number of extensions of one product that are searched. */
const MAX_EXTENSIONS = 500;

/**
 * Returns the search paths of installed software: of Muster's own plugins first, then of Claude Code's plugins, then of
 * other products' extensions.
 */
export function pluginSearchPaths<T extends { readonly name: string }>(
  kind: DefinitionKind<T>,
  context: SearchContext,
): readonly SearchPath<T>[] {
  return [
    ...context.plugins.flatMap((plugin) =>
      createPluginPaths(kind, plugin, {
        scope: 'plugin',
        paths: plugin.paths?.[kind.folder] ?? [],
      }),
    ),
    ...listClaudePaths(kind, context),
    ...kind.searchOrder
      .flat()
      .flatMap((format) => listExtensionPaths(format, kind.folder, context)),
  ];
}

function createPluginPaths<T extends { readonly name: string }>(
  { pluginFormat }: DefinitionKind<T>,
  plugin: InstalledPlugin,
  { scope, paths }: { readonly scope: 'plugin' | 'project'; readonly paths: readonly string[] },
): readonly SearchPath<T>[] {
  if (pluginFormat === undefined) return [];
  const format = pluginFormat(plugin);
  return paths.map((path) => ({ format, scope, path, boundary: plugin.root }));
}

function listClaudePaths<T extends { readonly name: string }>(
  kind: DefinitionKind<T>,
  context: SearchContext,
): readonly SearchPath<T>[] {
  if (kind.pluginFormat === undefined) return [];
  const { user, root, paths } = context;
  const belongsToUser = (path: string): boolean =>
    ownerOfDirectory(path, user, root).scope === 'user';
  // If the directory of the plugins is inside the project, it is not read, because a project's file must not decide
  // which plugins are installed.
  if (!belongsToUser(PRODUCT_HOMES.claude(user))) return [];
  return listInstalledPlugins(context).flatMap((plugin) =>
    createPluginPaths(kind, plugin, {
      // A plugin inside the project must be trusted like the project's other files.
      scope: belongsToUser(plugin.root) ? 'plugin' : 'project',
      paths: listPluginDirectories(plugin.root, kind.folder, paths),
    }),
  );
}

/**
 * Returns the plugins of Claude Code that are active in `cwd`, sorted by name. They are read from Claude Code's own files:
 * `plugins/installed_plugins.json` (an object or a list of objects for each `NAME@MARKETPLACE`) and `enabledPlugins` of
 * the user's settings. A plugin that was installed for a project is active in this project.
 */
function listInstalledPlugins({ cwd, user, paths }: SearchContext): readonly InstalledPlugin[] {
  const home = PRODUCT_HOMES.claude(user);
  const installed = readJsonObject(join(home, 'plugins', 'installed_plugins.json'), paths)[
    'plugins'
  ];
  if (!isJsonObject(installed)) return [];
  const enabled = readJsonObject(join(home, 'settings.json'), paths)['enabledPlugins'];
  return Object.keys(installed)
    .toSorted()
    .flatMap((id): readonly InstalledPlugin[] => {
      const state = isJsonObject(enabled) ? enabled[id] : undefined;
      const root =
        state === false ? undefined : findInstallPath(cwd, installed[id] ?? null, state === true);
      return root === undefined
        ? []
        : [{ name: id.split('@', 1)[0] ?? id, root, vendor: 'claude' }];
    });
}

/**
 * Returns the directory of a plugin. The entry for the project of `cwd` has precedence over the entry for all projects.
 */
function findInstallPath(cwd: string, entry: JsonValue, isEnabled: boolean): string | undefined {
  const entries = (Array.isArray(entry) ? entry : [entry]).filter((each) => isJsonObject(each));
  const projectEntry = entries.find(
    ({ projectPath }) => typeof projectPath === 'string' && isInside(projectPath, cwd),
  );
  const userEntry = isEnabled
    ? entries.find((each) => each['projectPath'] === undefined)
    : undefined;
  const root = (projectEntry ?? userEntry)?.['installPath'];
  return typeof root === 'string' && root.startsWith('/') ? root : undefined;
}

/**
 * Returns the directory for a kind in a plugin, and the paths inside the plugin that its manifest declares for this
 * kind.
 */
function listPluginDirectories(root: string, folder: string, paths: PathCache): readonly string[] {
  const declared = readJsonObject(join(root, '.claude-plugin', 'plugin.json'), paths)[folder];
  const inside = (Array.isArray(declared) ? declared : [declared])
    .filter((each) => typeof each === 'string')
    .map((each) => resolve(root, each))
    .filter((path) => isInside(root, path));
  return [...new Set([join(root, folder), ...inside])];
}

/** Reads the JSON object in a file of another product. Returns an empty object if the file is missing or not valid. */
function readJsonObject(path: string, paths: PathCache): JsonObject {
  if (!paths.mayExist(path)) return {};
  const text = readTextFile(path);
  const value = text.ok ? parseJsonLine(text.text) : undefined;
  return isJsonObject(value) ? value : {};
}

/**
 * Returns the search paths of extensions. An extension may itself be a link to any directory, but a link inside it must
 * not lead out of it, because other people wrote its files.
 */
function listExtensionPaths<T>(
  format: DefinitionFormat<T>,
  folder: string,
  { user, root, paths }: SearchContext,
): readonly SearchPath<T>[] {
  const directory = format.locations.extensions?.(user);
  if (directory === undefined || ownerOfDirectory(directory, user, root).scope !== 'user')
    return [];
  if (!paths.mayExist(directory)) return [];
  return listDirectory(directory).map((extension) => ({
    format,
    scope: 'plugin',
    path: join(extension, folder),
    boundary: extension,
  }));
}

function listDirectory(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .toSorted()
      .slice(0, MAX_EXTENSIONS)
      .map((name) => join(directory, basename(name)));
  } catch (error) {
    // It is not a directory, or cannot be read, so there are no extensions.
    if (systemErrorCode(error) === undefined) throw error;
    return [];
  }
}
