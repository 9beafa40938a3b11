import { join } from 'node:path';
import { readUserFiles } from '../../config/files.ts';
import { EMPTY_LAYER, type Layer } from '../../config/layer.ts';
import { describeConfigProblem } from '../../config/setting.ts';
import { MusterError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { suggestNames } from '../../base/name-suggestions.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import { toShellWord } from '../../base/text.ts';
import type { LoginSummary } from '../../keys/login-store.ts';
import { createMcpConnections, type McpConnections } from '../../mcp/connections.ts';
import { expandTransport, toLoginKey, type VariableSource } from '../../mcp/expand-variables.ts';
import {
  describeMcpProblem,
  PROJECT_MCP_FILE,
  type McpServerList,
} from '../../mcp/read-servers.ts';
import type { McpServerInfo, McpTool } from '../../mcp/server-data.ts';
import {
  fingerprintServer,
  runsInSandbox,
  serverId,
  type McpServerEntry,
} from '../../mcp/server-entry.ts';
import { readServerFeatures } from '../../mcp/server-features.ts';
import { compareTools, type ToolChange } from '../../mcp/recorded-tools.ts';
import { createHttpFetch } from '../../sys/http/http-fetch.ts';
import { createProjectTrust } from '../../trust/project-trust.ts';
import { stateDirectory, type StateOptions } from '../../trust/state-directory.ts';
import { AGENTS } from '../../agents/kinds.ts';
import { discoverDefinitions } from '../../agents/loader/discover.ts';
import { loadPlugins } from '../setup/plugins.ts';
import { readOwnServers } from './definition-servers.ts';
import { describeTarget } from './describe-target.ts';
import { findServers, userServersFile, type ServerSearch } from './find-servers.ts';
import { openLogins, openLoginStore } from './open-logins.ts';
import { createStarter, type StarterParts } from './server-starter.ts';
import { findOwnSecrets } from './own-secrets.ts';
import { changeServersFile } from './servers-file.ts';
import { openToolRecords } from './tool-records.ts';

/** A configured server, or one of the definition of an agent, for people. */
export interface ServerRow {
  /** The name by which people mean it: `NAME`, or `AGENT/NAME` for a server of a definition. */
  readonly name: string;
  /** The agent whose definition contains it; null for a configured server. */
  readonly agent: string | null;
  readonly scope: 'user' | 'project' | 'plugin';
  readonly file: string;
  /** The command line or the URL, without values that look secret. */
  readonly target: string;
  readonly isEnabled: boolean;
  readonly isSandboxed: boolean;
  /** The number of tools that the user has accepted; null if the server was never used. */
  readonly tools: number | null;
  /** `needed`: the server has demanded a login that nobody has made; null: nothing is known. */
  readonly login: 'stored' | 'needed' | null;
}

/** The configured servers, and the problems of their files. */
export interface ServerReport {
  readonly servers: readonly ServerRow[];
  readonly problems: readonly string[];
}

/** The owner of the file in which a server is written. */
export type ServerScope = 'user' | 'project';

/** The places of servers, and what the user's configuration file says in addition. */
interface ConfiguredSearch extends ServerSearch {
  readonly providers: Layer['providers'];
  readonly problems: string[];
}

/** Returns the places of servers, and the providers and problems of the user's configuration file. */
export async function createServerSearch(
  state: StateOptions,
  { trustProject = false }: { readonly trustProject?: boolean } = {},
): Promise<ConfiguredSearch> {
  const { environment, home, cwd } = state;
  const layer = (await readUserFiles(state)).at(-1)?.layer ?? EMPTY_LAYER;
  const { mcp: tables, providers } = layer;
  const problems = layer.problems.map(describeConfigProblem);
  const onProblem = (problem: string): void => void problems.push(problem);
  const trust = createProjectTrust({ ...state, decision: trustProject, onProblem });
  const { servers: pluginServers } = await loadPlugins({ ...state, onProblem });
  return { environment, home, project: cwd, trust, tables, providers, problems, pluginServers };
}

/** Lists the configured servers and those of the definitions of agents. Starts nothing. */
export async function listServers(state: StateOptions): Promise<ServerReport> {
  const search = await createServerSearch(state);
  const { entries, problems } = await findAllServers(search);
  const records = openToolRecords(stateDirectory(state));
  const variables = { ...state, project: state.cwd, ownSecrets: new Set<string>() };
  const logins = readLogins(state, search.problems);
  const findLogin = createLoginFinder(logins, variables);
  const servers = entries.map((entry): ServerRow => {
    const { origin, isEnabled, transport } = entry;
    return {
      name: serverId(entry),
      agent: origin.definition ?? null,
      scope: origin.plugin === undefined ? origin.scope : 'plugin',
      file: origin.file,
      target: describeTarget(entry),
      isEnabled,
      isSandboxed: transport.type === 'stdio' && runsInSandbox(entry),
      tools: records.read(fingerprintServer(entry))?.tools.length ?? null,
      login: findLogin(entry),
    };
  });
  return { servers, problems: [...search.problems, ...problems.map(describeMcpProblem)] };
}

/** Reads which logins are stored, by the address of the server. A file that cannot be used is a problem. */
function readLogins(state: StateOptions, problems: string[]): ReadonlyMap<string, LoginSummary> {
  try {
    return new Map(
      openLoginStore(state)
        .list()
        .map((login) => [login.server, login]),
    );
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    problems.push(thrown.message);
    return new Map();
  }
}

/** Returns a function that finds what is known about the login to a server. */
function createLoginFinder(
  logins: ReadonlyMap<string, LoginSummary>,
  variables: VariableSource,
): (entry: McpServerEntry) => ServerRow['login'] {
  return (entry) => {
    if (entry.transport.type === 'stdio' || logins.size === 0) return null;
    try {
      const { transport } = expandTransport(entry, variables);
      const login = logins.get(
        transport.type === 'stdio' ? '' : toLoginKey(transport.url, entry.origin),
      );
      if (login === undefined) return null;
      return login.isDemanded ? 'needed' : 'stored';
    } catch (thrown) {
      // A variable of the URL is not set, so nothing can be known.
      if (thrown instanceof MusterError) return null;
      throw thrown;
    }
  };
}

/** The result of a connection to a server. */
export interface ServerTest {
  readonly info: McpServerInfo;
  readonly tools: readonly McpTool[];
  /** The differences from the tools that the user has accepted; null if there are none, or if nothing was accepted yet. */
  readonly change: Omit<ToolChange, 'server'> | null;
  readonly isFirstUse: boolean;
}

/**
 * Connects to a server and reads its tools. With `accepts`, tasks get these tools from now on. Throws MusterError:
 * `NOT_FOUND` for an unknown server, others if the server cannot be used.
 */
export async function testServer(
  name: string,
  state: StateOptions,
  options: ServerConfinement & { readonly accepts: boolean; readonly signal: AbortSignal },
): Promise<ServerTest> {
  const search = await createServerSearch(state);
  const entry = await findServer(name, search);
  const connections = openTestConnections(state, {
    confinement: options,
    providers: search.providers,
    storesDemands: true,
    // A server that needs a login says so in its error.
    onNotice: () => {},
  });
  try {
    const server = connections.open(entry);
    const info = await server.start(options.signal);
    const tools = info.hasTools ? (await server.listTools(options.signal)).items : [];
    const records = openToolRecords(stateDirectory(state));
    const fingerprint = fingerprintServer(entry);
    const accepted = records.read(fingerprint);
    if (options.accepts) {
      const features = await readServerFeatures(server, info, options.signal);
      records.write(fingerprint, { instructions: info.instructions, tools, features });
    }
    return {
      info,
      tools,
      change: accepted === null ? null : compareTools(accepted.tools, tools),
      isFirstUse: accepted === null,
    };
  } finally {
    await connections.close();
  }
}

/** The sandbox of a server and the permission rules that say what it must not see. */
export type ServerConfinement = Pick<StarterParts, 'sandbox' | 'rules'>;

/** The circumstances of a test. */
interface TestOptions {
  readonly confinement: ServerConfinement;
  readonly providers: Layer['providers'];
  /** Whether a server's demand for a login is stored. */
  readonly storesDemands: boolean;
  readonly onNotice: (line: string) => void;
}

/** Creates connections that are used for a test and then closed. */
export function openTestConnections(
  state: StateOptions,
  { confinement, providers, storesDemands, onNotice }: TestOptions,
): McpConnections {
  const { environment, home, cwd } = state;
  // Nothing is logged.
  const logins = openLogins(state, { onSecret: () => {}, onNotice, storesDemands });
  return createMcpConnections({
    variables: {
      environment,
      home,
      project: cwd,
      ownSecrets: findOwnSecrets(environment, providers),
    },
    http: createHttpFetch(environment),
    cwd,
    roots: [cwd],
    startProcess: createStarter({ ...confinement, home }),
    ...(logins === null ? {} : { logins }),
  });
}

/** Finds a configured server by its name, or one of a definition by `AGENT/NAME`. Throws MusterError `NOT_FOUND`. */
export async function findServer(name: string, search: ServerSearch): Promise<McpServerEntry> {
  const { entries, problems } = await findAllServers(search);
  const entry = entries.find((each) => serverId(each) === name);
  if (entry !== undefined) return entry;
  const own = problems.filter(({ server }) => server === name).map(describeMcpProblem);
  const similar = suggestNames(name, entries.map(serverId));
  const hint = similar.length === 0 ? '' : ` Did you mean ${similar.join(' or ')}?`;
  const reason =
    own.length === 0
      ? `no MCP server "${sanitizeLine(name)}" is configured.${hint}`
      : own.join('; ');
  throw new MusterError('NOT_FOUND', reason);
}

/**
 * Finds the configured servers, and then those of the definitions of agents that can be used, in the order of the agents.
 * Starts nothing.
 */
export async function findAllServers(search: ServerSearch): Promise<McpServerList> {
  const configured = findServers(search);
  const { environment, project: cwd, trust } = search;
  const { items } = await discoverDefinitions(AGENTS, { cwd, environment, trust });
  const own = items.map(readOwnServers);
  return {
    entries: [configured, ...own].flatMap(({ entries }) => entries),
    problems: [configured, ...own].flatMap(({ problems }) => problems),
  };
}

/**
 * Writes a server into the file of the user or of the project. Returns the path of the file. Throws MusterError if there
 * is a server of this name, or if the entry or the file has an error.
 */
export async function addServer(
  {
    name,
    entry,
    scope,
  }: { readonly name: string; readonly entry: JsonObject; readonly scope: ServerScope },
  state: StateOptions,
): Promise<string> {
  const file = fileOf(scope, state);
  await changeServersFile(file, scope, (servers) => {
    if (Object.hasOwn(servers, name)) {
      const message = `${file} has a server "${name}" already; nothing was written. Remove it first: muster mcp remove ${toShellWord(name)}`;
      throw new MusterError('CONFLICT', message);
    }
    return { ...servers, [name]: entry };
  });
  return file;
}

/**
 * Removes a server from the first of the files that has it. Returns the path of the file. Throws MusterError if no file
 * has it.
 */
export async function removeServer(
  name: string,
  scopes: readonly ServerScope[],
  state: StateOptions,
): Promise<string> {
  for (const scope of scopes) {
    const file = fileOf(scope, state);
    let isFound = false;
    // oxlint-disable-next-line no-await-in-loop -- the second file is read only if the first one does not have it
    await changeServersFile(file, scope, (servers) => {
      isFound = Object.hasOwn(servers, name);
      if (!isFound) return null;
      return Object.fromEntries(Object.entries(servers).filter(([each]) => each !== name));
    });
    if (isFound) return file;
  }
  const { tables } = await createServerSearch(state);
  const where = tables?.servers.get(name)?.where;
  const shown = sanitizeLine(name);
  const reason =
    where === undefined
      ? `no file of servers has "${shown}"; see muster mcp list`
      : `the server "${shown}" is in ${where}; remove it there by hand`;
  throw new MusterError('NOT_FOUND', reason);
}

function fileOf(scope: ServerScope, state: StateOptions): string {
  return scope === 'user' ? userServersFile(state) : join(state.cwd, PROJECT_MCP_FILE);
}
