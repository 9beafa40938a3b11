import { createMcpConnections } from '../../mcp/connections.ts';
import { describeMcpProblem } from '../../mcp/read-servers.ts';
import {
  fingerprintServer,
  runsInSandbox,
  runsInWorkspaceSandbox,
  serverId,
  type McpServerEntry,
} from '../../mcp/server-entry.ts';
import type { McpEvent } from '../../mcp/server-events.ts';
import { ToolCatalog } from '../../mcp/tool-catalog.ts';
import type { ToolRecords } from '../../mcp/recorded-tools.ts';
import type { ToolChange } from '../../mcp/recorded-tools.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { Layer } from '../../config/layer.ts';
import { listNamesOnOneLine, sanitizeLine } from '../../base/terminal-text.ts';
import { plural, toShellWord, truncate } from '../../base/text.ts';
import type { McpPort, ServerUser } from '../../protocol/mcp.ts';
import type { McpLogins } from '../../mcp/server-login.ts';
import type { ProjectTrust } from '../../sys/files/project-file.ts';
import type { HttpFetch } from '../../sys/http/http-types.ts';
import { RunningCalls } from '../../tools/mcp/running-calls.ts';
import { isSecretVariable } from '../../sys/secret-variables.ts';
import { findServers, type ServerSearch } from './find-servers.ts';
import { findOwnSecrets } from './own-secrets.ts';
import { planServerWait, type ServerMoment } from './plan-server-wait.ts';
import { ConnectedServers } from './server-board.ts';
import { CatalogContent, type ServerContent } from './server-content.ts';
import { ServerFinder } from './server-finder.ts';
import type { Restriction } from '../../protocol/state/questions.ts';
import { toRealPath } from '../../sys/files/real-path.ts';
import { ServerRestrictions } from './server-restrictions.ts';
import { createStarter, type StarterParts } from './server-starter.ts';
import type { ServerBoard } from './server-status.ts';
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
  /** Returns the definitions that can be used now, which may contain servers. */
  agents(): readonly AgentDefinition[];
  /** Keeps a value out of logs. */
  addSecret(value: string): void;
  onNotice(line: string): void;
}

/** The MCP servers of a session. */
export interface SessionServers extends McpPort {
  /** The parts of the names of the tools of all servers, also of those that definitions contain. */
  readonly allParts: readonly string[];
  /** Asks the servers that have to be asked at a moment. Waits for them if that is decided. Never rejects. */
  prepareFor(moment: ServerMoment): Promise<void>;
  /** Returns the names of the servers for which a conversation of an agent would wait. */
  listAwaited(agent: ServerUser): readonly string[];
  /** The servers for people. */
  readonly board: ServerBoard;
  /** The resources and prompts of the configured servers; null if no server is configured. */
  readonly content: ServerContent | null;
  /**
   * Applies the ask and deny rules that the user has set for a conversation to the sandbox of servers. Those that run in
   * a sandbox which is too wide now are ended, and start again at their next use.
   */
  restrict(conversation: string, restrictions: readonly Restriction[]): void;
  /** Ends the servers that were started for a workspace, given by its directory, and waits for their ends. */
  endWorkspace(tree: string): Promise<void>;
  /** Ends all servers. */
  close(): Promise<void>;
}

/** The time after which servers that have not answered are named. */
const SLOW_MS = 2_000;

/**
 * Opens the configured MCP servers and those of definitions. Nothing is started. Problems of their files are reported as
 * notices.
 */
