import { loadServerCommands } from '../../../../api/index.ts';
import { UsageError } from '../../../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../../../../base/json.ts';
import { toShellWord } from '../../../../base/text.ts';
import { defineCommand, refuseAgents, type CommandContext } from '../../command.ts';
import {
  checkServerName,
  explainAddFlag,
  readAddedServer,
  readServerScope,
  SERVER_SCOPES,
} from './add-arguments.ts';

interface AddOptions {
  readonly name: string;
  readonly entry: JsonObject;
  readonly scope: (typeof SERVER_SCOPES)[number];
  readonly cwd: string | null;
}

const SCOPE_DETAILS = {
  group: 'Servers',
  help: 'whose file: user (your own, the default) or project (.mcp.json of this project)',
  completes: { words: SERVER_SCOPES },
} as const;

/** `muster mcp add` */
export const mcpAddCommand = defineCommand<AddOptions>({
  words: 'mcp add',
  summary: 'add an MCP server: a URL, or a command after --',
  operands: [{ name: 'NAME' }, { name: '[COMMAND…]' }],
  flags: [
    'transport',
    'env',
    'header',
    'scope',
    'project',
    'url',
    'bearer-token-env-var',
    'client-id',
    'callback-port',
    'timeout',
    'include-tools',
    'exclude-tools',
    'cwd',
  ],
  flagDetails: { scope: SCOPE_DETAILS },
  examples: [
    'muster mcp add files -- npx -y @modelcontextprotocol/server-filesystem .',
    'muster mcp add docs https://mcp.example.org/mcp --header "Authorization: Bearer ${DOCS_TOKEN}"',
    'muster mcp add --transport sse --scope project old https://mcp.example.org/sse',
  ],
  parse: (args) => ({
    ...readAddedServer(args),
    scope: readServerScope(args.flags),
    cwd: args.flags.text('cwd'),
  }),
  explainFlag: explainAddFlag,
  run: add,
});

/** `muster mcp add-json` */
export const mcpAddJsonCommand = defineCommand<AddOptions>({
  words: 'mcp add-json',
  summary: 'add an MCP server whose entry is given as JSON',
  operands: [{ name: 'NAME' }, { name: 'JSON' }],
  flags: ['scope', 'project', 'cwd'],
  flagDetails: { scope: SCOPE_DETAILS },
  examples: [`muster mcp add-json demo '{"command": "node", "args": ["server.js"]}'`],
  parse: ({ operands: [name = '', json = ''], flags }) => {
    checkServerName(name);
    return {
      name,
      entry: readEntry(json),
      scope: readServerScope(flags),
      cwd: flags.text('cwd'),
    };
  },
  run: add,
});

/** `muster mcp remove` */
export const mcpRemoveCommand = defineCommand({
  words: 'mcp remove',
  summary: 'remove an MCP server from your file or from that of this project',
  operands: [{ name: 'NAME' }],
  flags: ['scope', 'cwd'],
  flagDetails: {
    scope: { ...SCOPE_DETAILS, help: 'whose file: user or project (default: the one that has it)' },
  },
  examples: ['muster mcp remove docs'],
  parse: ({ operands: [name = ''], flags }) => ({
    name,
    scopes: flags.has('scope') ? [readServerScope(flags)] : SERVER_SCOPES,
    cwd: flags.text('cwd'),
  }),
  run: async ({ name, scopes, cwd }, context) => {
    refuseAgents(context.environment, 'remove an MCP server');
    const { removeServer } = await loadServerCommands();
    const file = await removeServer(name, scopes, await locate(cwd, context));
    context.out(`Removed ${name} from ${file}.\n`);
    return 0;
  },
});

async function add({ cwd, ...server }: AddOptions, context: CommandContext): Promise<number> {
  refuseAgents(context.environment, 'add an MCP server');
  const { addServer } = await loadServerCommands();
  const file = await addServer(server, await locate(cwd, context));
  context.out(
    `Added ${server.name} to ${file}. Try it: muster mcp test ${toShellWord(server.name)}\n`,
  );
  if (server.scope === 'project') {
    context.out(
      'A server of a project is used after you have trusted the file: muster trust add .mcp.json\n',
    );
  }
  return 0;
}

async function locate(cwd: string | null, context: CommandContext) {
  const { stateLocation } = await import('../../configuration.ts');
  return stateLocation({ cwd, dataDir: null }, context);
}

function readEntry(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
    throw new UsageError(`the entry is not JSON: ${thrown.message}`);
  }
  throw new UsageError('the entry must be a JSON object');
}
