import { join } from 'node:path';
import { dropMissing } from '../base/drop-missing.ts';
import { newId } from '../base/ids.ts';
import { nameFromLocation, SLASH_COMMANDS } from '../agents/commands/kind.ts';
import { AGENTS, SKILLS } from '../agents/kinds.ts';
import type { DefinitionKind } from '../agents/loader/format.ts';
import { decodeUtf8, MAX_DEFINITION_BYTES } from '../agents/loader/read-text.ts';
import { describeMcpProblem } from '../mcp/read-servers.ts';
import { agentEffects, commandEffects, skillEffects } from '../trust/definition-effects.ts';
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
    ...(await describeDefinitions(SLASH_COMMANDS, commandEffects, {
      placed,
      files,
      paths: parts.commands,
      nameOf: nameFromLocation,
    })),
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
  /** Returns the name that the location of a file gives its definition. Default: none. */
  readonly nameOf?: (searched: string, path: string) => string;
}

async function describeDefinitions<T extends { readonly name: string }>(
  kind: DefinitionKind<T>,
  describe: (item: T) => Promise<readonly string[]> | readonly string[],
  { placed: { plugin, root }, files, paths, nameOf }: Definitions,
): Promise<readonly string[]> {
  const { name, format: vendor } = plugin.manifest;
  const format = kind.pluginFormat?.({ name, root, vendor });
  if (format === undefined) return [];
  const chosen = new Map<PluginFile, string>();
  for (const searched of paths) {
    for (const file of listPluginFilesBelow(files, searched)) {
      if (!chosen.has(file)) chosen.set(file, searched);
    }
  }
  const lines: string[] = [];
  for (const [{ path, bytes }, searched] of chosen) {
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
      ...dropMissing({ locatedName: nameOf?.(join(root, searched), join(root, path)) }),
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
