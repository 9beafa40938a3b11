import type { McpConnections, McpServerStatus } from '../../mcp/connections.ts';
import {
  fingerprintServer,
  runsInSandbox,
  serverId,
  type McpServerEntry,
} from '../../mcp/server-entry.ts';
import type { ToolCatalog } from '../../mcp/tool-catalog.ts';
import type { CatalogState } from '../../mcp/catalog-server.ts';
import { describeTarget } from './describe-target.ts';
import type { ServerFinder } from './server-finder.ts';
import {
  serverNotFound,
  type ServerBoard,
  type ServerState,
  type ServerStatus,
} from './server-status.ts';

interface BoardParts {
  readonly finder: Pick<ServerFinder, 'listCatalogs'>;
  readonly connections: Pick<McpConnections, 'status' | 'restart' | 'stop'>;
  /** The functions that are called when a state has changed. */
  readonly listeners: Set<() => void>;
}

/** The servers that connections of this process lead to. */
export class ConnectedServers implements ServerBoard {
  private readonly parts: BoardParts;

  constructor(parts: BoardParts) {
    this.parts = parts;
  }

  list(): readonly ServerStatus[] {
    const byFingerprint = Map.groupBy(this.parts.connections.status(), ({ entry }) =>
      fingerprintServer(entry),
    );
    return this.parts.finder
      .listCatalogs()
      .flatMap(({ states }) => states)
      .map((known) =>
        describeServer(known, byFingerprint.get(fingerprintServer(known.entry)) ?? []),
      );
  }

  watch(listener: () => void): () => void {
    this.parts.listeners.add(listener);
    return () => void this.parts.listeners.delete(listener);
  }

  async restart(id: string): Promise<void> {
    const { catalog, entry } = this.find(id);
    await this.parts.connections.restart(entry, new AbortController().signal);
    await catalog.check(entry.name, { accepts: false });
  }

  async accept(id: string): Promise<void> {
    const { catalog, entry } = this.find(id);
    await catalog.check(entry.name, { accepts: true });
  }

  setEnabled(id: string, isEnabled: boolean): void {
    const { catalog, entry } = this.find(id);
    catalog.setEnabled(entry.name, isEnabled);
    if (!isEnabled) this.parts.connections.stop(entry);
  }

  private find(id: string): { readonly catalog: ToolCatalog; readonly entry: McpServerEntry } {
    for (const catalog of this.parts.finder.listCatalogs()) {
      const known = catalog.states.find(({ entry }) => serverId(entry) === id);
      if (known !== undefined) return { catalog, entry: known.entry };
    }
    throw serverNotFound(id);
  }
}

/** Orders connections by how much the state of one says about its server, which may have several. */
const WEIGHTS = ['ready', 'starting', 'waiting', 'failed', 'stopped', 'closed'] as const;

function describeServer(
  known: CatalogState,
  connections: readonly McpServerStatus[],
): ServerStatus {
  const { entry, accepted, change } = known;
  const { name, origin, transport } = entry;
  const ready = connections.filter(({ state }) => state === 'ready');
  const [main] = connections.toSorted(
    (a, b) => WEIGHTS.indexOf(a.state) - WEIGHTS.indexOf(b.state),
  );
  const { info = null, failure = null, errorOutput = '' } = main ?? {};
  return {
    id: serverId(entry),
    name,
    state: decideServerState(known, main ?? null),
    scope: origin.scope,
    file: origin.file,
    agent: origin.definition ?? null,
    target: describeTarget(entry),
    isSandboxed: transport.type === 'stdio' && runsInSandbox(entry),
    tools:
      accepted?.tools.map((tool) => ({ name: tool.name, description: tool.description })) ?? null,
    change,
    error: failure?.message.replace(`MCP server ${serverId(entry)}: `, '') ?? null,
    errorOutput,
    running:
      info === null
        ? null
        : {
            title: `${info.name} ${info.version}`.trim(),
            protocol: info.protocolVersion,
            offers: [
              ...(info.hasTools ? ['tools'] : []),
              ...(info.hasResources ? ['resources'] : []),
              ...(info.hasPrompts ? ['prompts'] : []),
              ...(info.hasCompletion ? ['completion'] : []),
            ],
            connections: ready.length,
            workspaces: ready.flatMap(({ tree }) => tree ?? []),
            activeRequests: connections.reduce((sum, each) => sum + each.activeRequests, 0),
          },
    instructions: accepted?.instructions ?? '',
  };
}

/** Decides the state of a server from what is known about its tools and from its connection; null if it has none. */
export function decideServerState(
  { isEnabled, isAsking, accepted, change }: Omit<CatalogState, 'entry'>,
  connection: Pick<McpServerStatus, 'state' | 'failure'> | null,
): ServerState {
  if (!isEnabled) return 'disabled';
  const { state = 'stopped', failure = null } = connection ?? {};
  if (state === 'starting' || (isAsking && state !== 'ready')) return 'connecting';
  if (state !== 'ready' && failure !== null) return failure.kind === 'login' ? 'login' : 'failed';
  if (change !== null) return 'changed';
  if (state === 'ready') return 'connected';
  return accepted === null ? 'unused' : 'idle';
}
