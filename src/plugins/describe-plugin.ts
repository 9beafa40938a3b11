import { join } from 'node:path';
import { newId } from '../base/ids.ts';
import { truncate } from '../base/text.ts';
import { AGENTS, SKILLS } from '../agents/kinds.ts';
import type { DefinitionKind } from '../agents/loader/format.ts';
import { decodeUtf8, MAX_DEFINITION_BYTES } from '../agents/loader/read-text.ts';
import { parseFrontMatter } from '../agents/parsing/front-matter.ts';
import { describeMcpProblem } from '../mcp/read-servers.ts';
import { agentEffects, skillEffects } from '../trust/definition-effects.ts';
import { describeServer } from '../trust/file-effects.ts';
import { describeHooks } from '../trust/hook-definitions.ts';
import { listPluginHooks } from './active-plugins.ts';
import { listPluginFilesBelow, type PluginFile } from './plugin-files.ts';
import { readPluginHooks } from './plugin-hooks.ts';
import { describePluginProblem } from './plugin-problem.ts';
import type { Plugin } from './read-plugin.ts';
import {
  readPluginLanguageServers,
  readPluginServers,
  type PlacedPlugin,
} from './plugin-servers.ts';

/** The longest description that is shown, in characters. Commands are never shortened. */
const MAX_SHOWN_LENGTH = 300;

/**
 * Describes what a plugin can do, one effect per line. The lines quote the files of the plugin, so they must be escaped
 * before they are printed.
 */
export async function describePlugin(
  plugin: Plugin,
  files: readonly PluginFile[],
): Promise<readonly string[]> {
  // The lines are the same wherever the plugin is installed.
  const root = `/${newId()}`;
  const lines = await describeParts({ plugin, root }, files);
  return lines.map((line) => line.replaceAll(root, '${CLAUDE_PLUGIN_ROOT}'));
}

async function describeParts(
  placed: PlacedPlugin,
  files: readonly PluginFile[],
): Promise<readonly string[]> {
  const { parts, problems } = placed.plugin;
  const { entries, problems: serverProblems } = readPluginServers(placed);
  const languages = readPluginLanguageServers(placed);
  const lines = [
    ...(await describeDefinitions(AGENTS, agentEffects, { placed, files, paths: parts.agents })),
    ...(await describeDefinitions(SKILLS, skillEffects, { placed, files, paths: parts.skills })),
    ...(await describeCommands(placed, files)),
    ...describeHooks(readPluginHooks(listPluginHooks(placed))),
    ...entries.flatMap(describeServer),
    ...serverProblems.map((each) => `! ${describeMcpProblem(each)}`),
    ...languages.servers.map(({ name, program, args, endings }) => {
      const command = [program, ...args].map((word) => JSON.stringify(word)).join(' ');
      return `language server ${name}: runs ${command} in the sandbox for ${Object.keys(endings).join(', ')}`;
    }),
    ...[...languages.problems, ...problems].map((each) => `! ${describePluginProblem(each)}`),
  ];
  return lines.length === 0 ? ['nothing'] : lines;
}

interface Definitions {
  readonly placed: PlacedPlugin;
  readonly files: readonly PluginFile[];
  readonly paths: readonly string[];
}

async function describeDefinitions<T extends { readonly name: string }>(
  kind: DefinitionKind<T>,
  describe: (item: T) => Promise<readonly string[]> | readonly string[],
  { placed: { plugin, root }, files, paths }: Definitions,
): Promise<readonly string[]> {
  const { name, format: vendor } = plugin.manifest;
  const format = kind.pluginFormat?.({ name, root, vendor });
  if (format === undefined) return [];
  const chosen = new Set(paths.flatMap((path) => listPluginFilesBelow(files, path)));
  const lines: string[] = [];
  for (const { path, bytes } of chosen) {
    if (!format.accepts(path.split('/').at(-1) ?? '')) continue;
    const content = decodeUtf8(bytes);
    if (!content.ok || bytes.length > MAX_DEFINITION_BYTES) {
      lines.push(`! ${path}: ${content.ok ? 'Larger than 4 MB.' : content.reason}`);
      continue;
    }
    // oxlint-disable-next-line no-await-in-loop -- the order of the files is that of the lines
    const read = await format.read({
      path: join(root, path),
      scope: 'plugin',
      text: content.text,
      readReferenced: () => ({ ok: false, reason: 'A plugin has no prompts in other files.' }),
    });
    for (const item of read.items) {
      // oxlint-disable-next-line no-await-in-loop -- the order of the files is that of the lines
      const [first = '', ...rest] = await describe(item);
      lines.push(`${first} (${path})`, ...rest.map((line) => `  ${line}`));
    }
    lines.push(...read.problems.map(({ message }) => `! ${path}: ${message}`));
  }
  return lines;
}

const COMMAND_FIELDS: ReadonlySet<string> = new Set(['description', 'allowed-tools']);
/** Shell commands in a command of Claude Code: `` !`…` ``, and in one of Gemini CLI: `!{…}`. */
const SHELL_PARTS = { claude: /!`([^`]+)`/g, gemini: /!\{([^}]*)\}/g } as const;

async function describeCommands(
  { plugin }: PlacedPlugin,
  files: readonly PluginFile[],
): Promise<readonly string[]> {
  const { format } = plugin.manifest;
  const isCommand = format === 'claude' ? /\.md$/i : /\.toml$/i;
  const chosen = new Set(
    plugin.parts.commands.flatMap((path) => listPluginFilesBelow(files, path)),
  );
  const lines: string[] = [];
  for (const { path, bytes } of chosen) {
    if (!isCommand.test(path)) continue;
    const text = bytes.toString('utf8');
    const name = path.replace(isCommand, '').split('/').at(-1) ?? '';
    // oxlint-disable-next-line no-await-in-loop -- the order of the files is that of the lines
    const { description, allowedTools } = await readCommandFields(text, format);
    const about = description === '' ? '' : `: ${shorten(description)}`;
    lines.push(`command ${name}${about} (${path})`);
    if (allowedTools !== '') lines.push(`  allowed-tools: ${allowedTools} (grants nothing)`);
    for (const [, command = ''] of text.matchAll(SHELL_PARTS[format])) {
      lines.push(`  runs in a shell: ${command}`);
    }
  }
  return lines;
}

async function readCommandFields(
  text: string,
  format: 'claude' | 'gemini',
): Promise<{ readonly description: string; readonly allowedTools: string }> {
  if (format === 'gemini') {
    const description = /^description\s*=\s*"([^"\n]*)"/m.exec(text)?.[1] ?? '';
    return { description, allowedTools: '' };
  }
  const front = await parseFrontMatter(text, { fieldTest: () => (key) => COMMAND_FIELDS.has(key) });
  if (front.kind !== 'fields') return { description: '', allowedTools: '' };
  const read = (field: string): string => toText(front.fields.get(field)?.value);
  return { description: read('description'), allowedTools: read('allowed-tools') };
}

function toText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function shorten(text: string): string {
  const short = truncate(text, MAX_SHOWN_LENGTH);
  return short.length < text.length ? `${short}…` : short;
}
