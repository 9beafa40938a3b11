import {
  loadPluginCommands,
  type MarketplaceDetails,
  type MarketplaceRow,
} from '../../../../api/index.ts';
import { toPrintableJson } from '../../../../base/printable-json.ts';
import { plural } from '../../../../base/text.ts';
import { escapeLine } from '../../../../config/message-text.ts';
import { defineCommand, refuseAgents, type CommandContext } from '../../command.ts';
import { FILES } from '../../completion-values.ts';
import { columns } from '../../layout.ts';
import { outputOptions, type DataOptions } from '../../run-options.ts';

async function open(options: DataOptions, context: CommandContext) {
  const [{ stateLocation }, commands] = await Promise.all([
    import('../../configuration.ts'),
    loadPluginCommands(),
  ]);
  return { state: stateLocation({ ...options, cwd: null }, context), commands };
}

/** `muster plugin marketplace add` */
export const marketplaceAddCommand = defineCommand({
  words: 'plugin marketplace add',
  summary: 'remember a marketplace, from which plugins can be installed by name',
  operands: [{ name: 'SOURCE', completes: FILES }],
  flags: ['json', 'data-dir'],
  examples: [
    'muster plugin marketplace add ./team-plugins',
    'muster plugin marketplace add https://git.example/plugins.git#main',
  ],
  parse: ({ operands: [source = ''], flags }) => ({ ...outputOptions(flags), source }),
  run: async (options, context) => {
    refuseAgents(context.environment, 'add a marketplace');
    const { state, commands } = await open(options, context);
    const { signal } = new AbortController();
    const added = await commands.addMarketplace(options.source, state, signal);
    if (options.json) context.out(`${toPrintableJson(added, 2)}\n`);
    else reportMarketplace(added, 'Added the marketplace', context);
    return 0;
  },
});

/** `muster plugin marketplace list` */
export const marketplaceListCommand = defineCommand({
  words: 'plugin marketplace list',
  summary: 'the marketplaces, or the plugins of one of them',
  operands: [{ name: '[NAME]' }],
  flags: ['json', 'data-dir'],
  examples: ['muster plugin marketplace list', 'muster plugin marketplace list team'],
  parse: ({ operands: [name = null], flags }) => ({ ...outputOptions(flags), name }),
  run: async (options, context) => {
    const { state, commands } = await open(options, context);
    if (options.name === null) {
      const rows = commands.listMarketplaces(state);
      context.out(options.json ? `${toPrintableJson(rows, 2)}\n` : formatMarketplaces(rows));
      return 0;
    }
    const details = commands.showMarketplace(options.name, state);
    if (options.json) context.out(`${toPrintableJson(details, 2)}\n`);
    else {
      reportProblems(details, context);
      context.out(formatPlugins(details));
    }
    return 0;
  },
});

/** `muster plugin marketplace update` */
export const marketplaceUpdateCommand = defineCommand({
  words: 'plugin marketplace update',
  summary: 'read a marketplace again; installed plugins stay as they are',
  operands: [{ name: 'NAME' }],
  flags: ['json', 'data-dir'],
  examples: ['muster plugin marketplace update team'],
  parse: ({ operands: [name = ''], flags }) => ({ ...outputOptions(flags), name }),
  run: async (options, context) => {
    refuseAgents(context.environment, 'update a marketplace');
    const { state, commands } = await open(options, context);
    const { signal } = new AbortController();
    const updated = await commands.updateMarketplace(options.name, state, signal);
    if (options.json) context.out(`${toPrintableJson(updated, 2)}\n`);
    else reportMarketplace(updated, 'Updated the marketplace', context);
    return 0;
  },
});

/** `muster plugin marketplace remove` */
export const marketplaceRemoveCommand = defineCommand({
  words: 'plugin marketplace remove',
  summary: 'forget a marketplace from which no plugin is installed',
  operands: [{ name: 'NAME' }],
  flags: ['data-dir'],
  examples: ['muster plugin marketplace remove team'],
  parse: ({ operands: [name = ''], flags }) => ({ name, dataDir: flags.text('data-dir') }),
  run: async (options, context) => {
    refuseAgents(context.environment, 'remove a marketplace');
    const { state, commands } = await open(options, context);
    commands.removeMarketplace(options.name, state);
    context.out(`Removed the marketplace ${options.name}.\n`);
    return 0;
  },
});

function reportMarketplace(
  details: MarketplaceDetails,
  verb: string,
  context: CommandContext,
): void {
  reportProblems(details, context);
  const { name, plugins, source } = details;
  const count = plural(plugins.length, 'plugin');
  context.out(`${verb} ${name} with ${count} from ${escapeLine(source)}.\n`);
  context.out(`See them: muster plugin marketplace list ${name}\n`);
}

function reportProblems({ problems }: MarketplaceDetails, { err }: CommandContext): void {
  for (const problem of problems) err(`muster: ${problem}\n`);
}

function formatMarketplaces(rows: readonly MarketplaceRow[]): string {
  if (rows.length === 0) {
    return 'There is no marketplace. Add one: muster plugin marketplace add\n';
  }
  return columns(
    rows.map(({ name, plugins, source, updatedOn }) => [
      name,
      plural(plugins, 'plugin'),
      escapeLine(source),
      `read on ${updatedOn.slice(0, 10)}`,
    ]),
  );
}

function formatPlugins({ plugins, name: marketplace }: MarketplaceDetails): string {
  if (plugins.length === 0) return `The marketplace ${marketplace} has no plugins.\n`;
  return columns(
    plugins.map(({ name, version, description, source }) => [
      name,
      version === null ? '' : escapeLine(version),
      escapeLine(source === null ? 'cannot be installed' : (description ?? '')),
    ]),
  );
}
