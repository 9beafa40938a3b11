import type { McpServerEntry, McpServerOrigin } from '../../mcp/server-entry.ts';
import {
  describeMcpProblem,
  readDefinitionServers,
  type McpServerList,
} from '../../mcp/read-servers.ts';
import type { ToolCatalog } from '../../mcp/tool-catalog.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { ServerUser } from '../../protocol/mcp.ts';

/** The servers that a definition itself contains. */
export interface OwnServers {
  readonly catalog: ToolCatalog;
  /** The definition belongs to the user, and so do its servers. */
  readonly isOfUser: boolean;
  /** The servers that cannot be used, by the part of the names of their tools, each with the reason as a sentence. */
  readonly unusable: ReadonlyMap<string, string>;
}

interface DefinitionCatalogsOptions {
  /** Returns the definitions that can be used now. Those of a project are trusted. */
  readonly agents: () => readonly AgentDefinition[];
  readonly createCatalog: (entries: readonly McpServerEntry[]) => ToolCatalog;
  readonly onNotice: (line: string) => void;
}

/**
 * The servers of definitions. They are read from the present definition of a name and file, never from the definition
 * that a log has recorded: a log may come from another machine, and does not contain the texts of the entries.
 */
export class DefinitionCatalogs {
  private readonly options: DefinitionCatalogsOptions;
  /** The servers by their definition and content. */
  private readonly known = new Map<string, OwnServers>();

  constructor(options: DefinitionCatalogsOptions) {
    this.options = options;
  }

  /** Finds the servers of the definition of an agent. Returns null if it contains none. */
  find(agent: Pick<ServerUser, 'name' | 'origin' | 'servers'>): OwnServers | null {
    if (agent.servers === undefined) return null;
    const present = this.options
      .agents()
      .find(({ name, origin }) => name === agent.name && origin.path === agent.origin.path);
    return this.open(present ?? { ...agent, servers: {} }, Object.keys(agent.servers));
  }

  /** Lists the servers of all definitions, also of those that no task has used. */
  listAll(): readonly ToolCatalog[] {
    for (const agent of this.options.agents()) this.find(agent);
    return this.listOpen();
  }

  /** Lists the servers of the definitions that tasks have used. */
  listOpen(): readonly ToolCatalog[] {
    return [...this.known.values()].map(({ catalog }) => catalog);
  }

  /** @param expected the names of the servers that the task was created with */
  private open(
    { name, origin, servers = {} }: Pick<ServerUser, 'name' | 'origin' | 'servers'>,
    expected: readonly string[],
  ): OwnServers {
    const key = JSON.stringify([name, origin.path, servers, expected]);
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const read = readOwnServers({ name, origin, servers });
    for (const problem of read.problems) this.options.onNotice(describeMcpProblem(problem));
    const missing = expected.filter((each) => !Object.hasOwn(servers, each));
    const unusable = new Map([
      ...missing.map(
        (each) =>
          [
            toPart(each),
            `The definition of ${name} in ${origin.path} no longer contains the MCP server ${each}, or it is not trusted any more.`,
          ] as const,
      ),
      ...findUnusable(read),
    ]);
    const opened: OwnServers = {
      catalog: this.options.createCatalog(read.entries),
      isOfUser: isOfUser(origin),
      unusable,
    };
    this.known.set(key, opened);
    return opened;
  }
}

/** Reads the servers of a definition. Those of a project and of a plugin are treated as the servers of a project. */
export function readOwnServers({
  name,
  origin,
  servers,
}: Pick<ServerUser, 'name' | 'origin' | 'servers'>): McpServerList {
  const place: McpServerOrigin = {
    scope: isOfUser(origin) ? 'user' : 'project',
    file: origin.path,
    definition: name,
  };
  return readDefinitionServers(servers ?? {}, place);
}

function isOfUser({ scope }: AgentDefinition['origin']): boolean {
  return scope !== 'project' && scope !== 'plugin';
}

function findUnusable({
  entries,
  problems,
}: McpServerList): readonly (readonly [part: string, reason: string])[] {
  const wrong = problems.flatMap(({ server, severity, field, message }) => {
    if (server === null || severity !== 'error') return [];
    const reason = `The MCP server ${server} of the definition has an error: ${field === null ? '' : `${field}: `}${message}.`;
    return [[toPart(server), reason] as const];
  });
  const disabled = entries
    .filter(({ isEnabled }) => !isEnabled)
    .map(({ name }) => [toPart(name), `The definition disables its MCP server ${name}.`] as const);
  return [...wrong, ...disabled];
}

/** Returns the part of a server's name in the tool lists of definitions. */
function toPart(name: string): string {
  return name.trim().replaceAll(/[^\w.-]+/g, '_');
}

/** A server and the owner of the place in which it is defined. */
interface PlacedServer {
  readonly part: string;
  readonly isOfProject: boolean;
}

/**
 * Decides which servers an agent has if its definition contains servers whose names are those of configured ones. The
 * first of these has a name: the servers of the user, those of a definition of the user, those of the project, those of
 * a definition of the project. So nothing takes the place of a server for which the user has written rules.
 *
 * @returns the parts of the configured servers that the agent does not have, and of the definition's that are not used
 */
export function placeOwnServers(
  configured: readonly PlacedServer[],
  own: readonly string[],
  { isOfUser: isUserDefinition }: { readonly isOfUser: boolean },
): { readonly hiddenConfigured: ReadonlySet<string>; readonly hiddenOwn: ReadonlySet<string> } {
  const hiddenConfigured = new Set<string>();
  const hiddenOwn = new Set<string>();
  for (const { part, isOfProject } of configured) {
    if (!own.includes(part)) continue;
    if (isUserDefinition && isOfProject) hiddenConfigured.add(part);
    else hiddenOwn.add(part);
  }
  return { hiddenConfigured, hiddenOwn };
}
