import { createMcpConnections } from '../../mcp/connections.ts';
import { describeMcpProblem } from '../../mcp/read-servers.ts';
import { runsInSandbox, type McpServerEntry } from '../../mcp/server-entry.ts';
import type { McpEvent } from '../../mcp/server-events.ts';
import {
  startServerProgram,
  startUnconfined,
  type ServerProcess,
  type StartServerProcess,
} from '../../mcp/server-process.ts';
import type { ToolChange } from '../../mcp/compare-tools.ts';
import { ToolCatalog, type CatalogServer } from '../../mcp/tool-catalog.ts';
import { MusterError } from '../../base/errors.ts';
import type { Layer } from '../../config/layer.ts';
import { listNamesOnOneLine } from '../../base/terminal-text.ts';
import { plural } from '../../base/text.ts';
import type { McpPort, McpServerTools } from '../../protocol/mcp.ts';
import { nameCovers } from '../../policy/rules/tool-cover.ts';
import type { HttpFetch } from '../../sys/http/http-types.ts';
import type { Sandbox } from '../../sys/sandbox/sandbox.ts';
import { listServerResources } from '../../mcp/server-features.ts';
import { createMcpTool } from '../../tools/mcp/mcp-tool.ts';
import { createResourceTool } from '../../tools/mcp/resource-tool.ts';
import { RESOURCE_TOOL, toResourceTool } from '../../protocol/tool-names.ts';
import { isSecretVariable } from '../../sys/secret-variables.ts';
import { findServers, type ServerSearch } from './find-servers.ts';
import { findOwnSecrets } from './own-secrets.ts';
import { CatalogContent, type ServerContent } from './server-content.ts';
import { createMemoryToolRecords, openToolRecords } from './tool-records.ts';

/** The parts of a session that MCP servers need. */
export interface ServerParts extends ServerSearch {
  /** The workspace roots, of which the first is the working directory. */
  readonly roots: readonly [string, ...string[]];
  /** The state directory; null if nothing may be written there. */
  readonly directory: string | null;
  /** The configured providers, whose keys a project's server cannot get. */
  readonly providers: Layer['providers'];
  readonly fetch: HttpFetch;
  readonly sandbox: Sandbox;
  /** Keeps a value out of logs. */
  addSecret(value: string): void;
  onNotice(line: string): void;
}

/** The fields of a definition that say which servers its agent may use. */
type ServerUser = Parameters<McpPort['prepare']>[0];

/** The MCP servers of a session. */
export interface SessionServers extends McpPort {
  /** `onSlow` is called once with the names of the servers that have not answered after two seconds. */
  prepare(agent: ServerUser, onSlow?: (servers: readonly string[]) => void): Promise<void>;
  readonly content: ServerContent;
  /** Ends all servers. */
  close(): Promise<void>;
}

/**
 * Opens the configured MCP servers. Nothing is started. Returns null if no server is configured. Problems of their files
 * are reported as notices.
 */
export function openServers(parts: ServerParts): SessionServers | null {
  const { entries, problems } = findServers(parts);
  for (const problem of problems) parts.onNotice(describeMcpProblem(problem));
  const enabled = entries.filter(({ isEnabled }) => isEnabled);
  if (enabled.length === 0) return null;
  const { environment, home, project, roots, directory, fetch, onNotice } = parts;
  const ownSecrets = findOwnSecrets(environment, parts.providers);
  const connections = createMcpConnections({
    variables: { environment, home, project, ownSecrets },
    http: fetch,
    cwd: roots[0],
    roots,
    startProcess: createStarter(parts),
    onVariables: (values) => {
      for (const [name, value] of values) {
        if (isSecretVariable(name) || ownSecrets.has(name)) parts.addSecret(value);
      }
    },
    onEvent: (server, event) => {
      if (event.type === 'list-changed') {
        if (event.list === 'tools') catalog.checkAgain(server);
        else catalog.readFeaturesAgain(server);
      }
      const text = describeEvent(event);
      if (text !== null) onNotice(`MCP server ${server} ${text}`);
    },
  });
  const catalog = new ToolCatalog({
    entries: enabled,
    connections,
    records: directory === null ? createMemoryToolRecords() : openToolRecords(directory),
    onProblem: (_, reason) => onNotice(reason),
    onChange: (change) => onNotice(describeChange(change)),
  });
  const content = new CatalogContent(catalog, connections);
  const converted = new WeakMap<readonly CatalogServer[], readonly McpServerTools[]>();
  return {
    prepare: (agent, onSlow) => catalog.prepare((part) => mayUseServer(agent, part), onSlow),
    get servers() {
      const { servers } = catalog;
      const known = converted.get(servers);
      if (known !== undefined) return known;
      const all = servers.map((server) => toServerTools(server, catalog));
      converted.set(servers, all);
      return all;
    },
    get parts() {
      return catalog.parts;
    },
    content,
    async readResource({ server, uri }, { attach, signal }) {
      const contents = await content.readResource(server, uri, signal);
      const { formatResource } = await import('../../tools/mcp/format-result.ts');
      const { text, attachments = [] } = await formatResource(contents, { attach });
      return { text, attachments };
    },
    async getPrompt({ server, ...request }, { attach, signal }) {
      const messages = await content.getTypedPrompt(server, request, signal);
      const { formatPrompt } = await import('../../tools/mcp/format-result.ts');
      return await formatPrompt(messages, { attach });
    },
    close: () => connections.close(),
  };
}

