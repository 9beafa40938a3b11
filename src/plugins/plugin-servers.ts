import { isAbsolute, join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { listNames } from '../base/text.ts';
import type { PluginServerRow } from '../languages/configured-servers.ts';
import { joinServerLists, readMcpServers, type McpServerList } from '../mcp/read-servers.ts';
import type { McpServerEntry } from '../mcp/server-entry.ts';
import type { Plugin, PluginEntries } from './read-plugin.ts';
import type { PluginProblem } from './plugin-problem.ts';

/** A plugin and the directory of its files. */
export interface PlacedPlugin {
  readonly plugin: Plugin;
  /** Absolute. */
  readonly root: string;
}

/**
 * Reads the MCP servers of a plugin. They are named `plugin:PLUGIN:SERVER`, as in Claude Code, and treated as those of a
 * project: they run in the sandbox and get none of Muster's own keys. Never throws.
 */
export function readPluginServers({ plugin, root }: PlacedPlugin): McpServerList {
  const { manifest, parts } = plugin;
  return joinServerLists(
    parts.mcpServers.map(({ file, value }) => {
      const named = Object.entries(value).map(
        ([name, entry]) =>
          [`plugin:${manifest.name}:${name}`, replaceVariables(entry, root)] as const,
      );
      const origin = { scope: 'project', file: join(root, file), plugin: manifest.name } as const;
      const { entries, problems } = readMcpServers(Object.fromEntries(named), origin);
      return { entries: entries.map((entry) => addRoot(entry, root)), problems };
    }),
  );
}

/** Tells the process of a server the directory of its plugin. */
function addRoot(entry: McpServerEntry, root: string): McpServerEntry {
  const { transport } = entry;
  if (transport.type !== 'stdio') return entry;
  const env = { ...transport.env, CLAUDE_PLUGIN_ROOT: root };
  return { ...entry, transport: { ...transport, env } };
}

/** Replaces the variables that stand for directories in all texts of an entry. */
function replaceVariables(value: JsonValue | undefined, root: string): JsonValue {
  if (value === undefined) return null;
  if (typeof value === 'string') {
    return value
      .replaceAll(/\$\{(?:CLAUDE_PLUGIN_ROOT|extensionPath)\}/g, () => root)
      .replaceAll('${workspacePath}', () => '${workspaceFolder}')
      .replaceAll(/\$\{(?:\/|pathSeparator)\}/g, '/');
  }
  if (Array.isArray(value)) return value.map((item: JsonValue) => replaceVariables(item, root));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, replaceVariables(item, root)]),
  );
}

/** The language servers of a plugin and the problems of their entries. */
export interface LanguageServerList {
  readonly servers: readonly PluginServerRow[];
  readonly problems: readonly PluginProblem[];
}

/** The maximum number of language servers of one file. */
const MAX_LANGUAGE_SERVERS = 50;
const LANGUAGE_SERVER_FIELDS = new Set(
  listNames('command args extensionToLanguage initializationOptions settings transport'),
);
/** The ending of a file and the language id, as they are sent to a server. */
const ENDING = /^\.[\w.+#-]{1,30}$/;
const LANGUAGE_ID = /^[\w.+#-]{1,60}$/;

/** Reads the language servers of a plugin. An entry with an error is left out. Never throws. */
export function readPluginLanguageServers({ plugin, root }: PlacedPlugin): LanguageServerList {
  const lists = plugin.parts.lspServers.map((entries) => readLanguageServers(entries, root));
  return {
    servers: lists.flatMap(({ servers }) => servers),
    problems: lists.flatMap(({ problems }) => problems),
  };
}

function readLanguageServers({ file, value }: PluginEntries, root: string): LanguageServerList {
  const servers: PluginServerRow[] = [];
  const problems: PluginProblem[] = [];
  const warn = (field: string, message: string): void => {
    problems.push({ file, field, message, severity: 'warning' });
  };
  const named = Object.entries(value);
  if (named.length > MAX_LANGUAGE_SERVERS) {
    warn('lspServers', `only its first ${MAX_LANGUAGE_SERVERS} servers are used`);
  }
  for (const [name, entry] of named.slice(0, MAX_LANGUAGE_SERVERS)) {
    const read = isJsonObject(entry)
      ? readLanguageServer(name, replaceVariables(entry, root))
      : 'it must be an object';
    if (typeof read === 'string') {
      warn(name, `${read}; this language server has no effect`);
      continue;
    }
    servers.push(read);
    const others = Object.keys(isJsonObject(entry) ? entry : {}).filter(
      (field) => !LANGUAGE_SERVER_FIELDS.has(field),
    );
    for (const field of others) warn(`${name}.${field}`, 'this field has no effect in Muster');
  }
  return { servers, problems };
}

/** Returns a language server, or the reason why the entry is none. */
function readLanguageServer(name: string, entry: JsonValue): PluginServerRow | string {
  if (!isJsonObject(entry)) return 'it must be an object';
  const { command, args = [], extensionToLanguage, transport = 'stdio' } = entry;
  if (typeof command !== 'string' || command.trim() === '' || command.includes('\0')) {
    return '`command` must be a text';
  }
  if (!isAbsolute(command) && command.includes('/')) {
    return '`command` must be a name in PATH, or begin with ${CLAUDE_PLUGIN_ROOT}';
  }
  if (transport !== 'stdio') return 'only `transport: stdio` is supported';
  if (!isTextList(args)) return '`args` must be a list of texts';
  if (!isJsonObject(extensionToLanguage)) return '`extensionToLanguage` must be an object';
  const endings = Object.entries(extensionToLanguage);
  const wrong = endings.find(
    ([ending, language]) =>
      !ENDING.test(ending) || typeof language !== 'string' || !LANGUAGE_ID.test(language),
  );
  if (wrong !== undefined || endings.length === 0) {
    return '`extensionToLanguage` must map endings such as `.go` to language ids';
  }
  return {
    name,
    program: command,
    args,
    endings: Object.fromEntries(
      endings.map(([ending, language]) => [ending.toLowerCase(), String(language)]),
    ),
    initializationOptions: takeObject(entry, 'initializationOptions'),
    settings: takeObject(entry, 'settings'),
  };
}

function takeObject(entry: JsonObject, field: string): JsonObject | null {
  const value = entry[field];
  return isJsonObject(value) ? value : null;
}

function isTextList(value: JsonValue | undefined): value is readonly string[] {
  return (
    Array.isArray(value) && value.every((item) => typeof item === 'string' && !item.includes('\0'))
  );
}
