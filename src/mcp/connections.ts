import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { systemClock, type Clock } from '../base/clock.ts';
import { errorMessage } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import type { HttpFetch } from '../sys/http/http-types.ts';
import { expandTransport, type VariableSource } from './expand-variables.ts';
import { DEFAULT_MESSAGE_LIMITS, type MessageLimits } from './message-lines.ts';
import type { SessionTarget } from './open-session.ts';
import { ServerConnection, type McpConnectionState } from './server-connection.ts';
import type {
  AskForServer,
  McpCallResult,
  McpCompletion,
  McpList,
  McpProgress,
  McpPrompt,
  McpPromptMessages,
  McpResource,
  McpResourceContent,
  McpResourceTemplate,
  McpServerInfo,
  McpStartedCall,
  McpTask,
  McpTool,
} from './server-data.ts';
import { fingerprintServer, type McpServerEntry, type McpToolFilter } from './server-entry.ts';
import type { McpEventListener } from './server-events.ts';
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
  /**
   * Receives the values of variables that an entry uses, before the server starts, so that they can be kept out of
   * logs. Default: none.
   */
  readonly onVariables?: (values: ReadonlyMap<string, string>) => void;
  readonly messageLimits?: MessageLimits;
  readonly clock?: Clock;
}

/** Options of a call. */
export interface McpCallOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: McpProgress) => void;
  /** An id of the caller, by which a question of the server finds its task. Default: none. */
  readonly callId?: string | undefined;
}

/** Options for a task of a server that is followed. */
export interface McpFollowOptions {
  readonly signal: AbortSignal;
  /** Called with each new status of the task, and the server's words about it. All texts are untrusted. */
  readonly onStatus: (status: string, message: string) => void;
  /** As for a call. */
  readonly callId?: string | undefined;
}

/** A use of a server by one task. Every request starts the server if it does not run. */
export interface McpServer {
  readonly entry: McpServerEntry;
  /** Starts the server if necessary, and returns its description of itself. */
  start(signal: AbortSignal): Promise<McpServerInfo>;
  /** Lists the tools that the entry does not exclude. */
  listTools(signal: AbortSignal): Promise<McpList<McpTool>>;
  /** Calls a tool by the server's own name. A call that the server carries out as a task is started only. */
  startCall(tool: string, args: JsonObject, options: McpCallOptions): Promise<McpStartedCall>;
  /**
   * Waits for the result of a task, also one that an earlier process has started. An abort of the signal ends the wait,
   * and the task goes on. If the connection is lost, the task is looked for over the next one.
   */
  followTask(task: McpTask, options: McpFollowOptions): Promise<McpCallResult>;
  /** Tells the server to cancel a task, if it is running. Never rejects. */
  cancelTask(task: McpTask): Promise<void>;
  /** Calls a tool, and waits for its result. */
  callTool(tool: string, args: JsonObject, options: McpCallOptions): Promise<McpCallResult>;
  listResources(signal: AbortSignal): Promise<McpList<McpResource>>;
  listResourceTemplates(signal: AbortSignal): Promise<McpList<McpResourceTemplate>>;
  readResource(uri: string, signal: AbortSignal): Promise<readonly McpResourceContent[]>;
  listPrompts(signal: AbortSignal): Promise<McpList<McpPrompt>>;
  getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<McpPromptMessages>;
  complete(completion: McpCompletion, signal: AbortSignal): Promise<readonly string[]>;
  /**
   * Ends the use. A server that only a definition has, or that has a connection for each user, is stopped with its last
   * use; others run on until they have been idle for long enough.
   */
  release(): Promise<void>;
}

/** The state of one connection, for people. */
export interface McpServerStatus {
  readonly entry: McpServerEntry;
  readonly state: McpConnectionState;
  readonly users: number;
  readonly activeRequests: number;
  readonly info: McpServerInfo | null;
  readonly lastError: string | null;
}

