import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { rejectOnAbort } from '../base/async.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import { errorMessage } from '../base/errors.ts';
import type { HttpFetch } from '../sys/http/http-types.ts';
import { expandTransport, type VariableSource } from './expand-variables.ts';
import { DEFAULT_MESSAGE_LIMITS, type MessageLimits } from './message-lines.ts';
import type { SessionTarget } from './open-session.ts';
import type { ConnectionStatus } from './connection-status.ts';
import { ServerConnection } from './server-connection.ts';
import type { AskForServer } from './server-data.ts';
import { fingerprintServer, isUsedPerTask, serverId, type McpServerEntry } from './server-entry.ts';
import { ServerUse, type McpServer } from './server-use.ts';
import type { McpEventListener } from './server-events.ts';
import type { McpLogins } from './server-login.ts';
import {
  buildServerEnvironment,
  createHeadersHelper,
  parseHelperHeaders,
  startUnconfined,
  type RunHeadersHelper,
  type StartServerProcess,
} from './server-process.ts';

/** The parts that connections to servers need from outside. */
export interface McpConnectionsOptions {
  readonly variables: VariableSource;
  readonly http: HttpFetch;
  /** The directory in which servers run whose entry names none. Absolute. */
  readonly cwd: string;
  /** The directories that servers may know as the user's workspace. Default: none. */
  readonly roots?: readonly string[];
  /** Starts the process of a server, for example in the sandbox. Default: without a sandbox. */
  readonly startProcess?: StartServerProcess;
  /** Runs a command that prints headers. Default: in a shell that `startProcess` starts. */
  readonly runHeadersHelper?: RunHeadersHelper;
  /** Asks the user a question of a server. Default: servers are told that nobody can be asked. */
  readonly ask?: AskForServer;
  readonly onEvent?: McpEventListener;
  /** Called after the state of a connection has changed. Default: nobody is told. */
  readonly onStateChange?: () => void;
  /**
   * Receives the values of variables that an entry uses, before the server starts, so that they can be kept out of
   * logs. Default: none.
   */
  readonly onVariables?: (values: ReadonlyMap<string, string>) => void;
  /** The logins to servers. Default: none, so that a server that requires one cannot be used. */
  readonly logins?: McpLogins;
  readonly messageLimits?: MessageLimits;
  readonly clock?: Clock;
}

/** The state of one connection, for people. */
export interface McpServerStatus extends ConnectionStatus {
  readonly entry: McpServerEntry;
}

/** The connections of this process to servers. Users of the same entry share one. */
export interface McpConnections {
  /** Creates a use of a server. Nothing is started before the first request. */
  open(entry: McpServerEntry): McpServer;
  status(): readonly McpServerStatus[];
  /** Lets a server that has failed too often start again at the next use. */
  retry(name: string): void;
  /** Ends the processes of a server and starts them again. Rejects with the error of one that cannot be started. */
  restart(entry: McpServerEntry, signal: AbortSignal): Promise<void>;
  /** Ends the processes of a server until its next use. */
  stop(entry: McpServerEntry): void;
  /** Ends all servers. Every later request fails. */
  close(): Promise<void>;
}

/** Creates the connections of this process. Loads and starts nothing. */
export function createMcpConnections(options: McpConnectionsOptions): McpConnections {
  return new Connections(options);
}

interface OpenConnection {
  readonly entry: McpServerEntry;
  readonly connection: ServerConnection;
}

class Connections implements McpConnections {
  private readonly options: McpConnectionsOptions;
  private readonly clock: Clock;
  /** The connections by the fingerprint of their entry, or by a number if the connection is not shared. */
  private readonly open_ = new Map<string | number, OpenConnection>();
  private nextNumber = 0;
  private isClosed = false;

  constructor(options: McpConnectionsOptions) {
    this.options = options;
    this.clock = options.clock ?? systemClock;
  }

  open(entry: McpServerEntry): McpServer {
    const key = entry.hasOwnConnection ? (this.nextNumber += 1) : fingerprintServer(entry);
    const known = this.open_.get(key);
    const { connection } = known ?? this.add(key, entry);
    connection.users += 1;
    let isReleased = false;
    return new ServerUse(entry, connection, async () => {
      if (isReleased) return;
      isReleased = true;
      connection.users -= 1;
      if (connection.users > 0 || !isUsedPerTask(entry)) return;
      this.open_.delete(key);
      await connection.close('released');
    });
  }

