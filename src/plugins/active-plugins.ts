import { join } from 'node:path';
import type { JsonObject } from '../base/json.ts';
import type { InstalledPlugin } from '../agents/loader/search-context.ts';
import type { PluginServerRow } from '../languages/configured-servers.ts';
import type { McpServerList } from '../mcp/read-servers.ts';
import { MusterError } from '../base/errors.ts';
import type { HookSource } from '../protocol/hook.ts';
import { readApprovals, type ApprovalReaderOptions } from '../trust/approval-list.ts';
import { stateDirectory } from '../trust/state-directory.ts';
import { PluginCopies } from './plugin-copies.ts';
import { PLUGIN_RECORDS, pluginId, type PluginRecord } from './plugin-records.ts';
import {
  readPluginLanguageServers,
  readPluginServers,
  type PlacedPlugin,
} from './plugin-servers.ts';
import { readPlugin, type Plugin } from './read-plugin.ts';

/** The content of the active plugins. */
export interface ActivePlugins {
  /** The plugins in the form in which the loader of definitions needs them. */
  readonly definitions: readonly InstalledPlugin[];
  readonly servers: readonly McpServerList[];
  readonly languageServers: readonly PluginServerRow[];
  readonly hooks: readonly PluginHooks[];
}

/** Reads the content of the active plugins, in the order of their names. */
export function readActivePlugins(options: ApprovalReaderOptions): ActivePlugins {
  const plugins = listActivePlugins(options);
  return {
    definitions: plugins.map(toInstalledPlugin),
    servers: plugins.map(readPluginServers),
    languageServers: plugins.flatMap((plugin) => readPluginLanguageServers(plugin).servers),
    hooks: plugins.flatMap(listPluginHooks),
  };
}

/**
 * Lists the installed plugins that are enabled. A plugin whose files are not those that the user has approved is left out
 * and reported.
 */
function listActivePlugins(options: ApprovalReaderOptions): readonly PlacedPlugin[] {
  const { entries } = readApprovals(options, PLUGIN_RECORDS, 'no plugin is used');
  const copies = new PluginCopies(stateDirectory(options));
  return entries
    .filter(({ isEnabled }) => isEnabled)
    .toSorted((a, b) => (pluginId(a) < pluginId(b) ? -1 : 1))
    .flatMap((record) => {
      const plugin = readApproved(record, copies);
      const id = pluginId(record);
      if (typeof plugin !== 'string') return [{ plugin, root: copies.rootOf(record) }];
      options.onProblem(
        `the plugin ${id} is not used: you have approved it, but ${plugin}. Run: muster plugin update ${id}`,
      );
      return [];
    });
}

/** Reads an installed plugin. Returns the reason, as the rest of a sentence, if its files are not the approved ones. */
function readApproved(record: PluginRecord, copies: PluginCopies): Plugin | string {
  const files = copies.read(record);
  if (typeof files === 'string') return files;
  try {
    return readPlugin(files, {
      source: pluginId(record),
      entry: toEntry(record),
      directory: record.name,
    });
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    return thrown.message;
  }
}

/** Returns the entry of the marketplace with which a plugin was approved. Null if it comes from none. */
export function toEntry({ name, version, entry, source }: PluginRecord) {
  return entry === null ? null : { name, version, description: null, source, ...entry };
}

function toInstalledPlugin({ plugin, root }: PlacedPlugin): InstalledPlugin {
  const { manifest, parts } = plugin;
  const absolute = (paths: readonly string[]): readonly string[] =>
    paths.map((path) => (path === '' ? root : join(root, path)));
  return {
    name: manifest.name,
    root,
    vendor: manifest.format,
    paths: {
      agents: absolute(parts.agents),
      skills: absolute(parts.skills),
      commands: absolute(parts.commands),
    },
  };
}

/** The hooks in one file of an active plugin. */
export interface PluginHooks {
  readonly source: HookSource;
  /** The product in whose format the hooks are written. */
  readonly vendor: 'claude' | 'gemini';
  /** The events with their hooks. */
  readonly hooks: JsonObject;
}

/** Lists the hooks of a plugin as they stand in its files. */
export function listPluginHooks({
  plugin: { manifest, parts },
  root,
}: PlacedPlugin): readonly PluginHooks[] {
  return parts.hooks.map(({ file, value }) => ({
    vendor: manifest.format,
    source: { kind: 'plugin', where: join(root, file), pluginRoot: root },
    hooks: value,
  }));
}