/** The connections of this process to servers. Users of the same entry share one. */
export interface McpConnections {
  /** Creates a use of a server. Nothing is started before the first request. */
  open(entry: McpServerEntry): McpServer;
  status(): readonly McpServerStatus[];
  /** Lets a server that has failed too often start again at the next use. */
  retry(name: string): void;
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
      const isShared = !entry.hasOwnConnection && entry.origin.definition === undefined;
      if (connection.users > 0 || isShared) return;
      this.open_.delete(key);
      await connection.close('released');
    });
  }

  status(): readonly McpServerStatus[] {
    return [...this.open_.values()].map(({ entry, connection }) => ({
      entry,
      state: connection.state,
      users: connection.users,
      activeRequests: connection.activeRequests,
      info: connection.info,
      lastError: connection.lastError,
    }));
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
    const { roots = [], ask, onEvent } = this.options;
    const connection = new ServerConnection({
      entry,
      roots,
      clock: this.clock,
      onEvent: (event) => onEvent?.(entry.name, event),
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
  return { type: 'http', transport, headers: { ...headers, ...added }, fetch };
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

/** One use of a connection. */
class ServerUse implements McpServer {
  readonly entry: McpServerEntry;
  readonly release: () => Promise<void>;
  private readonly connection: ServerConnection;

  constructor(entry: McpServerEntry, connection: ServerConnection, release: () => Promise<void>) {
    this.entry = entry;
    this.connection = connection;
    this.release = release;
  }

  start(signal: AbortSignal): Promise<McpServerInfo> {
    return this.connection.use({ signal }, (session) => Promise.resolve(session.info));
  }

  async listTools(signal: AbortSignal): Promise<McpList<McpTool>> {
    const { items, isComplete } = await this.connection.listTools(signal);
    return { items: items.filter(({ name }) => isOffered(name, this.entry.tools)), isComplete };
  }

  async startCall(
    tool: string,
    args: JsonObject,
    { signal, onProgress, callId }: McpCallOptions,
  ): Promise<McpStartedCall> {
    const { connection } = this;
    const retentionMs = this.entry.limits.taskMs;
    const started = await connection.use({ signal, callId }, async (session, request) => {
      if (await session.offersTasksFor(tool, request.signal)) connection.tasks.requireRoom();
      return await session.startCall({
        tool,
        args,
        signal: request.signal,
        retentionMs,
        onProgress: (progress) => {
          request.touch();
          onProgress?.(progress);
        },
      });
    });
    // The caller has stopped waiting just now.
    if (started.kind === 'task' && signal.aborted) await this.cancelTask(started.task);
    return started;
  }

  followTask(task: McpTask, options: McpFollowOptions): Promise<McpCallResult> {
    return this.connection.tasks.follow(task, options);
  }

  cancelTask(task: McpTask): Promise<void> {
    return this.connection.tasks.cancel(task);
  }

  async callTool(tool: string, args: JsonObject, options: McpCallOptions): Promise<McpCallResult> {
    const started = await this.startCall(tool, args, options);
    if (started.kind === 'result') return started.result;
    const { signal, callId } = options;
    try {
      return await this.followTask(started.task, { signal, callId, onStatus: () => {} });
    } finally {
      if (signal.aborted) await this.cancelTask(started.task);
    }
  }

  listResources(signal: AbortSignal): Promise<McpList<McpResource>> {
    return this.connection.use({ signal }, (session, request) =>
      session.listResources(request.signal),
    );
  }

  listResourceTemplates(signal: AbortSignal): Promise<McpList<McpResourceTemplate>> {
    return this.connection.use({ signal }, (session, request) =>
      session.listResourceTemplates(request.signal),
    );
  }

  readResource(uri: string, signal: AbortSignal): Promise<readonly McpResourceContent[]> {
    return this.connection.use({ signal }, (session, request) =>
      session.readResource(uri, request.signal),
    );
  }

  listPrompts(signal: AbortSignal): Promise<McpList<McpPrompt>> {
    return this.connection.use({ signal }, (session, request) =>
      session.listPrompts(request.signal),
    );
  }

  getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<McpPromptMessages> {
    return this.connection.use({ signal }, (session, request) =>
      session.getPrompt(name, args, request.signal),
    );
  }

  complete(completion: McpCompletion, signal: AbortSignal): Promise<readonly string[]> {
    return this.connection.use({ signal }, (session, request) =>
      session.complete(completion, request.signal),
    );
  }
}

function isOffered(tool: string, { only, except }: McpToolFilter): boolean {
  return (only === null || only.includes(tool)) && !except.includes(tool);
}
