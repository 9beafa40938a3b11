import { loadServerCommands, type ServerReport, type ServerRow } from '../../../../api/index.ts';
import { MusterError } from '../../../../base/errors.ts';
import { suggestNames } from '../../../../base/name-suggestions.ts';
import { toPrintableJson } from '../../../../base/printable-json.ts';
import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { plural, toShellWord } from '../../../../base/text.ts';
import { defineCommand, type CommandContext } from '../../command.ts';
import { outputOptions, type DataOptions } from '../../run-options.ts';

/** `muster mcp list` */
export const mcpListCommand = defineCommand({
  words: 'mcp list',
  summary: 'the MCP servers of yours, of this project and of agents',
  operands: [],
  flags: ['json', 'cwd', 'data-dir'],
  examples: ['muster mcp list'],
  parse: ({ flags }) => ({ ...outputOptions(flags), cwd: flags.text('cwd') }),
  run: async (options, context) => {
    const { servers, problems } = await readServers(options, context);
    for (const problem of problems) context.err(`muster: ${problem}\n`);
    if (options.json) context.out(`${toPrintableJson(servers, 2)}\n`);
    else if (servers.length === 0)
      context.out('No MCP server is configured. Add one: muster mcp add\n');
    else context.out(servers.map((server) => `${formatRow(server)}\n`).join(''));
    return 0;
  },
});

/** `muster mcp get` */
export const mcpGetCommand = defineCommand({
  words: 'mcp get',
  summary: 'what is known about an MCP server, without starting it',
  operands: [{ name: 'NAME' }],
  flags: ['json', 'cwd', 'data-dir'],
  examples: ['muster mcp get github'],
  parse: ({ operands: [name = ''], flags }) => ({
    ...outputOptions(flags),
    name,
    cwd: flags.text('cwd'),
  }),
  run: async (options, context) => {
    const { servers, problems } = await readServers(options, context);
    const server = servers.find(({ name }) => name === options.name);
    if (server === undefined) {
      const own = problems.filter((problem) => problem.includes(options.name));
      const similar = suggestNames(
        options.name,
        servers.map(({ name }) => name),
      );
      const hint =
        similar.length === 0 ? 'see muster mcp list' : `did you mean ${similar.join(' or ')}?`;
      const reason = own.length === 0 ? hint : own.join('; ');
      throw new MusterError(
        'NOT_FOUND',
        `no MCP server "${sanitizeLine(options.name)}" is configured: ${sanitizeLine(reason)}`,
      );
    }
    if (options.json) context.out(`${toPrintableJson(server, 2)}\n`);
    else context.out(formatDetails(server));
    return 0;
  },
});

async function readServers(
  options: { readonly cwd: string | null } & DataOptions,
  context: CommandContext,
): Promise<ServerReport> {
  const { stateLocation } = await import('../../configuration.ts');
  const { listServers } = await loadServerCommands();
  return listServers(stateLocation(options, context));
}

function formatRow(server: ServerRow): string {
  const { name, target } = server;
  const parts = [
    describeOwner(server),
    describeTools(server),
    ...[describeLogin(server) ?? []].flat(),
    target,
  ];
  return `${sanitizeLine(name)}  ${parts.map(sanitizeLine).join(' · ')}`;
}

function describeOwner({ scope, agent }: ServerRow): string {
  return agent === null ? scope : `${scope}, agent ${agent}`;
}

function describeTools({ isEnabled, tools }: ServerRow): string {
  if (!isEnabled) return 'switched off';
  return tools === null ? 'not used yet' : plural(tools, 'tool');
}

/** Describes the login to a server; null if nothing is known about one. */
function describeLogin({ name, login }: ServerRow): string | null {
  if (login === null) return null;
  return login === 'stored' ? 'logged in' : `needs a login: muster mcp login ${toShellWord(name)}`;
}

function formatDetails(server: ServerRow): string {
  const { name, file, target, isSandboxed } = server;
  const login = describeLogin(server);
  const rows = [
    ['server', name],
    ['from', `${file} (${describeOwner(server)})`],
    ['runs', isSandboxed ? `${target} (in the sandbox)` : target],
    ['tools', describeTools(server)],
    ...(login === null ? [] : [['login', login]]),
  ];
  return rows
    .map(([label = '', text = '']) => `${label.padEnd(8)}${sanitizeLine(text)}\n`)
    .join('');
}
