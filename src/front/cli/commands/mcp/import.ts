import { loadServerImport, type FoundServer, type ServerImport } from '../../../../api/index.ts';
import { UsageError } from '../../../../base/errors.ts';
import { toPrintableJson } from '../../../../base/printable-json.ts';
import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { plural } from '../../../../base/text.ts';
import { defineCommand, refuseAgents, type CommandContext } from '../../command.ts';

/** `muster mcp import`: with `--json` and without `--yes`, it only lists the servers. */
export const mcpImportCommand = defineCommand({
  words: 'mcp import',
  summary: 'add the MCP servers that you have configured in other products',
  operands: [],
  flags: ['yes', 'json', 'cwd'],
  flagDetails: {
    yes: { help: 'add the new servers of your own files without asking; none of the project' },
    json: { help: 'print JSON; nothing is added without --yes' },
  },
  examples: ['muster mcp import', 'muster mcp import --json'],
  parse: ({ flags }) => ({
    json: flags.has('json'),
    yes: flags.has('yes'),
    cwd: flags.text('cwd'),
  }),
  run: async ({ json, yes, cwd }, context) => {
    refuseAgents(context.environment, 'import MCP servers');
    const { stateLocation } = await import('../../configuration.ts');
    const { findServersToImport } = await loadServerImport();
    const found = await findServersToImport(stateLocation({ cwd, dataDir: null }, context));
    for (const problem of found.problems) context.err(`muster: ${sanitizeLine(problem)}\n`);
    const added = found.servers.filter(
      // Nobody may have looked at the servers that other people have put into the project.
      ({ state, scope }) => state === 'new' && (!yes || scope === 'user'),
    );
    if (json) {
      if (yes) await found.add(added);
      const names = yes ? added.map(({ name }) => name) : [];
      const { file, servers } = found;
      context.out(`${toPrintableJson({ file, servers, added: names }, 2)}\n`);
      return 0;
    }
    context.out(formatServers(found));
    const isAgreed = added.length > 0 && (yes || (await ask(added, found, context)));
    if (isAgreed) await found.add(added);
    context.out(formatOutcome(found, isAgreed ? added : []));
    return 0;
  },
});

function ask(
  { length }: readonly FoundServer[],
  { file }: ServerImport,
  { confirm }: CommandContext,
): Promise<boolean> {
  if (confirm === null) {
    throw new UsageError('there is no terminal to ask on; to add what is shown, add --yes');
  }
  return confirm(`Add ${plural(length, 'new server')} to ${sanitizeLine(file)}? [y/N] `);
}

const STATE_WORDS = {
  new: 'new',
  exists: 'exists',
  conflict: 'left out',
  unusable: 'left out',
} as const;

function formatServers({ servers }: ServerImport): string {
  const files = [...Map.groupBy(servers, ({ file }) => file).values()];
  const lines = files.flatMap((group) =>
    [formatFile(group[0]), group.flatMap(formatServer)].flat(),
  );
  return lines.map((line) => `${sanitizeLine(line)}\n`).join('');
}

function formatFile(first: FoundServer | undefined): string {
  const owner = first?.scope === 'project' ? ', a file of this project' : '';
  return `${first?.product ?? ''} (${first?.file ?? ''}${owner})`;
}

function formatServer(server: FoundServer): readonly string[] {
  const { name, state, reason, target, isSandboxed, secrets, notes } = server;
  const detail = reason ?? `${target ?? ''}${isSandboxed ? ' (in the sandbox)' : ''}`;
  const head = `  ${STATE_WORDS[state].padEnd(8)}  ${name}: ${detail}`;
  if (state !== 'new') return [head];
  return [
    head,
    ...(secrets.length === 0
      ? []
      : [
          `            ! ${secrets.join(', ')} looks secret and is copied as it is; a variable such as \${TOKEN} is safer`,
        ]),
    ...notes.map((note) => `            ${note}`),
  ];
}

function formatOutcome({ file, servers }: ServerImport, added: readonly FoundServer[]): string {
  if (servers.length === 0) return 'No other product has MCP servers for you or this project.\n';
  const isLeft = servers.some((server) => server.state === 'new' && !added.includes(server));
  if (added.length === 0) return isLeft ? 'Nothing was added.\n' : 'Nothing is new.\n';
  const rest = isLeft
    ? 'The servers of this project were not added: to look at them and be asked, run it without --yes.\n'
    : '';
  const line = `Added ${plural(added.length, 'server')} to ${sanitizeLine(file)}. Try them: muster mcp test NAME\n`;
  return `${line}${rest}`;
}
