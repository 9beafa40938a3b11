import { join } from 'node:path';
import { readUserFiles } from '../../config/files.ts';
import { EMPTY_LAYER, type Layer } from '../../config/layer.ts';
import { describeConfigProblem } from '../../config/setting.ts';
import { MusterError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { suggestNames } from '../../base/name-suggestions.ts';
import { createMcpConnections, type McpConnections } from '../../mcp/connections.ts';
import { describeMcpProblem, PROJECT_MCP_FILE } from '../../mcp/read-servers.ts';
import type { McpServerInfo, McpTool } from '../../mcp/server-data.ts';
import { fingerprintServer, runsInSandbox, type McpServerEntry } from '../../mcp/server-entry.ts';
import { readServerFeatures } from '../../mcp/server-features.ts';
import { compareTools, type ToolChange } from '../../mcp/compare-tools.ts';
import { createHttpFetch } from '../../sys/http/http-fetch.ts';
import type { Sandbox } from '../../sys/sandbox/sandbox.ts';
import { createProjectTrust } from '../../trust/project-trust.ts';
import { stateDirectory, type StateOptions } from '../../trust/state-directory.ts';
import { findServers, userServersFile, type ServerSearch } from './find-servers.ts';
import { createStarter } from './open-servers.ts';
import { findOwnSecrets } from './own-secrets.ts';
import { changeServersFile } from './servers-file.ts';
import { openToolRecords } from './tool-records.ts';

/** A configured server, for people. */
export interface ServerRow {
  readonly name: string;
  readonly scope: 'user' | 'project';
  readonly file: string;
  /** The command line or the URL. */
  readonly target: string;
  readonly isEnabled: boolean;
  readonly isSandboxed: boolean;
  /** The number of tools that the user has accepted; null if the server was never used. */
  readonly tools: number | null;
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
  return { environment, home, project: cwd, trust, tables, providers, problems };
}

/** Lists the configured servers. Starts nothing. */
export async function listServers(state: StateOptions): Promise<ServerReport> {
  const search = await createServerSearch(state);
  const { entries, problems } = findServers(search);
  const records = openToolRecords(stateDirectory(state));
  const servers = entries.map((entry): ServerRow => {
    const { name, origin, isEnabled, transport } = entry;
    return {
      name,
      scope: origin.scope,
      file: origin.file,
      target:
        transport.type === 'stdio'
          ? [transport.command, ...transport.args].join(' ')
          : transport.url,
      isEnabled,
      isSandboxed: transport.type === 'stdio' && runsInSandbox(entry),
      tools: records.read(fingerprintServer(entry))?.tools.length ?? null,
    };
  });
  return { servers, problems: [...search.problems, ...problems.map(describeMcpProblem)] };
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
  options: {
    readonly accepts: boolean;
    readonly sandbox: Sandbox;
    readonly signal: AbortSignal;
  },
): Promise<ServerTest> {
  const search = await createServerSearch(state);
  const entry = findServer(name, search);
  const connections = openTestConnections(state, options.sandbox, search.providers);
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

/** Creates connections that are used for a test and then closed. */
export function openTestConnections(
  { environment, home, cwd }: StateOptions,
  sandbox: Sandbox,
  providers: Layer['providers'],
): McpConnections {
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
    startProcess: createStarter({ sandbox, roots: [cwd] }),
  });
}

function findServer(name: string, search: ServerSearch): McpServerEntry {
  const { entries, problems } = findServers(search);
  const entry = entries.find((each) => each.name === name);
  if (entry !== undefined) return entry;
  const own = problems.filter(({ server }) => server === name).map(describeMcpProblem);
  const similar = suggestNames(
    name,
    entries.map((each) => each.name),
  );
  const hint = similar.length === 0 ? '' : ` Did you mean ${similar.join(' or ')}?`;
  const reason =
    own.length === 0 ? `no MCP server "${name}" is configured.${hint}` : own.join('; ');
  throw new MusterError('NOT_FOUND', reason);
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
      const message = `${file} has a server "${name}" already; nothing was written. Remove it first: muster mcp remove ${name}`;
      throw new MusterError('CONFLICT', message);
    }
    return { ...servers, [name]: entry };
  });
  return file;
}

/** Removes a server from the file that has it. Returns the path of the file. Throws MusterError if no file has it. */
export async function removeServer(name: string, state: StateOptions): Promise<string> {
  for (const scope of ['user', 'project'] as const) {
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
  const reason =
    where === undefined
      ? `no file of servers has "${name}"; see muster mcp list`
      : `the server "${name}" is in ${where}; remove it there by hand`;
  throw new MusterError('NOT_FOUND', reason);
}

function fileOf(scope: ServerScope, state: StateOptions): string {
  return scope === 'user' ? userServersFile(state) : join(state.cwd, PROJECT_MCP_FILE);
}
