import { loadPluginCommands } from '../../../../api/index.ts';
import { defineCommand, refuseAgents } from '../../command.ts';
import { FILES } from '../../completion-values.ts';
import { outputOptions } from '../../run-options.ts';
import { readApproval, reviewAndInstall } from './review.ts';

const APPROVE_HELP = {
  approve: { help: 'do not ask: install exactly what has this hash, which the review shows' },
  json: { help: 'print the review as JSON; nothing is installed without --approve' },
} as const;

/** `muster plugin install` */
export const pluginInstallCommand = defineCommand({
  words: 'plugin install',
  summary: 'show what a plugin or extension can do, and install exactly these files',
  operands: [{ name: 'SOURCE', completes: FILES }],
  flags: ['approve', 'json', 'cwd', 'data-dir'],
  flagDetails: APPROVE_HELP,
  examples: [
    'muster plugin install ./my-plugin',
    'muster plugin install review-kit@team',
    'muster plugin install https://git.example/tools.git#v2:plugins/review-kit',
    'muster plugin install npm:@team/review-kit',
  ],
  parse: ({ operands: [source = ''], flags }) => ({
    ...outputOptions(flags),
    source,
    approve: readApproval(flags.text('approve')),
    cwd: flags.text('cwd'),
  }),
  run: async ({ source, ...options }, context) => {
    refuseAgents(context.environment, 'install a plugin');
    const [{ stateLocation }, { proposePlugin }] = await Promise.all([
      import('../../configuration.ts'),
      loadPluginCommands(),
    ]);
    const state = stateLocation(options, context);
    const proposal = await proposePlugin(source, state, new AbortController().signal);
    return await reviewAndInstall(proposal, options, context);
  },
});

/** `muster plugin update` */
export const pluginUpdateCommand = defineCommand({
  words: 'plugin update',
  summary: 'show what has changed in the source of a plugin, and install exactly these files',
  operands: [{ name: 'NAME' }],
  flags: ['approve', 'json', 'cwd', 'data-dir'],
  flagDetails: APPROVE_HELP,
  examples: ['muster plugin update review-kit'],
  parse: ({ operands: [name = ''], flags }) => ({
    ...outputOptions(flags),
    name,
    approve: readApproval(flags.text('approve')),
    cwd: flags.text('cwd'),
  }),
  run: async ({ name, ...options }, context) => {
    refuseAgents(context.environment, 'update a plugin');
    const [{ stateLocation }, { proposeUpdate }] = await Promise.all([
      import('../../configuration.ts'),
      loadPluginCommands(),
    ]);
    const state = stateLocation(options, context);
    const proposal = await proposeUpdate(name, state, new AbortController().signal);
    return await reviewAndInstall(proposal, options, context);
  },
});