export function openServers(parts: ServerParts): SessionServers {
  const { entries, problems } = findServers(parts);
  for (const problem of problems) parts.onNotice(describeMcpProblem(problem));
  const { environment, home, project, roots, directory, fetch, onNotice } = parts;
  const calls = new RunningCalls();
  const ownSecrets = findOwnSecrets(environment, parts.providers);
  const listeners = new Set<() => void>();
  const onStateChange = (): void => {
    for (const listener of listeners) listener();
  };
  const restrictions = new ServerRestrictions(parts.rules, { roots, home: toRealPath(home) });
  const { sandbox } = parts;
  const starter = createStarter({
    sandbox,
    home,
    onNotice,
    get rules() {
      return restrictions.rules;
    },
  });
  const connections = createMcpConnections({
    variables: { environment, home, project, ownSecrets },
    http: fetch,
    cwd: roots[0],
    roots,
    startProcess: starter,
    ...(parts.logins === null ? {} : { logins: parts.logins }),
    onVariables: (values) => {
      for (const [name, value] of values) {
        if (isSecretVariable(name) || ownSecrets.has(name)) parts.addSecret(value);
      }
    },
    ask: calls.ask,
    onEvent: ({ name, tree }, event) => {
      if (event.type === 'log' && calls.log(name, event)) return;
      if (mayChangeTools(event)) finder.checkAgain(name);
      else if (event.type === 'list-changed') finder.readFeaturesAgain(name);
      const text = describeEvent(event);
      const where = tree === null ? '' : ` in the workspace ${tree}`;
      if (text !== null) onNotice(`MCP server ${name}${where} ${text}`);
    },
    onStateChange,
  });
  const stored = directory === null ? createMemoryToolRecords() : openToolRecords(directory);
  const finder = new ServerFinder({
    entries,
    calls,
    agents: () => parts.agents(),
    createCatalog: (list) =>
      new ToolCatalog({
        entries: list,
        connections,
        records: selectRecords(stored, list, parts.trust),
        onProblem: (_, reason) => onNotice(reason),
        onChange: (change) => onNotice(describeChange(change)),
        onStateChange,
      }),
    onNotice,
  });
  const prepareFor = async (moment: ServerMoment): Promise<void> => {
    const unknown = finder.findUnknown(moment.agent);
    const { asked, waits, isAnnounced } = planServerWait(moment, [...unknown.keys()]);
    const waiting = new Set<string>();
    const answers = asked
      .flatMap((part) => unknown.get(part) ?? [])
      .map(async (server) => {
        waiting.add(server.name);
        await server.ask();
        waiting.delete(server.name);
      });
    if (!waits) return;
    const timer = setTimeout(() => isAnnounced && onNotice(describeWait([...waiting])), SLOW_MS);
    await Promise.all(answers);
    clearTimeout(timer);
  };
  const content = new CatalogContent(finder.configuredCatalog, connections);
  const hasConfigured = entries.some(({ isEnabled }) => isEnabled);
  return {
    prepare: (agent) => prepareFor({ kind: 'spawn', agent }),
    prepareFor,
    listAwaited: (agent) => {
      const unknown = finder.findUnknown(agent);
      const { asked } = planServerWait({ kind: 'start', agent }, [...unknown.keys()]);
      return asked.flatMap((part) => unknown.get(part)?.name ?? []);
    },
    get servers() {
      return finder.configured.servers;
    },
    get parts() {
      return finder.configured.parts;
    },
    get allParts() {
      return finder.listCatalogs().flatMap((catalog) => catalog.parts);
    },
    ofAgent: (agent) => finder.ofAgent(agent),
    endTask: (id) => finder.endTask(id),
    endWorkspace: (tree) => finder.endWorkspace(tree),
    board: new ConnectedServers({ finder, connections, listeners }),
    content: hasConfigured ? content : null,
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
    restrict(conversation, list) {
      if (!restrictions.set(conversation, list)) return;
      for (const { entry, state, tree } of connections.status()) {
        if (!isConfinedProcess(entry, tree) || !RUNNING.has(state)) continue;
        connections.stop(entry);
        onNotice(
          `MCP server ${serverId(entry)} was ended, because the rules of a conversation deny it more files now. It starts again with its next use.`,
        );
      }
    },
    close: () => connections.close(),
  };
}

/** The states of a server that has a process. */
const RUNNING: ReadonlySet<string> = new Set(['starting', 'ready']);

function isConfinedProcess(entry: McpServerEntry, tree: string | null): boolean {
  if (entry.transport.type !== 'stdio') return false;
  return tree === null ? runsInSandbox(entry) : runsInWorkspaceSandbox(entry);
}

/** Selects the records of accepted tools. The servers of a project that is trusted for this run only leave no record. */
function selectRecords(
  stored: ToolRecords,
  entries: readonly McpServerEntry[],
  { isForRun = false }: ProjectTrust,
): ToolRecords {
  if (!isForRun) return stored;
  const ofProject = entries.filter(({ origin }) => origin.scope === 'project');
  return keepForRun(stored, new Set(ofProject.map(fingerprintServer)));
}

function describeWait(names: readonly string[]): string {
  const quoted = names.map((name) => `"${name}"`).join(', ');
  return `waiting for the MCP ${names.length === 1 ? 'server' : 'servers'} ${quoted} …`;
}

/** Tells whether a server may offer other tools from now on. One that starts again may be another version. */
function mayChangeTools(event: McpEvent): boolean {
  if (event.type === 'list-changed') return event.list === 'tools';
  return event.type === 'lost' || event.type === 'stopped';
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