/** Tells whether an agent may use a tool of a server, as far as the lists of its definition say. */
function mayUseServer({ tools, disallowedTools }: ServerUser, part: string): boolean {
  const denied = [...disallowedTools, ...(tools.mode === 'deny' ? tools.names : [])];
  // A name that covers this beginning covers all tools of the server.
  if (denied.some((name) => nameCovers(name, `mcp__${part}__`))) return false;
  return tools.mode !== 'allow' || tools.names.some((name) => mayNameServer(name, part));
}

/**
 * Tells whether a name in the tool list of an agent may mean tools of a server: `mcp__*`, `mcp__S`, `mcp__S__tool`, and
 * `McpResource`, which means those that read the resources of all servers.
 */
function mayNameServer(name: string, part: string): boolean {
  if (name === RESOURCE_TOOL) return true;
  if (!name.startsWith('mcp__')) return false;
  const [server = ''] = name.slice('mcp__'.length).split('__');
  return server.includes('*') || server === part;
}

function toServerTools(
  { entry, part, instructions, tools, features }: CatalogServer,
  catalog: ToolCatalog,
): McpServerTools {
  const { name, origin, transport } = entry;
  const isConfined = transport.type !== 'stdio' || runsInSandbox(entry);
  return {
    name,
    file: origin.file,
    part,
    about: instructions,
    tools: tools.map((tool) => createMcpTool(tool, { isConfined })),
    resources:
      features?.hasResources === true
        ? createResourceTool(
            {
              name: toResourceTool(part),
              list: (signal) => listServerResources(catalog.findUse(part), signal),
              read: (uri, signal) => catalog.findUse(part).readResource(uri, signal),
            },
            { isConfined },
          )
        : null,
  };
}

/** Creates the starter of server processes, which runs those servers in the sandbox for which that is intended. */
export function createStarter({
  sandbox,
  roots,
}: Pick<ServerParts, 'sandbox' | 'roots'>): StartServerProcess {
  return async (command) => {
    if (!runsInSandbox(command.entry)) return await startUnconfined(command);
    const state = await sandbox.state();
    if (!state.on) throw createSandboxError(command.entry, state.because);
    const confined = sandbox.confine({
      argv: command.argv,
      cwd: command.cwd,
      env: command.env,
      confinement: { access: 'workspace', roots, network: true },
      stderr: 'command',
    });
    const { file, args, env, monitored, startCheck } = confined;
    const server: ServerProcess = startServerProgram({
      file,
      args,
      cwd: command.cwd,
      env,
      monitored,
      startCheck,
    });
    void server.ended.finally(() => confined.release());
    return server;
  };
}

function createSandboxError({ name, origin }: McpServerEntry, because: string): MusterError {
  const message = `MCP server ${name} should run in the sandbox, but there is none: ${because}. To run it without, set "sandbox": false for it in a file of your own (${origin.file} is a project's).`;
  return new MusterError('PERMISSION_DENIED', message);
}

/** Describes an event of a server that a person should see, as the rest of a sentence. Returns null for the others. */
function describeEvent(event: McpEvent): string | null {
  switch (event.type) {
    case 'lost':
    case 'restart-failed': {
      const next =
        event.restartMs === null
          ? 'it is not started again'
          : `it starts again in ${Math.ceil(event.restartMs / 1000)} s`;
      return `${event.type === 'lost' ? 'has ended' : 'could not be started again'}: ${event.reason}; ${next}`;
    }
    case 'problem':
      return `has a problem: ${event.message}`;
    case 'started':
    case 'stopped':
    case 'list-changed':
    case 'log':
      return null;
  }
}

/** The maximum number of tools that a notice names for each kind of change. */
const MAX_NAMED_TOOLS = 5;

function describeChange({ server, added, removed, changed }: ToolChange): string {
  const part = (names: readonly string[], word: string): readonly string[] =>
    names.length === 0
      ? []
      : [`${plural(names.length, 'tool')} ${word} (${listNamesOnOneLine(names, MAX_NAMED_TOOLS)})`];
  const parts = [...part(added, 'added'), ...part(changed, 'changed'), ...part(removed, 'removed')];
  return `MCP server ${server} offers other tools than you have accepted: ${parts.join('; ')}. Tasks still get the accepted texts. Look at them with "muster mcp test ${server}", accept them with "muster mcp accept ${server}".`;
}
