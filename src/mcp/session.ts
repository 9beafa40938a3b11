import {
  LOG_LEVEL_META_KEY,
  UrlElicitationRequiredError,
  type CallToolResult,
  type Client,
  type RequestOptions,
  type Tool,
} from '@modelcontextprotocol/client';
import type { JsonObject } from '../base/json.ts';
import { markAsking, runAsCurrentCall } from './current-call.ts';
import { readAllPages, type ListPage } from './list-pages.ts';
import { hasInvalidParamHeaders } from './param-headers.ts';
import {
  readTaskSupport,
  toMcpCallResult,
  toMcpPrompt,
  toMcpPromptMessages,
  toMcpResource,
  toMcpResourceContent,
  toMcpResourceTemplate,
  toMcpTool,
} from './read-results.ts';
import { McpServerError } from './server-error.ts';
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
  McpTaskRevision,
  McpTool,
} from './server-data.ts';
import type { TaskObserver, TaskSession } from './server-tasks.ts';
import { quoteOneLine, toServerError } from './session-errors.ts';
import { callAsTask, findTaskRevision, readTaskInMeta } from './task-messages.ts';

/** The limit that the SDK gets for each request: the longest that a timer allows. Muster has limits of its own. */
const NO_LIMIT_MS = 2 ** 31 - 1;
/** The least severe messages of a server that are of interest. */
const LOG_LEVEL = 'info';
/** The maximum length of a progress message. */
const MAX_PROGRESS_LENGTH = 200;

/** The beginning of the progress that the SDK itself reports when a server asks the user. */
const QUESTION_PROGRESS = 'Fulfilling input required by';

/** One call of a tool. */
export interface McpCall {
  readonly tool: string;
  readonly args: JsonObject;
  readonly signal: AbortSignal;
  /** The time for which the server shall keep the call if it runs as a task. */
  readonly retentionMs: number;
  readonly onProgress: (progress: McpProgress) => void;
  /** An id of the caller, by which a question of the server finds its task. Absent if there is none. */
  readonly callId?: string;
}

/** The parts of an open connection that `openServerSession` (open-session.ts) puts together. */
export interface McpSessionParts {
  readonly server: string;
  readonly client: Client;
  /** Whether the revision 2026-07-28 or a later one was negotiated. */
  readonly isModern: boolean;
  readonly isHttp: boolean;
  /** Returns the reason for the end of the connection; null if it is open or the reason is not known. */
  readonly getEndReason: () => string | null;
  /** Returns the end of what its process has printed to stderr; empty if it has none. */
  readonly readErrorOutput: () => string;
  readonly onProblem: (message: string) => void;
  /** Asks the user. Null if nobody can be asked. */
  readonly ask: AskForServer | null;
  /** Asks the user as the SDK does for a request of the server. Null if nobody can be asked. */
  readonly elicit: TaskSession['ask'];
  /** Ends the connection and whatever was started for it. */
  readonly close: () => Promise<void>;
}

/** The requests to a server over an open connection. All of them reject with an McpServerError. */
export class McpSession {
  readonly info: McpServerInfo;
  readonly isModern: boolean;
  /** The revision by which the server offers tasks; null if it offers none. */
  readonly taskRevision: McpTaskRevision | null;
  private readonly parts: McpSessionParts;
  private readonly client: Client;
  /** The tools of the last list. The SDK needs the definition of a tool to send arguments in headers. */
  private tools: ReadonlyMap<string, Tool> = new Map();

  constructor(parts: McpSessionParts) {
    this.parts = parts;
    this.client = parts.client;
    this.isModern = parts.isModern;
    this.info = readInfo(parts.client);
    this.taskRevision = findTaskRevision(parts.client);
  }

  /** The end of what the process of the server has printed to stderr; empty if it has none. */
  get errorOutput(): string {
    return this.parts.readErrorOutput();
  }

  async listTools(signal: AbortSignal): Promise<McpList<McpTool>> {
    if (!this.info.hasTools) return { items: [], isComplete: true };
    const list = await this.list(signal, async (params, options) => {
      const { tools, nextCursor } = await this.client.request(
        { method: 'tools/list', params },
        options,
      );
      return { items: tools, nextCursor };
    });
    const valid = list.items.filter((tool) => this.isUsable(tool));
    this.tools = new Map(valid.map((tool) => [tool.name, tool]));
    const { taskRevision } = this;
    const items = valid.map((tool) => toMcpTool(tool, taskRevision));
    return { items, isComplete: list.isComplete };
  }

