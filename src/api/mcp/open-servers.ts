import { createMcpConnections } from '../../mcp/connections.ts';
import { describeMcpProblem } from '../../mcp/read-servers.ts';
import { fingerprintServer, runsInSandbox, type McpServerEntry } from '../../mcp/server-entry.ts';
import type { McpEvent } from '../../mcp/server-events.ts';
import {
  ToolCatalog,
  type CatalogServer,
  type ToolChange,
  type ToolRecords,
} from '../../mcp/tool-catalog.ts';
import type { Layer } from '../../config/layer.ts';
import { listNamesOnOneLine, sanitizeLine } from '../../base/terminal-text.ts';
import { plural, toShellWord, truncate } from '../../base/text.ts';
import type { McpPort, McpServerTools } from '../../protocol/mcp.ts';
import { canNameServer } from '../../protocol/server-tool-names.ts';
import { nameCovers } from '../../policy/rules/tool-cover.ts';
import type { McpLogins } from '../../mcp/server-login.ts';
import type { ProjectTrust } from '../../sys/files/project-file.ts';
import type { HttpFetch } from '../../sys/http/http-types.ts';
import { createMcpTool } from '../../tools/mcp/mcp-tool.ts';
import { RunningCalls } from '../../tools/mcp/running-calls.ts';
import { isSecretVariable } from '../../sys/secret-variables.ts';
import { findServers, type ServerSearch } from './find-servers.ts';
import { findOwnSecrets } from './own-secrets.ts';
import { createStarter, type StarterParts } from './server-starter.ts';
import { createMemoryToolRecords, keepForRun, openToolRecords } from './tool-records.ts';

/** The parts of a session that MCP servers need. */
export interface ServerParts extends ServerSearch, Pick<StarterParts, 'sandbox' | 'rules'> {
  /** The workspace roots, of which the first is the working directory. */
  readonly roots: readonly [string, ...string[]];
  /** The state directory; null if nothing may be written there. */
  readonly directory: string | null;
  /** The logins to servers; null if there are none. */
  readonly logins: McpLogins | null;
  /** The configured providers, whose keys a project's server cannot get. */
  readonly providers: Layer['providers'];
  readonly fetch: HttpFetch;
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
  const calls = new RunningCalls();
  const ownSecrets = findOwnSecrets(environment, parts.providers);
  const connections = createMcpConnections({
    variables: { environment, home, project, ownSecrets },
    http: fetch,
    cwd: roots[0],
    roots,
    startProcess: createStarter(parts),
    ...(parts.logins === null ? {} : { logins: parts.logins }),
    onVariables: (values) => {
      for (const [name, value] of values) {
        if (isSecretVariable(name) || ownSecrets.has(name)) parts.addSecret(value);
      }
    },
    ask: calls.ask,
    onEvent: (server, event) => {
      if (event.type === 'log' && calls.log(server, event)) return;
      if (event.type === 'list-changed' && event.list === 'tools') catalog.checkAgain(server);
      const text = describeEvent(event);
      if (text !== null) onNotice(`MCP server ${server} ${text}`);
    },
  });
  const catalog = new ToolCatalog({
    entries: enabled,
    connections,
    records: openRecords(directory, entries, parts.trust),
    onProblem: (_, reason) => onNotice(reason),
    onChange: (change) => onNotice(describeChange(change)),
  });
  const converted = new WeakMap<readonly CatalogServer[], readonly McpServerTools[]>();
  return {
    prepare: (agent, onSlow) => catalog.prepare((part) => mayUseServer(agent, part), onSlow),
    get servers() {
      const { servers } = catalog;
      const known = converted.get(servers);
      if (known !== undefined) return known;
      const all = servers.map((server) => toServerTools(server, calls));
      converted.set(servers, all);
      return all;
    },
    get parts() {
      return catalog.parts;
    },
    close: () => connections.close(),
  };
}

/** Opens the records of accepted tools. A server that is trusted for this run only leaves no record. */
function openRecords(
  directory: string | null,
  entries: readonly McpServerEntry[],
  { isForRun = false }: ProjectTrust,
): ToolRecords {
  if (directory === null) return createMemoryToolRecords();
  const stored = openToolRecords(directory);
  if (!isForRun) return stored;
  const ofProject = entries.filter(({ origin }) => origin.scope === 'project');
  return keepForRun(stored, new Set(ofProject.map(fingerprintServer)));
}

/** Tells whether an agent may use a tool of a server, as far as the lists of its definition say. */
function mayUseServer({ tools, disallowedTools }: ServerUser, part: string): boolean {
  const denied = [...disallowedTools, ...(tools.mode === 'deny' ? tools.names : [])];
  if (denied.some((name) => nameCovers(name, `mcp__${part}__*`, 'narrow'))) return false;
  return tools.mode !== 'allow' || tools.names.some((name) => canNameServer(name, part));
}

function toServerTools(
  { entry, part, instructions, tools }: CatalogServer,
  calls: RunningCalls,
): McpServerTools {
  const { name, origin, transport } = entry;
  const isConfined = transport.type !== 'stdio' || runsInSandbox(entry);
  return {
    name,
    file: origin.file,
    part,
    about: instructions,
    tools: tools.map((tool) => createMcpTool(tool, { isConfined, calls })),
  };
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
      return null;
    case 'log':
      // Without a running call there is no task to whose log the message would belong.
      return SEVERE_LEVELS.has(event.level)
        ? `reports (${event.level}): ${truncate(sanitizeLine(event.text), MAX_REPORT_LENGTH)}`
        : null;
  }
}

/** The levels of log messages that a person sees even if no task is calling the server. */
const SEVERE_LEVELS: ReadonlySet<string> = new Set(['error', 'critical', 'alert', 'emergency']);
const MAX_REPORT_LENGTH = 300;

/** The maximum number of tools that a notice names for each kind of change. */
const MAX_NAMED_TOOLS = 5;

function describeChange({ server, added, removed, changed }: ToolChange): string {
  const part = (names: readonly string[], word: string): readonly string[] =>
    names.length === 0
      ? []
      : [`${plural(names.length, 'tool')} ${word} (${listNamesOnOneLine(names, MAX_NAMED_TOOLS)})`];
  const word = toShellWord(server);
  const parts = [...part(added, 'added'), ...part(changed, 'changed'), ...part(removed, 'removed')];
  return `MCP server ${server} offers other tools than you have accepted: ${parts.join('; ')}. Tasks still get the accepted texts. Look at them with "muster mcp test ${word}", accept them with "muster mcp accept ${word}".`;
}
