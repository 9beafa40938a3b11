import { isAbsolute, join } from 'node:path';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { Environment } from '../sys/env.ts';

/** A product that keeps MCP servers in files of its own. */
interface Product {
  readonly name: string;
  /** The key under which its files have the servers. */
  readonly key: string;
  /** The paths of its files for the user. */
  userFiles(places: ProductPlaces): readonly string[];
  /** The paths of its files in a project. */
  readonly projectFiles: readonly string[];
  /** Rewrites what only this product writes so. Default: changes nothing. */
  readonly rewrite?: (entry: JsonObject) => JsonObject;
}

/** A file in which another product keeps its MCP servers. */
export interface ProductFile {
  readonly product: Product;
  readonly path: string;
  /** `user`: a file of the user. `project`: a file of the project, which other people may have written. */
  readonly scope: 'user' | 'project';
}

/** The places in which the files of products are. */
export interface ProductPlaces {
  readonly environment: Environment;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** The absolute path of the project. */
  readonly project: string;
}

const PRODUCTS: readonly Product[] = [
  {
    name: 'Claude Code',
    key: 'mcpServers',
    userFiles: (places) => [join(directory(places, 'CLAUDE_CONFIG_DIR', ''), '.claude.json')],
    projectFiles: [],
  },
  {
    name: 'Claude Desktop',
    key: 'mcpServers',
    userFiles: (places) => [join(applications(places), 'Claude/claude_desktop_config.json')],
    projectFiles: [],
  },
  {
    name: 'Cursor',
    key: 'mcpServers',
    userFiles: ({ home }) => [join(home, '.cursor/mcp.json')],
    projectFiles: ['.cursor/mcp.json'],
  },
  {
    name: 'VS Code',
    key: 'servers',
    userFiles: (places) => [join(applications(places), 'Code/User/mcp.json')],
    projectFiles: ['.vscode/mcp.json'],
    rewrite: (entry) => mapTexts(entry, replaceInputs),
  },
  {
    name: 'Gemini CLI',
    key: 'mcpServers',
    userFiles: ({ home }) => [join(home, '.gemini/settings.json')],
    projectFiles: ['.gemini/settings.json'],
    rewrite: (entry) => mapTexts(entry, addBraces),
  },
  {
    name: 'Qwen Code',
    key: 'mcpServers',
    userFiles: ({ home }) => [join(home, '.qwen/settings.json')],
    projectFiles: ['.qwen/settings.json'],
    rewrite: (entry) => mapTexts(entry, addBraces),
  },
  {
    name: 'Codex',
    key: 'mcp_servers',
    userFiles: (places) => [join(directory(places, 'CODEX_HOME', '.codex'), 'config.toml')],
    projectFiles: ['.codex/config.toml'],
    rewrite: passVariables,
  },
  {
    name: 'OpenCode',
    key: 'mcp',
    userFiles: (places) =>
      ['opencode.json', 'opencode.jsonc'].map((file) => join(settings(places), 'opencode', file)),
    projectFiles: ['opencode.json', 'opencode.jsonc'],
  },
  {
    name: 'Windsurf',
    key: 'mcpServers',
    userFiles: ({ home }) => [join(home, '.codeium/windsurf/mcp_config.json')],
    projectFiles: [],
  },
  {
    name: 'Zed',
    key: 'context_servers',
    userFiles: (places) => [join(settings(places), 'zed/settings.json')],
    projectFiles: ['.zed/settings.json'],
    rewrite: flattenCommand,
  },
];

/** Lists the files in which other products keep their MCP servers for the user and for a project. */
export function listProductFiles(places: ProductPlaces): readonly ProductFile[] {
  return PRODUCTS.flatMap((product) => {
    const user = product.userFiles(places);
    const project = product.projectFiles.map((path) => join(places.project, path));
    return [...user, ...project].map((path, index) => ({
      product,
      path,
      scope: index < user.length ? 'user' : 'project',
    }));
  });
}

/**
 * Returns the servers in the content of a file by name, as the product writes them except for what only this product
 * knows. The servers that Claude Code keeps for one project come before those for all.
 */
export function findProductServers(
  content: unknown,
  { key, rewrite = (entry) => entry }: Product,
  project: string,
): readonly (readonly [name: string, entry: unknown])[] {
  if (!isJsonObject(content)) return [];
  const { projects } = content;
  const ofProject = isJsonObject(projects) ? projects[project] : undefined;
  return [ofProject, content]
    .map((owner) => (isJsonObject(owner) ? owner[key] : undefined))
    .filter((map) => isJsonObject(map))
    .flatMap((map) => Object.entries(map))
    .map(([name, entry]) => [name, isJsonObject(entry) ? rewrite(entry) : entry]);
}

/** Returns the directory that a variable names, or else one below the home directory. */
function directory(
  { environment, home }: ProductPlaces,
  variable: string,
  fallback: string,
): string {
  const value = environment[variable] ?? '';
  return isAbsolute(value) ? value : join(home, fallback);
}

/** Returns the directory of programs that follow the XDG directories on all systems. */
function settings(places: ProductPlaces): string {
  return directory(places, 'XDG_CONFIG_HOME', '.config');
}

/** Returns the directory of programs that follow the rules of the system. */
function applications(places: ProductPlaces): string {
  return places.platform === 'darwin'
    ? join(places.home, 'Library/Application Support')
    : settings(places);
}

/** Changes all texts in an entry, at most in lists and maps directly in it. */
function mapTexts(entry: JsonObject, change: (text: string) => string): JsonObject {
  const changeOne = <Value>(value: Value) => (typeof value === 'string' ? change(value) : value);
  const fields = Object.entries(entry).map(([name, value]) => {
    if (Array.isArray(value)) return [name, value.map(changeOne)];
    if (!isJsonObject(value)) return [name, changeOne(value)];
    const items = Object.entries(value).map(([key, item]) => [key, changeOne(item)]);
    return [name, Object.fromEntries(items)];
  });
  return Object.fromEntries(fields);
}

/** Replaces the inputs for which VS Code asks by variables: `${input:api-key}` becomes `${API_KEY}`. */
function replaceInputs(text: string): string {
  return text.replaceAll(/\$\{input:([\w.-]+)\}/g, (_, id: string) => {
    const name = id.replaceAll(/\W/g, '_').toUpperCase();
    return `\${${/^\d/.test(name) ? `_${name}` : name}}`;
  });
}

/** Writes `$NAME` as `${NAME}`. */
function addBraces(text: string): string {
  return text.replaceAll(/\$([A-Za-z_]\w*)/g, (_, name: string) => `\${${name}}`);
}

/** Rewrites Codex's list of variables that the server gets to entries of `env`. A variable may be missing. */
function passVariables({ env_vars: names, ...entry }: JsonObject): JsonObject {
  if (!Array.isArray(names)) return entry;
  const passed = names.flatMap((name) =>
    typeof name === 'string' ? [[name, `\${${name}:-}`]] : [],
  );
  const env = isJsonObject(entry['env']) ? entry['env'] : {};
  return { ...entry, env: { ...Object.fromEntries(passed), ...env } };
}

/** Rewrites the older form of Zed, in which `command` is an object with `path`, `args` and `env`. */
function flattenCommand(entry: JsonObject): JsonObject {
  const fields = Object.entries(entry).filter(([name]) => name !== 'source' && name !== 'settings');
  const { command, ...rest } = Object.fromEntries(fields);
  if (!isJsonObject(command)) return Object.fromEntries(fields);
  const { path, ...more } = command;
  return { ...rest, ...more, command: path };
}