  /** Sends a call. The server answers with the result, or carries the call out as a task. */
  async startCall(call: McpCall): Promise<McpStartedCall> {
    const { callId } = call;
    return await (callId === undefined
      ? this.callOrAsk(call)
      : runAsCurrentCall(callId, () => this.callOrAsk(call)));
  }

  private async callOrAsk(call: McpCall): Promise<McpStartedCall> {
    try {
      return await this.sendCall(call);
    } catch (thrown) {
      const cause = thrown instanceof McpServerError ? thrown.cause : undefined;
      if (!(cause instanceof UrlElicitationRequiredError)) throw thrown;
      // The server has not carried out the call: it first wants the user to open a page.
      if (!(await this.askToOpenPages(cause, call))) throw thrown;
      return await this.sendCall(call);
    }
  }

  /** Tells whether the server can carry out calls of a tool as tasks. */
  async offersTasksFor(tool: string, signal: AbortSignal): Promise<boolean> {
    // A server of the older revision says it in its list of tools, which nobody has read after a restart.
    if (this.taskRevision === '2025-11-25' && this.tools.size === 0) await this.listTools(signal);
    const definition = this.tools.get(tool);
    return definition !== undefined && readTaskSupport(definition, this.taskRevision) !== undefined;
  }

  /** Waits for the result of a task. An abort of the signal ends the wait, and the task goes on. */
  async followTask(task: McpTask, observer: TaskObserver): Promise<McpCallResult> {
    return await this.request(observer.signal, async () => {
      const { waitForTask } = await import('./server-tasks.ts');
      return toMcpCallResult(await waitForTask(this.taskSession, task, observer));
    });
  }

  /** Tells the server to cancel a task. Never rejects. */
  async cancelTask(task: McpTask): Promise<void> {
    const { cancelTask } = await import('./server-tasks.ts');
    await cancelTask(this.taskSession, task);
  }

  async listResources(signal: AbortSignal): Promise<McpList<McpResource>> {
    if (!this.info.hasResources) return { items: [], isComplete: true };
    return await this.list(signal, async (params, options) => {
      const page = await this.client.request({ method: 'resources/list', params }, options);
      return { items: page.resources.map(toMcpResource), nextCursor: page.nextCursor };
    });
  }

  async listResourceTemplates(signal: AbortSignal): Promise<McpList<McpResourceTemplate>> {
    if (!this.info.hasResources) return { items: [], isComplete: true };
    return await this.list(signal, async (params, options) => {
      const page = await this.client.request(
        { method: 'resources/templates/list', params },
        options,
      );
      return {
        items: page.resourceTemplates.map(toMcpResourceTemplate),
        nextCursor: page.nextCursor,
      };
    });
  }

  async readResource(uri: string, signal: AbortSignal): Promise<readonly McpResourceContent[]> {
    this.require(this.info.hasResources, 'resources');
    return await this.request(signal, async (options) => {
      const { contents } = await this.client.readResource(
        { uri },
        { ...options, cacheMode: 'bypass' },
      );
      return contents.map(toMcpResourceContent);
    });
  }

  async listPrompts(signal: AbortSignal): Promise<McpList<McpPrompt>> {
    if (!this.info.hasPrompts) return { items: [], isComplete: true };
    return await this.list(signal, async (params, options) => {
      const page = await this.client.request({ method: 'prompts/list', params }, options);
      return { items: page.prompts.map(toMcpPrompt), nextCursor: page.nextCursor };
    });
  }

  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<McpPromptMessages> {
    this.require(this.info.hasPrompts, 'prompts');
    return await this.request(signal, async (options) =>
      toMcpPromptMessages(await this.client.getPrompt({ name, arguments: { ...args } }, options)),
    );
  }

  async complete(
    { of, argument, value, known }: McpCompletion,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    this.require(this.info.hasCompletion, 'completion');
    const ref =
      'prompt' in of
        ? ({ type: 'ref/prompt', name: of.prompt } as const)
        : ({ type: 'ref/resource', uri: of.uriTemplate } as const);
    return await this.request(signal, async (options) => {
      const context = known === undefined ? {} : { context: { arguments: { ...known } } };
      const params = { ref, argument: { name: argument, value }, ...context };
      return (await this.client.complete(params, options)).completion.values;
    });
  }

