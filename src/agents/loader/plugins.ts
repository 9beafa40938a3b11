import { readdirSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { isInside } from '../../sys/paths.ts';
import { claudeFormat, geminiFormat, qwenFormat } from '../formats/vendors.ts';
import type { AgentFormat } from './kind.ts';
import type { Looks } from './path-cache.ts';
import type { Place } from '../place.ts';
import type { Surroundings } from './search-context.ts';
import { ownerOf, PRODUCT_HOMES } from './user-directories.ts';
import { installedPlugins, readObject, type InstalledPlugin } from '../plugins/installed.ts';

/** Plugins of one product that are looked at. */
const MAX_EXTENSIONS = 500;

/** Products with extensions, each a directory with `agents/` in it, in the order in which they are searched. */
const EXTENSIBLE = [
  { format: geminiFormat, home: PRODUCT_HOMES.gemini },
  { format: qwenFormat, home: PRODUCT_HOMES.qwen },
] as const;

/** Where agents of what the user has installed lie: Claude Code's plugins, then other products' extensions. */
export function pluginPlaces(around: Surroundings): readonly Place[] {
  const { user, root, looks } = around;
  return [
    ...ownedPlugins(around).flatMap((owned) => placesOfPlugin(owned, looks)),
    ...EXTENSIBLE.flatMap(({ format, home }) => {
      const directory = join(home(user), 'extensions');
      const { scope } = ownerOf(directory, user, root);
      return scope === 'user' ? placesOfExtensions(format, directory, looks) : [];
    }),
  ];
}

export interface OwnedPlugin {
  readonly plugin: InstalledPlugin;
  /** `project`: it lies in the project, and must be trusted like that. */
  readonly scope: 'plugin' | 'project';
}

/** The plugins that count here. No file of the project says which those are. */
export function ownedPlugins({ cwd, user, root, looks }: Surroundings): readonly OwnedPlugin[] {
  const isUsers = (path: string): boolean => ownerOf(path, user, root).scope === 'user';
  if (!isUsers(PRODUCT_HOMES.claude(user))) return [];
  return installedPlugins({ cwd, user, looks }).map((plugin) => ({
    plugin,
    scope: isUsers(plugin.root) ? 'plugin' : 'project',
  }));
}

function placesOfPlugin({ plugin, scope }: OwnedPlugin, looks: Looks): readonly Place[] {
  const format = pluginFormat(plugin);
  return pluginDirectories(plugin, 'agents', looks).map((path): Place => ({
    format,
    scope,
    path,
    boundary: plugin.root,
  }));
}

/** The directory of that name, and what the plugin's manifest names beside it: paths inside the plugin. */
export function pluginDirectories(
  { root }: InstalledPlugin,
  kind: 'agents' | 'skills',
  looks: Looks,
): readonly string[] {
  const declared = readObject(join(root, '.claude-plugin', 'plugin.json'), looks)[kind];
  const paths = (Array.isArray(declared) ? declared : [declared])
    .filter((each) => typeof each === 'string')
    .map((each) => resolve(root, each))
    .filter((path) => isInside(root, path));
  return [...new Set([join(root, kind), ...paths])];
}

/**
 * Claude Code's format as its plugins have it: names are `PLUGIN:FOLDER:NAME`, and what a plugin must
 * not decide (mode, hooks, servers) does nothing.
 */
function pluginFormat({ name, root }: InstalledPlugin): AgentFormat {
  return {
    ...claudeFormat,
    places: { project: [], user: () => [] },
    async read(file) {
      const { items, problems } = await claudeFormat.read(file);
      return { items: items.map((agent) => ofPlugin(agent, { name, root })), problems };
    },
  };
}

function ofPlugin(agent: AgentDefinition, { name, root }: InstalledPlugin): AgentDefinition {
  const { path } = agent.origin;
  const folders = relative(join(root, 'agents'), path).split('/').slice(0, -1);
  const inside = folders.includes('..') ? [] : folders;
  const renamed = { ...agent, name: [name, ...inside, agent.name].join(':') };
  if (agent.permissionMode === null) return renamed;
  const message = `A plugin's agent cannot ask for a mode (\`${agent.permissionMode}\`); it has its parent's.`;
  const { refusesQuestions: _, ...rest } = renamed;
  return {
    ...rest,
    permissionMode: null,
    mode: null,
    problems: [...agent.problems, { code: 'plugin-mode', message, path }],
  };
}

/** An extension may be a link to anywhere; none of its own links leads out of it, since others wrote it. */
function placesOfExtensions(
  format: AgentFormat,
  directory: string,
  looks: Looks,
): readonly Place[] {
  if (!looks.mayExist(directory)) return [];
  return directoriesIn(directory).map((extension): Place => {
    const path = join(extension, 'agents');
    return { format, scope: 'plugin', path, boundary: extension };
  });
}

function directoriesIn(path: string): readonly string[] {
  try {
    return readdirSync(path)
      .toSorted()
      .slice(0, MAX_EXTENSIONS)
      .map((name) => join(path, basename(name)));
  } catch (error) {
    // No directory, or one that may not be looked into: then nothing of it can be used.
    if (systemErrorCode(error) === undefined) throw error;
    return [];
  }
}
