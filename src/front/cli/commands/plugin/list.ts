import { loadPluginCommands, type PluginDetails, type PluginRow } from '../../../../api/index.ts';
import { toPrintableJson } from '../../../../base/printable-json.ts';
import { escapeLine } from '../../../../config/message-text.ts';
import { defineCommand } from '../../command.ts';
import { columns, factLines } from '../../layout.ts';
import { outputOptions } from '../../run-options.ts';

/** `muster plugin list` */
export const pluginListCommand = defineCommand({
  words: 'plugin list',
  summary: 'the installed plugins',
  operands: [],
  flags: ['json', 'data-dir'],
  examples: ['muster plugin list'],
  parse: ({ flags }) => outputOptions(flags),
  run: async (options, context) => {
    const [{ stateLocation }, { listPlugins }] = await Promise.all([
      import('../../configuration.ts'),
      loadPluginCommands(),
    ]);
    const plugins = listPlugins(stateLocation({ ...options, cwd: null }, context));
    if (options.json) context.out(`${toPrintableJson(plugins, 2)}\n`);
    else if (plugins.length === 0) {
      context.out('No plugin is installed. Install one: muster plugin install\n');
    } else context.out(columns(plugins.map(toCells)));
    return 0;
  },
});

function toCells(plugin: PluginRow): readonly string[] {
  const { id, version, source } = plugin;
  return [id, version ?? '', describeUse(plugin), source].map(escapeLine);
}

function describeUse({ isEnabled, problem }: PluginRow): string {
  if (!isEnabled) return 'switched off';
  return problem === null ? 'in use' : `not used: ${problem}`;
}

/** `muster plugin show` */
export const pluginShowCommand = defineCommand({
  words: 'plugin show',
  summary: 'what an installed plugin can do',
  operands: [{ name: 'NAME' }],
  flags: ['json', 'data-dir'],
  examples: ['muster plugin show review-kit'],
  parse: ({ operands: [name = ''], flags }) => ({ ...outputOptions(flags), name }),
  run: async (options, context) => {
    const [{ stateLocation }, { showPlugin }] = await Promise.all([
      import('../../configuration.ts'),
      loadPluginCommands(),
    ]);
    const plugin = await showPlugin(
      options.name,
      stateLocation({ ...options, cwd: null }, context),
    );
    context.out(options.json ? `${toPrintableJson(plugin, 2)}\n` : formatDetails(plugin));
    return 0;
  },
});

function formatDetails(plugin: PluginDetails): string {
  const { id, version, description, source, commit, hash, approvedOn, directory, effects } = plugin;
  const facts = factLines([
    ['plugin', version === null ? id : `${id} ${version}`],
    ['about', description],
    ['state', describeUse(plugin)],
    ['from', commit === null ? source : `${source} at commit ${commit}`],
    ['hash', `${hash}, approved on ${approvedOn.slice(0, 10)}`],
    ['files', directory],
  ]);
  return `${facts}${effects.map((line) => `  ${escapeLine(line)}\n`).join('')}`;
}