  async close(): Promise<void> {
    await this.parts.close();
  }

  private get taskSession(): TaskSession {
    const { server, client, elicit } = this.parts;
    return { server, client, revision: this.taskRevision, ask: elicit };
  }

  private async sendCall(call: McpCall): Promise<McpStartedCall> {
    const { tool, args, signal, retentionMs, onProgress, callId } = call;
    this.require(this.info.hasTools, 'tools');
    const isOffered = await this.offersTasksFor(tool, signal);
    const asTask = this.taskRevision === '2025-11-25' && isOffered;
    const definition = this.tools.get(tool);
    const meta = this.isModern ? { _meta: { [LOG_LEVEL_META_KEY]: LOG_LEVEL } } : {};
    return await this.request(signal, async (options) => {
      const params = { name: tool, arguments: { ...args } };
      const watched: RequestOptions = {
        ...options,
        onprogress: ({ progress, total, message }) => {
          if (message?.startsWith(QUESTION_PROGRESS) === true) {
            if (callId !== undefined) markAsking(callId);
            return;
          }
          onProgress({
            progress,
            ...(total === undefined ? {} : { total }),
            ...(message === undefined ? {} : { message: message.slice(0, MAX_PROGRESS_LENGTH) }),
          });
        },
      };
      const answer = asTask
        ? await callAsTask(this.client, params, { ...watched, retentionMs })
        : await this.client.callTool(
            { ...params, ...meta },
            { ...watched, ...(definition === undefined ? {} : { toolDefinition: definition }) },
          );
      const task = 'revision' in answer ? (answer as McpTask) : readTaskInMeta(answer);
      if (task !== null) return { kind: 'task', task };
      return { kind: 'result', result: toMcpCallResult(answer as CallToolResult) };
    });
  }

  private async askToOpenPages(
    { elicitations }: UrlElicitationRequiredError,
    { signal, callId }: McpCall,
  ): Promise<boolean> {
    const { ask, server } = this.parts;
    if (ask === null) return false;
    for (const { message, url } of elicitations) {
      const callIds = callId === undefined ? [] : [callId];
      const { action } = await ask({ server, message, mode: 'url', url, callIds }, signal);
      if (action !== 'accept') return false;
    }
    return elicitations.length > 0;
  }

  private isUsable({ name, inputSchema }: Tool): boolean {
    const { isHttp, onProblem } = this.parts;
    const isUsable =
      !isHttp || !this.isModern || !hasInvalidParamHeaders(inputSchema as JsonObject);
    if (!isUsable) onProblem(`the tool ${quoteOneLine(name)} has an invalid x-mcp-header`);
    return isUsable;
  }

  private require(isOffered: boolean, feature: string): void {
    if (isOffered) return;
    const { server } = this.parts;
    throw new McpServerError(`it offers no ${feature}`, { server, kind: 'unsupported' });
  }

  private async list<Item>(
    signal: AbortSignal,
    readPage: (params: { cursor?: string }, options: RequestOptions) => Promise<ListPage<Item>>,
  ): Promise<McpList<Item>> {
    return await this.request(signal, (options) =>
      readAllPages((cursor) => readPage(cursor === undefined ? {} : { cursor }, options)),
    );
  }

  private async request<T>(
    signal: AbortSignal,
    send: (options: RequestOptions) => Promise<T>,
  ): Promise<T> {
    const { server, getEndReason } = this.parts;
    try {
      signal.throwIfAborted();
      return await send({ signal, timeout: NO_LIMIT_MS });
    } catch (thrown) {
      throw toServerError(thrown, { server, signal, endReason: getEndReason() });
    }
  }
}

function readInfo(client: Client): McpServerInfo {
  const { name = '', version = '' } = client.getServerVersion() ?? {};
  const capabilities = client.getServerCapabilities();
  return {
    name,
    version,
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    instructions: client.getInstructions() ?? '',
    hasTools: capabilities?.tools !== undefined,
    hasResources: capabilities?.resources !== undefined,
    hasPrompts: capabilities?.prompts !== undefined,
    hasCompletion: capabilities?.completions !== undefined,
  };
}

/** Asks a server of an older revision to send its log messages. A server may refuse that. */
export async function requestLogMessages(client: Client): Promise<void> {
  try {
    await client.setLoggingLevel(LOG_LEVEL);
  } catch {
    // Without the request, the server sends what it considers right.
  }
}
