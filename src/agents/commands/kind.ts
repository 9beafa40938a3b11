import { join, relative, sep } from 'node:path';
import type { SlashCommandDefinition, CommandSyntax } from '../../protocol/slash-command.ts';
import {
  configLocations,
  defineFormat,
  isMarkdown,
  isToml,
  vendorLocations,
  type DefinitionFormat,
  type DefinitionKind,
  type Locations,
} from '../loader/format.ts';
import { PRODUCT_HOMES, type InstalledPlugin } from '../loader/search-context.ts';
import type { CommandOrigin } from './read-command.ts';

const MEGABYTE = 1024 * 1024;

/** Slash commands, in the formats of all vendors. */
export const SLASH_COMMANDS: DefinitionKind<SlashCommandDefinition> = {
  name: 'command',
  folder: 'commands',
  searchOrder: [
    [markdownFormat('muster', 'claude', configLocations('muster', 'commands'))],
    [
      markdownFormat(
        'claude',
        'claude',
        vendorLocations('.claude', 'commands', PRODUCT_HOMES.claude),
      ),
      markdownFormat('opencode', 'opencode', opencodeLocations()),
      geminiFormat(),
      markdownFormat('codex', 'codex', {
        project: ['.codex/prompts'],
        user: (user) => [join(PRODUCT_HOMES.codex(user), 'prompts')],
      }),
    ],
  ],
  projectOrder: 'directory',
  maxTotalBytes: 64 * MEGABYTE,
  ownsFolder: false,
  pluginFormat: pluginCommandFormat,
  checkFile: (file, { path }) => ({ ...file, locatedName: nameFromLocation(path, file.path) }),
  pathOf: ({ path }) => path,
  loadBuiltins: async () => [],
  scan: { identify: async () => ({ kind: 'ignored' }), shadows: true },
};

/**
 * Returns the name that the location of a file gives its command: the names of the directories below the searched one and
 * of the file, joined by colons. A file that was itself searched for is named like the file.
 */
export function nameFromLocation(searched: string, path: string): string {
  const below = relative(searched, path);
  const parts = below === '' ? [path.split(sep).at(-1) ?? ''] : below.split(sep);
  return parts.join(':').replace(/\.\w+$/, '');
}

function markdownFormat(
  vendor: string,
  syntax: CommandSyntax,
  locations: Locations,
  plugin?: Pick<CommandOrigin, 'source' | 'pluginDirectory'>,
): DefinitionFormat<SlashCommandDefinition> {
  return defineFormat({
    vendor,
    locations,
    accepts: (fileName) => isMarkdown(fileName) && !/^readme\.md$/i.test(fileName),
    loadReader: async () => {
      const { readMarkdownCommand } = await import('./read-command.ts');
      return { read: (file) => readMarkdownCommand(file, { source: vendor, syntax, ...plugin }) };
    },
  });
}

function geminiFormat(
  locations: Locations = {
    ...vendorLocations('.gemini', 'commands', PRODUCT_HOMES.gemini),
    extensions: (user) => join(PRODUCT_HOMES.gemini(user), 'extensions'),
  },
  plugin?: Pick<CommandOrigin, 'source' | 'pluginDirectory'>,
): DefinitionFormat<SlashCommandDefinition> {
  return defineFormat({
    vendor: 'gemini',
    locations,
    accepts: isToml,
    loadReader: async () => {
      const { readTomlCommand } = await import('./read-command.ts');
      return {
        read: (file) => readTomlCommand(file, { source: 'gemini', syntax: 'gemini', ...plugin }),
      };
    },
  });
}

function opencodeLocations(): Locations {
  const names = ['commands', 'command'];
  return {
    project: names.map((name) => `.opencode/${name}`),
    user: ({ home, config, readVariable }) =>
      [readVariable('OPENCODE_CONFIG_DIR'), join(config, 'opencode'), join(home, '.opencode')]
        .filter((directory) => directory !== undefined)
        .flatMap((directory) => names.map((name) => join(directory, name))),
  };
}

/** Returns the format of the commands of a plugin, whose names have the form `PLUGIN:NAME`. */
function pluginCommandFormat({
  name,
  root,
  vendor,
}: InstalledPlugin): DefinitionFormat<SlashCommandDefinition> {
  const nowhere = { project: [], user: () => [] };
  const plugin = { source: name, pluginDirectory: root };
  return vendor === 'gemini'
    ? geminiFormat(nowhere, plugin)
    : markdownFormat('claude', 'claude', nowhere, plugin);
}