  status(): readonly McpServerStatus[] {
    return [...this.open_.values()].map(({ entry, connection }) =>
      Object.assign({ entry }, connection.status),
    );
  }

  async restart(entry: McpServerEntry, signal: AbortSignal): Promise<void> {
    await Promise.all(
      this.findAll(entry).map(async (connection) => {
        connection.stop('released');
        connection.retry();
        await connection.settle();
        await connection.use({ signal }, (session) => Promise.resolve(session.info));
      }),
    );
  }

  stop(entry: McpServerEntry): void {
    for (const connection of this.findAll(entry)) {
      connection.stop('released');
      // Those who wait for a session that cannot be opened get the error.
      connection.opening?.then(() => connection.stop('released')).catch(() => {});
    }
  }

  private findAll(entry: McpServerEntry): readonly ServerConnection[] {
    const fingerprint = fingerprintServer(entry);
    return [...this.open_.values()].flatMap((each) =>
      fingerprintServer(each.entry) === fingerprint ? [each.connection] : [],
    );
  }

  retry(name: string): void {
    for (const { entry, connection } of this.open_.values()) {
      if (entry.name === name) connection.retry();
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.open_.values()].map(({ connection }) => connection.close('closed')));
  }

  private add(key: string | number, entry: McpServerEntry): OpenConnection {
    const { roots = [], ask, onEvent, onStateChange } = this.options;
    const connection = new ServerConnection({
      entry,
      roots,
      clock: this.clock,
      onEvent: (event) => onEvent?.(entry.name, event),
      onStateChange: () => onStateChange?.(),
      ask: ask ?? null,
      createTarget: (signal) => createTarget(entry, this.options, signal),
    });
    if (this.isClosed) void connection.close('closed');
    const added = { entry, connection };
    this.open_.set(key, added);
    return added;
  }
}

/** Prepares the connection to a server: replaces variables, runs the helper, and says how to start the process. */
async function createTarget(
  entry: McpServerEntry,
  options: McpConnectionsOptions,
  signal: AbortSignal,
): Promise<SessionTarget> {
  const { variables, http, cwd, startProcess = startUnconfined, onVariables } = options;
  const { environment } = variables;
  const limits = options.messageLimits ?? DEFAULT_MESSAGE_LIMITS;
  const { transport, used } = expandTransport(entry, variables);
  if (used.size > 0) onVariables?.(used);
  if (transport.type === 'stdio') {
    const directory = resolve(cwd, transport.cwd ?? '.');
    // The error of the system would name the program instead of the directory.
    if (!existsSync(directory)) throw new Error(`its directory ${directory} does not exist`);
    return {
      type: 'stdio',
      limits,
      startProcess: () =>
        startProcess({
          entry,
          argv: [transport.command, ...transport.args],
          cwd: directory,
          env: buildServerEnvironment(environment, transport.env),
        }),
    };
  }
  const run = options.runHeadersHelper ?? createHeadersHelper(environment, cwd, startProcess);
  const { headersHelper, headers } = transport;
  const added = headersHelper === null ? {} : await readHelper(run, entry, headersHelper, signal);
  // The client for the web is loaded together with the SDK.
  const { createWebFetch } = await import('./web-fetch.ts');
  const fetch = createWebFetch(http, limits.maxMessageBytes);
  const target = { type: 'http', transport, headers: { ...headers, ...added } } as const;
  const { logins } = options;
  if (logins === undefined || hasAuthorization(target.headers)) {
    return { ...target, fetch, login: null };
  }
  const { createServerLogin } = await import('./server-login.ts');
  const access = createServerLogin(serverId(entry), {
    origin: entry.origin,
    transport,
    fetch,
    logins,
  });
  // A renewal that is due now does not count for the time of the first question to the server. One that another process
  // waits for too, or that nobody answers, must not hold up the end of Muster.
  await rejectOnAbort(access.login.token(), signal);
  return { ...target, ...access };
}

/** Tells whether headers contain a key of their own, so that no other one is sent. */
export function hasAuthorization(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}

async function readHelper(
  run: RunHeadersHelper,
  entry: McpServerEntry,
  command: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  try {
    return parseHelperHeaders(await run(entry, command, signal));
  } catch (thrown) {
    throw new Error(`its headersHelper failed: ${errorMessage(thrown)}`, { cause: thrown });
  }
}
