import { loadServerCommands, loadSandbox, type ServerTest } from '../../../../api/index.ts';
import { toPrintableJson } from '../../../../base/printable-json.ts';
import { listNamesOnOneLine, sanitizeLine } from '../../../../base/terminal-text.ts';
import { plural, toShellWord, truncate } from '../../../../base/text.ts';
import { defineCommand, refuseAgents, type CommandContext } from '../../command.ts';
import { outputOptions, type DataOptions } from '../../run-options.ts';

interface TestOptions extends DataOptions {
  readonly name: string;
  readonly cwd: string | null;
  readonly json: boolean;
}

/** `muster mcp test` */
export const mcpTestCommand = defineCommand<TestOptions>({
  words: 'mcp test',
  summary: 'start an MCP server and show its tools',
  operands: [{ name: 'NAME' }],
  flags: ['json', 'cwd', 'data-dir'],
  examples: ['muster mcp test github'],
  parse: ({ operands: [name = ''], flags }) => ({
    ...outputOptions(flags),
    name,
    cwd: flags.text('cwd'),
  }),
  run: async (options, context) => {
    const test = await connect(options, context, { accepts: false });
    if (options.json) context.out(`${toPrintableJson(test, 2)}\n`);
    else context.out(formatTest(options.name, test));
    return 0;
  },
});

/** `muster mcp accept` */
export const mcpAcceptCommand = defineCommand<TestOptions>({
  words: 'mcp accept',
  summary: 'let tasks use the tools that an MCP server offers now',
  operands: [{ name: 'NAME' }],
  flags: ['json', 'cwd', 'data-dir'],
  examples: ['muster mcp accept github'],
  parse: ({ operands: [name = ''], flags }) => ({
    ...outputOptions(flags),
    name,
    cwd: flags.text('cwd'),
  }),
  run: async (options, context) => {
    refuseAgents(context.environment, 'accept the tools of an MCP server');
    const test = await connect(options, context, { accepts: true });
    if (options.json) context.out(`${toPrintableJson(test, 2)}\n`);
    else context.out(`Accepted ${plural(test.tools.length, 'tool')} of ${options.name}.\n`);
    return 0;
  },
});

async function connect(
  options: TestOptions,
  context: CommandContext,
  { accepts }: { readonly accepts: boolean },
): Promise<ServerTest> {
  const [{ stateLocation, configInputs }, { loadConfig }, { dataDirectory }] = await Promise.all([
    import('../../configuration.ts'),
    import('../../../../config/load.ts'),
    import('../../../../config/paths.ts'),
  ]);
  const state = stateLocation(options, context);
  const { config, rules } = await loadConfig(
    configInputs({ ...options, trustProject: false, flags: [] }, context),
  );
  const { environment, home, cwd } = state;
  const { kind, caches, commandProcesses } = config.sandbox;
  const { openConfiguredSandbox } = await loadSandbox();
  const sandbox = openConfiguredSandbox({
    environment,
    home,
    kind,
    caches,
    commandProcesses,
    roots: [cwd],
    dataDir: dataDirectory(state, state),
    canWriteDataDir: true,
  });
  const { testServer } = await loadServerCommands();
  const signal = new AbortController().signal;
  return await testServer(options.name, state, { accepts, sandbox, rules, signal });
}

const MAX_DESCRIPTION_LENGTH = 100;
/** The maximum number of tools that are named for each kind of change. The JSON output names all. */
const MAX_NAMED_TOOLS = 20;

function formatTest(name: string, { info, tools, change, isFirstUse }: ServerTest): string {
  const version = sanitizeLine(`${info.name} ${info.version}`);
  const head = `${name}: ${version}, protocol ${sanitizeLine(info.protocolVersion)}, ${plural(tools.length, 'tool')}`;
  const lines = tools.map(({ name: tool, description, annotations }) => {
    const hints = [
      ...(annotations.readOnly === true ? ['says it only reads'] : []),
      ...(annotations.destructive === true ? ['says it may destroy'] : []),
    ];
    const text = truncate(sanitizeLine(description), MAX_DESCRIPTION_LENGTH);
    return `  ${listNamesOnOneLine([tool], 1)}${hints.length === 0 ? '' : ` (${hints.join(', ')})`}: ${text}`;
  });
  return [head, ...lines, ...describeChange(name, change, isFirstUse), ''].join('\n');
}

function describeChange(
  name: string,
  change: ServerTest['change'],
  isFirstUse: boolean,
): readonly string[] {
  if (isFirstUse) return ['Tasks get these tools from the first use on.'];
  if (change === null) return ['These are the tools that tasks get.'];
  const part = (label: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`  ${label}: ${listNamesOnOneLine(names, MAX_NAMED_TOOLS)}`];
  return [
    'Tasks still get the tools that you accepted before. The differences:',
    ...part('added', change.added),
    ...part('changed', change.changed),
    ...part('removed', change.removed),
    `To accept them: muster mcp accept ${toShellWord(name)}`,
  ];
}
