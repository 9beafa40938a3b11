import type { JsonObject } from '../base/json.ts';
import type { ServerConnection } from './server-connection.ts';
import type {
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
import type { McpServerEntry, McpToolFilter } from './server-entry.ts';
import type { TaskOfCall } from './server-place.ts';

/** The tools that a server offers over one connection. */
export interface ToolOffer {
  /** Identifies the list: it is the same object as long as the session runs and announces no change. */
  readonly version: object;
  list(): Promise<readonly McpTool[]>;
}

/** Options of a call. */
export interface McpCallOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: McpProgress) => void;
  /** An id of the caller, by which a question of the server finds its task. Default: none. */
  readonly callId?: string | undefined;
  /** The task that calls. Default: nobody's call, in the directories of the session. */
  readonly task?: TaskOfCall;
  /**
   * Called before the call is sent, also before it is sent again over another connection. Rejects if the call must not be
   * sent. Default: nothing is checked.
   */
  readonly checkOffer?: (offer: ToolOffer) => Promise<void>;
}

/** Options for a task of a server that is followed. */
export interface McpFollowOptions {
  readonly signal: AbortSignal;
  /** Called with each new status of the task, and the server's words about it. All texts are untrusted. */
  readonly onStatus: (status: string, message: string) => void;
  /** As for a call. */
  readonly callId?: string | undefined;
  /** As for a call. */
  readonly task?: TaskOfCall;
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
   * Ends the use. A server of a definition or of a workspace, and one that has a connection for each user, is stopped with
   * its last use; others run on until they have been idle for long enough.
   */
  release(): Promise<void>;
}

/** One use of a connection. */
export class ServerUse implements McpServer {
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
    { signal, onProgress, callId, checkOffer }: McpCallOptions,
  ): Promise<McpStartedCall> {
    const { connection } = this;
    const retentionMs = this.entry.limits.taskMs;
    const started = await connection.use({ signal, callId }, async (session, request) => {
      if (checkOffer !== undefined) await this.checkPresentOffer(checkOffer, request.signal);
      request.touch();
      if (await session.offersTasksFor(tool, request.signal)) connection.tasks.requireRoom();
      return await session.startCall({
        tool,
        args,
        signal: request.signal,
        retentionMs,
        ...(callId === undefined ? {} : { callId }),
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

  /** Checks again if the list of tools has changed meanwhile. */
  private async checkPresentOffer(
    check: (offer: ToolOffer) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const version = this.connection.offer;
    const list = async () => (await this.listTools(signal)).items;
    await check({ version, list });
    signal.throwIfAborted();
    if (this.connection.offer !== version) await this.checkPresentOffer(check, signal);
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
