import { loadPluginCommands } from '../../../../api/index.ts';
import { defineCommand, refuseAgents, type CommandContext } from '../../command.ts';
import type { FlagReader } from '../../flag-reader.ts';

interface ChangeOptions {
  readonly name: string;
  readonly dataDir: string | null;
}

function parseChange({
  operands: [name = ''],
  flags,
}: {
  readonly operands: readonly string[];
  readonly flags: FlagReader;
}): ChangeOptions {
  return { name, dataDir: flags.text('data-dir') };
}

async function open({ dataDir }: ChangeOptions, context: CommandContext) {
  const [{ stateLocation }, commands] = await Promise.all([
    import('../../configuration.ts'),
    loadPluginCommands(),
  ]);
  return { state: stateLocation({ cwd: null, dataDir }, context), commands };
}

/** `muster plugin enable` */
export const pluginEnableCommand = defineCommand({
  words: 'plugin enable',
  summary: 'use an installed plugin again',
  operands: [{ name: 'NAME' }],
  flags: ['data-dir'],
  examples: ['muster plugin enable review-kit'],
  parse: parseChange,
  run: async (options, context) => {
    refuseAgents(context.environment, 'switch a plugin on');
    const { state, commands } = await open(options, context);
    context.out(
      `${commands.setPluginState(options.name, state, { isEnabled: true })} is in use.\n`,
    );
    return 0;
  },
});

/** `muster plugin disable` */
export const pluginDisableCommand = defineCommand({
  words: 'plugin disable',
  summary: 'keep an installed plugin without using it',
  operands: [{ name: 'NAME' }],
  flags: ['data-dir'],
  examples: ['muster plugin disable review-kit'],
  parse: parseChange,
  run: async (options, context) => {
    refuseAgents(context.environment, 'switch a plugin off');
    const { state, commands } = await open(options, context);
    const id = commands.setPluginState(options.name, state, { isEnabled: false });
    context.out(`${id} is switched off.\n`);
    return 0;
  },
});

/** `muster plugin remove` */
export const pluginRemoveCommand = defineCommand({
  words: 'plugin remove',
  summary: 'remove an installed plugin and its files',
  operands: [{ name: 'NAME' }],
  flags: ['data-dir'],
  examples: ['muster plugin remove review-kit'],
  parse: parseChange,
  run: async (options, context) => {
    refuseAgents(context.environment, 'remove a plugin');
    const { state, commands } = await open(options, context);
    context.out(`Removed ${commands.removePlugin(options.name, state)}.\n`);
    return 0;
  },
});
