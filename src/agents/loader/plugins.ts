import { readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { parseJsonLine } from '../../base/jsonl.ts';
import { isInside } from '../../sys/files/paths.ts';
import type { DefinitionKind, InstalledPlugin, SearchPath, DefinitionFormat } from './format.ts';
import { readTextFile } from './read-text.ts';
import {
  ownerOfDirectory,
  PRODUCT_HOMES,
  type PathCache,
  type SearchContext,
} from './search-context.ts';

/** The maximum number of extensions of one product that are searched. */
const MAX_EXTENSIONS = 500;

/** Returns the paths that installed software adds to a search: Claude Code's plugins first, then extensions of other products. */
export function pluginSearchPaths<T extends { readonly name: string }>(
  kind: DefinitionKind<T>,
  context: SearchContext,
): readonly SearchPath<T>[] {
  return [
    ...pluginPaths(kind, context),
    ...kind.searchOrder.flat().flatMap((format) => extensionPaths(format, kind.folder, context)),
  ];
}

function pluginPaths<T extends { readonly name: string }>(
  { pluginFormat, folder }: DefinitionKind<T>,
  context: SearchContext,
): readonly SearchPath<T>[] {
  if (pluginFormat === undefined) return [];
  const { user, root, paths } = context;
  const isUsers = (path: string): boolean => ownerOfDirectory(path, user, root).scope === 'user';
  // No file of the project may decide which plugins there are.
  if (!isUsers(PRODUCT_HOMES.claude(user))) return [];
  return installedPlugins(context).flatMap((plugin) => {
    const format = pluginFormat(plugin);
    // A plugin that lies in the project must be trusted like the project.
    const scope = isUsers(plugin.root) ? 'plugin' : 'project';
    return pluginFolders(plugin.root, folder, paths).map((path) => ({
      format,
      scope,
      path,
      boundary: plugin.root,
    }));
  });
}

/**
 * Returns the plugins that are active in `cwd`, in the order of their names, from the files that Claude Code
 * itself keeps: `plugins/installed_plugins.json` (an object or a list of objects for each `NAME@MARKETPLACE`)
 * and `enabledPlugins` of the user's settings. A plugin that was installed for a project is active there.
 */
function installedPlugins({ cwd, user, paths }: SearchContext): readonly InstalledPlugin[] {
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
        state === false ? undefined : installPath(cwd, installed[id] ?? null, state === true);
      return root === undefined ? [] : [{ name: id.split('@', 1)[0] ?? id, root }];
    });
}

/** The entry for the project of `cwd` has precedence over the one for all projects. */
function installPath(cwd: string, entry: JsonValue, isEnabled: boolean): string | undefined {
  const entries = (Array.isArray(entry) ? entry : [entry]).filter((each) => isJsonObject(each));
  const ofProject = entries.find(
    ({ projectPath }) => typeof projectPath === 'string' && isInside(projectPath, cwd),
  );
  const ofUser = isEnabled ? entries.find((each) => each['projectPath'] === undefined) : undefined;
  const root = (ofProject ?? ofUser)?.['installPath'];
  return typeof root === 'string' && root.startsWith('/') ? root : undefined;
}

/** Returns the folder of that name and the paths inside the plugin that its manifest declares. */
function pluginFolders(root: string, folder: string, paths: PathCache): readonly string[] {
  const declared = readJsonObject(join(root, '.claude-plugin', 'plugin.json'), paths)[folder];
  const inside = (Array.isArray(declared) ? declared : [declared])
    .filter((each) => typeof each === 'string')
    .map((each) => resolve(root, each))
    .filter((path) => isInside(root, path));
  return [...new Set([join(root, folder), ...inside])];
}

/** Returns an empty object for a file that is missing or broken: it belongs to another product. */
function readJsonObject(path: string, paths: PathCache): JsonObject {
  if (!paths.mayExist(path)) return {};
  const text = readTextFile(path);
  const value = text.ok ? parseJsonLine(text.text) : undefined;
  return isJsonObject(value) ? value : {};
}

/** An extension may itself be a link to anywhere, but no link inside it may lead out of it, since others wrote it. */
function extensionPaths<T>(
  format: DefinitionFormat<T>,
  folder: string,
  { user, root, paths }: SearchContext,
): readonly SearchPath<T>[] {
  const directory = format.locations.extensions?.(user);
  if (directory === undefined || ownerOfDirectory(directory, user, root).scope !== 'user')
    return [];
  if (!paths.mayExist(directory)) return [];
  return entriesOf(directory).map((extension) => ({
    format,
    scope: 'plugin',
    path: join(extension, folder),
    boundary: extension,
  }));
}

function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .toSorted()
      .slice(0, MAX_EXTENSIONS)
      .map((name) => join(directory, basename(name)));
  } catch (error) {
    // It is not a directory, or may not be read: then nothing in it can be used.
    if (systemErrorCode(error) === undefined) throw error;
    return [];
  }
}
