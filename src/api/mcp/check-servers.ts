import { MusterError } from '../../base/errors.ts';
import { toShellWord } from '../../base/text.ts';
import type { McpConnections } from '../../mcp/connections.ts';
import { describeMcpProblem } from '../../mcp/read-servers.ts';
import { fingerprintServer, serverId, type McpServerEntry } from '../../mcp/server-entry.ts';
import {
  describeLoginCommand,
  formatLoginCommand,
  McpServerError,
} from '../../mcp/server-error.ts';
import { compareTools } from '../../mcp/recorded-tools.ts';
import type { ToolRecords } from '../../mcp/recorded-tools.ts';
import { stateDirectory, type StateOptions } from '../../trust/state-directory.ts';
import {
  createServerSearch,
  findAllServers,
  openTestConnections,
  type ServerConfinement,
} from './manage-servers.ts';
import { openToolRecords } from './tool-records.ts';

/** The result of a test of one server. */
export interface ServerCheck {
  readonly name: string;
  /** The number of tools that it offers now; null if it could not be used. */
  readonly tools: number | null;
  /** The reason why tasks cannot use all its tools; null if they can. */
  readonly problem: string | null;
  /** The next step of the user; null for none. */
  readonly fix: string | null;
}

/** The results of the tests of all servers, and the problems of their files. */
export interface ServerChecks {
  readonly servers: readonly ServerCheck[];
  readonly problems: readonly string[];
}

/**
 * Starts each enabled server, also those of the definitions of agents, at the same time, reads its tools and stops it. Writes nothing. Problems of
 * the user's configuration file are left out.
 */
export async function checkServers(
  state: StateOptions,
  { trustProject, ...confinement }: ServerConfinement & { readonly trustProject: boolean },
): Promise<ServerChecks> {
  const search = await createServerSearch(state, { trustProject });
  const { entries, problems } = await findAllServers(search);
  const enabled = entries.filter(({ isEnabled }) => isEnabled);
  const notices: string[] = [];
  const connections = openTestConnections(state, {
    confinement,
    providers: search.providers,
    storesDemands: false,
    onNotice: (line) => void notices.push(line),
  });
  const records = openToolRecords(stateDirectory(state));
  try {
    return {
      servers: await Promise.all(enabled.map((entry) => checkServer(entry, connections, records))),
      problems: [...problems.map(describeMcpProblem), ...notices],
    };
  } finally {
    await connections.close();
  }
}

async function checkServer(
  entry: McpServerEntry,
  connections: McpConnections,
  records: ToolRecords,
): Promise<ServerCheck> {
  const name = serverId(entry);
  const word = toShellWord(name);
  const { signal } = new AbortController();
  try {
    const server = connections.open(entry);
    const info = await server.start(signal);
    const tools = info.hasTools ? (await server.listTools(signal)).items : [];
    const accepted = records.read(fingerprintServer(entry));
    const isChanged = accepted !== null && compareTools(accepted.tools, tools) !== null;
    return {
      name,
      tools: tools.length,
      problem: isChanged ? 'it offers other tools than you have accepted' : null,
      fix: isChanged
        ? `look with "muster mcp test ${word}", then "muster mcp accept ${word}"`
        : null,
    };
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    return { name, tools: null, ...describeFailure(entry, thrown) };
  }
}

/** Describes why a server cannot be used, and what the user can do. */
function describeFailure(
  entry: McpServerEntry,
  error: MusterError,
): Pick<ServerCheck, 'problem' | 'fix'> {
  const name = serverId(entry);
  // The messages of other errors say what to do.
  if (!(error instanceof McpServerError)) return { problem: error.message, fix: null };
  const { reason: problem, kind } = error;
  const command = `: ${describeLoginCommand(name)}`;
  if (problem.endsWith(command)) {
    return { problem: problem.slice(0, -command.length), fix: formatLoginCommand(name) };
  }
  const fix =
    kind === 'login'
      ? `correct the Authorization header of its entry in ${entry.origin.file}, or remove it, then: ${formatLoginCommand(name)}`
      : `correct its entry in ${entry.origin.file}, then: muster mcp test ${toShellWord(name)}`;
  return { problem, fix };
}
