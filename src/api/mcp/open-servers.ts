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
import { ToolCatalog, type ToolChange } from '../../mcp/tool-catalog.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { MusterError } from '../../base/errors.ts';
import type { Layer } from '../../config/layer.ts';
import { listNamesOnOneLine } from '../../base/terminal-text.ts';
import { plural } from '../../base/text.ts';
import type { McpPort, ServerUser } from '../../protocol/mcp.ts';
import type { HttpFetch } from '../../sys/http/http-types.ts';
import type { Sandbox } from '../../sys/sandbox/sandbox.ts';
import { isSecretVariable } from '../../sys/secret-variables.ts';
import { findServers, type ServerSearch } from './find-servers.ts';
import { findOwnSecrets } from './own-secrets.ts';
import { planServerWait, type ServerMoment } from './plan-server-wait.ts';
import { ConnectedServers } from './server-board.ts';
import { ServerFinder } from './server-finder.ts';
import type { ServerBoard } from './server-status.ts';
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
  const ownSecrets = findOwnSecrets(environment, parts.providers);
  const listeners = new Set<() => void>();
  const onStateChange = (): void => {
    for (const listener of listeners) listener();
  };
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
      if (event.type === 'list-changed' && event.list === 'tools') finder.checkAgain(server);
      const text = describeEvent(event);
      if (text !== null) onNotice(`MCP server ${server} ${text}`);
    },
    onStateChange,
  });
  const records = directory === null ? createMemoryToolRecords() : openToolRecords(directory);
  const finder = new ServerFinder({
    entries,
    agents: () => parts.agents(),
    createCatalog: (list) =>
      new ToolCatalog({
        entries: list,
        connections,
        records,
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
    board: new ConnectedServers({ finder, connections, listeners }),
    close: () => connections.close(),
  };
}

function describeWait(names: readonly string[]): string {
  const quoted = names.map((name) => `"${name}"`).join(', ');
  return `waiting for the MCP ${names.length === 1 ? 'server' : 'servers'} ${quoted} …`;
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
