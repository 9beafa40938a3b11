import { claudeFormat } from '../formats/catalogue.ts';
import { readdirSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { isInside } from '../../sys/paths.ts';
import type { AgentFormat, UserDirectories } from '../formats/format.ts';
import type { Place } from '../place.ts';
import { installedPlugins, readObject, type InstalledPlugin } from './installed.ts';

/** Plugins of one product that are looked at. */
const MAX_EXTENSIONS = 500;

/** Where agents of what the user has installed lie: Claude Code's plugins, then other products' extensions. */
export function pluginPlaces(
  cwd: string,
  user: UserDirectories,
  extensible: readonly ExtensibleFormat[],
): readonly Place[] {
  return [
    ...installedPlugins(cwd, user).flatMap(placesOfPlugin),
    ...extensible.flatMap((each) => placesOfExtensions(each, user)),
  ];
}

/** A format whose product has extensions, each a directory with `agents/` in it. */
export interface ExtensibleFormat {
  readonly format: AgentFormat;
  /** Below the home directory. */
  readonly extensions: string;
}

function placesOfPlugin(plugin: InstalledPlugin): readonly Place[] {
  const format = pluginFormat(plugin);
  return pluginDirectories(plugin, 'agents').map((path): Place => ({
    format,
    scope: 'plugin',
    path,
    boundary: plugin.root,
  }));
}

/** The directory of that name, and what the plugin's manifest names beside it: paths inside the plugin. */
export function pluginDirectories(
  { root }: InstalledPlugin,
  kind: 'agents' | 'skills',
): readonly string[] {
  const declared = readObject(join(root, '.claude-plugin', 'plugin.json'))[kind];
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

function placesOfExtensions(
  { format, extensions }: ExtensibleFormat,
  user: UserDirectories,
): readonly Place[] {
  const root = join(user.home, extensions);
  return directoriesIn(root).map((directory): Place => {
    const path = join(directory, 'agents');
    return { format, scope: 'plugin', path, boundary: user.home };
  });
}

function directoriesIn(path: string): readonly string[] {
  try {
    return readdirSync(path)
      .toSorted()
      .slice(0, MAX_EXTENSIONS)
      .map((name) => join(path, basename(name)));
  } catch (error) {
    // Whoever has none of that product has no such directory.
    if (systemErrorCode(error) === undefined) throw error;
    return [];
  }
}
