import { findConfinement, type McpServerEntry } from '../../mcp/server-entry.ts';
import type { ToolCatalog } from '../../mcp/tool-catalog.ts';
import type { CatalogServer } from '../../mcp/catalog-server.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { AgentServers, McpServerTools, ServerUser } from '../../protocol/mcp.ts';
import { toResourceTool } from '../../protocol/tool-names.ts';
import { createMcpTool } from '../../tools/mcp/mcp-tool.ts';
import { createResourceTool } from '../../tools/mcp/resource-tool.ts';
import type { RunningCalls } from '../../tools/mcp/running-calls.ts';
import { DefinitionCatalogs, placeOwnServers, type OwnServers } from './definition-servers.ts';

interface ServerFinderOptions {
  /** The configured servers. */
  readonly entries: readonly McpServerEntry[];
  /** The running calls, by which questions and log messages of servers find their task. */
  readonly calls: RunningCalls;
  /** Returns the definitions that can be used now. Those of a project are trusted. */
  readonly agents: () => readonly AgentDefinition[];
  readonly createCatalog: (entries: readonly McpServerEntry[]) => ToolCatalog;
  readonly onNotice: (line: string) => void;
}

/** A server whose tools are not known. */
interface UnknownServer {
  readonly name: string;
  /** Asks it for its tools. Never rejects. */
  ask(): Promise<void>;
}

/** Finds the servers of agents: the configured ones, and those that their definitions contain. */
export class ServerFinder {
  private readonly catalog: ToolCatalog;
  private readonly definitions: DefinitionCatalogs;
  private readonly calls: RunningCalls;
  private readonly converted = new WeakMap<readonly CatalogServer[], readonly McpServerTools[]>();

  constructor({ entries, calls, agents, createCatalog, onNotice }: ServerFinderOptions) {
    this.calls = calls;
    this.catalog = createCatalog(entries);
    this.definitions = new DefinitionCatalogs({ agents, createCatalog, onNotice });
  }

  /** The catalog of the configured servers. */
  get configuredCatalog(): ToolCatalog {
    return this.catalog;
  }

  /** The configured servers. */
  get configured(): AgentServers {
    const { catalog } = this;
    return { parts: catalog.parts, servers: this.toolsOf(catalog), unusable: new Map() };
  }

  ofAgent(agent: ServerUser): AgentServers {
    const own = this.definitions.find(agent);
    if (own === null) return this.configured;
    const { configured, ofDefinition, reserved } = this.chooseShown(own);
    const disabled = reserved.map(
      (part) => [part, `The user has disabled the MCP server ${part}.`] as const,
    );
    return {
      parts: [...this.catalog.parts.filter(configured), ...own.catalog.parts.filter(ofDefinition)],
      servers: [
        ...this.toolsOf(this.catalog).filter(({ part }) => configured(part)),
        ...this.toolsOf(own.catalog).filter(({ part }) => ofDefinition(part)),
      ],
      unusable: new Map([...own.unusable, ...disabled]),
    };
  }

  /** Finds the servers whose tools are not known, by the part of the names of their tools. */
  findUnknown(
    agent: Pick<ServerUser, 'name' | 'origin' | 'servers'> | null,
  ): ReadonlyMap<string, UnknownServer> {
    const own = agent === null ? null : this.definitions.find(agent);
    if (own === null) return listUnknown(this.catalog, () => true);
    const { configured, ofDefinition } = this.chooseShown(own);
    return new Map([
      ...listUnknown(this.catalog, configured),
      ...listUnknown(own.catalog, ofDefinition),
    ]);
  }

  /** Lists the servers of all places, also of definitions that no task has used. */
  listCatalogs(): readonly ToolCatalog[] {
    return [this.catalog, ...this.definitions.listAll()];
  }

  /** Has the tools of the servers of a name compared with the accepted ones before the next call. */
  checkAgain(server: string): void {
    for (const catalog of this.listOpen()) catalog.checkAgain(server);
  }

  /** Has the resources and prompts of the servers of a name read again at their next use. */
  readFeaturesAgain(server: string): void {
    for (const catalog of this.listOpen()) catalog.readFeaturesAgain(server);
  }

  endTask(id: string): void {
    for (const catalog of this.listOpen()) catalog.endTask(id);
  }

  /** Ends the servers of a workspace, and waits for their ends. */
  async endWorkspace(tree: string): Promise<void> {
    await Promise.all(this.listOpen().map((catalog) => catalog.endWorkspace(tree)));
  }

  private listOpen(): readonly ToolCatalog[] {
    return [this.catalog, ...this.definitions.listOpen()];
  }

  /** Returns tests by which the servers are chosen that an agent has, because some may have the same name. */
  private chooseShown(own: OwnServers) {
    const placed = Array.from(this.catalog.entriesByPart, ([part, { origin }]) => ({
      part,
      isOfProject: origin.scope === 'project',
    }));
    const reserved = this.listReserved(own);
    const { hiddenConfigured, hiddenOwn } = placeOwnServers(
      [...placed, ...reserved.map((part) => ({ part, isOfProject: false }))],
      own.catalog.parts,
      own,
    );
    return {
      reserved: reserved.filter((part) => hiddenOwn.has(part)),
      configured: (part: string) => !hiddenConfigured.has(part),
      ofDefinition: (part: string) => !hiddenOwn.has(part),
    };
  }

  /** Lists the names of the user's disabled servers, for which a definition of a project must not bring another one. */
  private listReserved({ isOfUser }: OwnServers): readonly string[] {
    if (isOfUser) return [];
    return Array.from(this.catalog.disabledByPart).flatMap(([part, { origin }]) =>
      origin.scope === 'user' ? part : [],
    );
  }

  /** Returns the same objects as long as the tools of the servers are the same. */
  private toolsOf(catalog: ToolCatalog): readonly McpServerTools[] {
    const { servers } = catalog;
    const known = this.converted.get(servers);
    if (known !== undefined) return known;
    const all = servers.map((server) => toServerTools(server, { catalog, calls: this.calls }));
    this.converted.set(servers, all);
    return all;
  }
}

function listUnknown(
  catalog: ToolCatalog,
  isShown: (part: string) => boolean,
): ReadonlyMap<string, UnknownServer> {
  const shown = [...catalog.unknown].filter(([part]) => isShown(part));
  return new Map(shown.map(([part, name]) => [part, { name, ask: () => catalog.ask(name) }]));
}

function toServerTools(
  { entry, part, instructions, tools, features }: CatalogServer,
  { catalog, calls }: { readonly catalog: ToolCatalog; readonly calls: RunningCalls },
): McpServerTools {
  const { name, origin } = entry;
  const confinement = findConfinement(entry);
  return {
    name,
    file: origin.file,
    isOfUser:
      origin.scope === 'user' && origin.definition === undefined && origin.plugin === undefined,
    part,
    about: instructions,
    tools: tools.map((tool) => createMcpTool(tool, { confinement, calls })),
    resources:
      features?.hasResources === true
        ? createResourceTool(
            { name: toResourceTool(part), open: (task) => catalog.findUse(part, task) },
            { confinement },
          )
        : null,
  };
}
