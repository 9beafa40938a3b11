import {
  Client,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  type AuthProvider,
  type ClientOptions,
  type ElicitRequest,
  type ElicitResult,
  type FetchLike,
  type Transport,
} from '@modelcontextprotocol/client';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { JsonObject } from '../base/json.ts';
import { VERSION } from '../base/version.ts';
import {
  createSseTransport,
  createStreamingTransport,
  StreamingTransport,
  type HttpConnection,
} from './http-transports.ts';
import { describeFailedConnection, FetchWatch } from './connection-failure.ts';
import type { MessageLimits } from '../sys/processes/message-lines.ts';
import type { AskForServer } from './server-data.ts';
import { McpServerError } from './server-error.ts';
import type { HttpTransport } from './server-entry.ts';
import type { ServerProcess } from '../sys/processes/server-process.ts';
import type { TaskSession } from './server-tasks.ts';
import { quoteOneLine, toServerError } from './session-errors.ts';
import { findCurrentCall } from './current-call.ts';
import { McpSession, requestLogMessages } from './session.ts';
import { StdioServerTransport } from './stdio-transport.ts';
import { findTaskRevision, TASKS_EXTENSION, translateTaskMessages } from './task-messages.ts';

/** The time for the answer to the first question, after which a server counts as one of an older revision. */
const PROBE_MS = 10_000;
/** The time in which a server may answer that a session has ended. */
const GOODBYE_MS = 1000;
/** The statuses with which a server answers that does not know streamable HTTP. */
const TRY_SSE = new Set([400, 404, 405, 406, 415]);
/** The beginning of the error with which the SDK reports the progress of a call that has ended. */
const LATE_PROGRESS = 'Received a progress notification for an unknown token';
/** The maximum length of the text of a log message. */
const MAX_LOG_LENGTH = 4000;

/** The lists of a server that can change. */
export type McpListKind = 'tools' | 'resources' | 'prompts';

/** The reactions to what a server does by itself. */
export interface SessionHandlers {
  /** The connection has ended without being closed by Muster. Called at most once. */
  readonly onLost: (reason: string) => void;
  /** The server did something wrong that does not end the connection. */
  readonly onProblem: (message: string) => void;
  readonly onListChanged: (list: McpListKind) => void;
  readonly onLog: (level: string, text: string, callIds: readonly string[]) => void;
  /** Asks the user. Null if nobody can be asked: the server is then told so when the connection opens. */
  readonly ask: AskForServer | null;
  /** Returns the ids of the calls that are running. */
  readonly listCallIds: () => readonly string[];
}

/** A session to open. */
export interface SessionRequest extends SessionHandlers {
  readonly server: string;
  readonly target: SessionTarget;
  /** The directories that the server may know as the user's workspace. Absolute. Empty for none. */
  readonly roots: readonly string[];
  readonly startMs: number;
  /** Aborts the opening. An abort after the session is open has no effect. */
  readonly signal: AbortSignal;
  /** Whether the server is known to speak only revisions before 2026-07-28, so that it is not asked again. */
  readonly isKnownAsOld: boolean;
}

/** The server to which a session is opened. */
export type SessionTarget =
  | {
      readonly type: 'stdio';
      readonly limits: MessageLimits;
      readonly startProcess: () => Promise<ServerProcess>;
    }
  | {
      readonly type: 'http';
      readonly transport: HttpTransport;
      readonly headers: Readonly<Record<string, string>>;
      readonly fetch: FetchLike;
      readonly login: AuthProvider | null;
    };

/**
 * Connects to a server and agrees on a revision of the protocol. Rejects with an McpServerError; whatever was started
 * has ended then.
 */
export async function openServerSession(request: SessionRequest): Promise<McpSession> {
  const { target } = request;
  if (target.type === 'http') return await openHttp(request, target);
  const { startProcess, limits } = target;
  const start = async (isOld: boolean): Promise<McpSession> => {
    const transport = new StdioServerTransport(await startProcess(), limits);
    const describe: DescribeFailure = (error) => {
      // The reason for the end of a connection quotes stderr already.
      const stderr = error.kind === 'lost' ? '' : transport.quoteStderr();
      return `it could not be started: ${error.reason}${stderr}`;
    };
    return await connect(request, transport, { isOld, describe });
  };
  if (request.isKnownAsOld) return await start(true);
  try {
    return await start(false);
  } catch (thrown) {
    // Some servers of older revisions end when they get a request that they do not know.
    if (request.signal.aborted || !isLostWhileAsking(thrown)) throw thrown;
    return await start(true);
  }
}

function isLostWhileAsking(thrown: unknown): boolean {
  const cause = thrown instanceof McpServerError ? thrown.cause : undefined;
  return cause instanceof SdkError && cause.code === SdkErrorCode.EraNegotiationFailed;
}

async function openHttp(request: SessionRequest, target: HttpConnection): Promise<McpSession> {
  const watch = new FetchWatch(target.fetch);
  const connection = { ...target, fetch: watch.fetch };
  const { url, type } = target.transport;
  const describe: DescribeFailure = (error) =>
    describeFailedConnection({ url, error, failure: watch.failure });
  const open = (transport: Transport, isOld: boolean) =>
    connect(request, transport, { isOld, describe });
  const openSse = () => open(createSseTransport(connection), true);
  if (type === 'sse') return await openSse();
  try {
    return await open(createStreamingTransport(connection), request.isKnownAsOld);
  } catch (thrown) {
    const cause = thrown instanceof McpServerError ? thrown.cause : undefined;
    if (!(cause instanceof SdkHttpError) || !TRY_SSE.has(cause.status)) throw thrown;
    try {
      return await openSse();
    } catch {
      // The first error says more: the entry asks for streamable HTTP.
      throw thrown;
    }
  }
}

/** Describes why a connection could not be opened. `error`: the failure of the first request. */
type DescribeFailure = (error: McpServerError) => string;

async function connect(
  request: SessionRequest,
  transport: Transport,
  { isOld, describe }: { readonly isOld: boolean; readonly describe: DescribeFailure },
): Promise<McpSession> {
  const { server, signal, startMs, onProblem } = request;
  const client = new Client({ name: 'muster', version: VERSION }, createOptions(request));
  const state = { isOpen: false, isClosing: false, streamError: null as string | null };
  const getEndReason = (): string | null =>
    transport instanceof StdioServerTransport ? transport.endReason : state.streamError;
  const close = async (): Promise<void> => {
    state.isClosing = true;
    if (state.isOpen && transport instanceof StreamingTransport) await endHttpSession(transport);
    await client.close();
    // The SDK forgets a transport that has closed itself, but the process of a server may still be ending.
    await transport.close();
  };
  const lose = (reason: string): void => {
    if (!state.isOpen || state.isClosing) return;
    state.isClosing = true;
    request.onLost(reason);
  };
  registerHandlers(client, request);
  const report = (error: Error): void => {
    if (transport instanceof StreamingTransport && transport.isReportingEnd) return;
    // The SDK handles the last progress of a call after its result.
    if (state.isClosing || error.message.startsWith(LATE_PROGRESS)) return;
    onProblem(quoteOneLine(error.message));
  };
  transport.onerror = (error) => {
    // Until the revision is agreed on, the SDK reports errors only here. Those of HTTP are the answers by which servers
    // of older revisions are recognized.
    if (!state.isOpen && transport instanceof StdioServerTransport) report(error);
    if (state.isOpen && transport instanceof SSEClientTransport) {
      // Without its stream of events, the connection cannot receive anything.
      state.streamError ??= `its stream of events failed: ${quoteOneLine(error.message)}`;
      void transport.close();
    }
  };
  client.onerror = (error) => {
    if (state.isOpen) report(error);
  };
  client.onclose = () => lose(getEndReason() ?? 'the connection was closed');
  const abort = (): void => void transport.close();
  signal.addEventListener('abort', abort, { once: true });
  try {
    signal.throwIfAborted();
    await client.connect(transport, {
      timeout: startMs,
      ...(isOld ? { prior: { kind: 'legacy' } } : {}),
    });
    signal.throwIfAborted();
  } catch (thrown) {
    const error = toServerError(thrown, { server, signal, endReason: getEndReason() });
    await close().catch(() => {});
    if (error.kind === 'closed' || error.kind === 'login') throw error;
    throw new McpServerError(describe(error), {
      server,
      kind: error.kind === 'cancelled' ? error.kind : 'start',
      cause: thrown,
    });
  } finally {
    signal.removeEventListener('abort', abort);
  }
  const isModern = client.getProtocolEra() === 'modern';
  if (!isModern && client.getServerCapabilities()?.logging !== undefined) {
    await requestLogMessages(client);
  }
  state.isOpen = true;
  const isHttp = !(transport instanceof StdioServerTransport);
  if (findTaskRevision(client) === '2026-07-28') translateTaskMessages(transport);
  const { ask } = request;
  const elicit = createElicit(request);
  const readErrorOutput = (): string =>
    transport instanceof StdioServerTransport ? transport.stderr.read() : '';
  return new McpSession({
    server,
    client,
    isModern,
    isHttp,
    getEndReason,
    readErrorOutput,
    onProblem,
    ask,
    elicit,
    close,
  });
}

function createOptions({ roots, onListChanged, ask }: SessionRequest): ClientOptions {
  const watch = (list: McpListKind) => ({
    autoRefresh: false,
    debounceMs: 0,
    onChanged: () => onListChanged(list),
  });
  return {
    capabilities: {
      ...(ask === null ? {} : { elicitation: { form: {}, url: {} } }),
      ...(roots.length === 0 ? {} : { roots: {} }),
      extensions: { [TASKS_EXTENSION]: {} },
    },
    versionNegotiation: { mode: 'auto', probe: { timeoutMs: PROBE_MS } },
    listChanged: {
      tools: watch('tools'),
      prompts: watch('prompts'),
      resources: watch('resources'),
    },
    // Results stay data: the model reads them, and no code relies on their form.
    jsonSchemaValidator: {
      getValidator: () => (input) => ({
        valid: true,
        data: input as never,
        errorMessage: undefined,
      }),
    },
  };
}

function registerHandlers(
  client: Client,
  { server, roots, onLog, ask, listCallIds }: SessionRequest,
): void {
  client.setNotificationHandler('notifications/message', ({ params }) => {
    const { level, logger, data } = params;
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    const source = logger === undefined ? '' : `${logger}: `;
    onLog(level, `${source}${text ?? ''}`.slice(0, MAX_LOG_LENGTH), findCallIds(listCallIds));
  });
  if (roots.length > 0) {
    client.setRequestHandler('roots/list', () => ({
      roots: roots.map((root) => ({ uri: pathToFileURL(root).href, name: basename(root) })),
    }));
  }
  const elicit = createElicit({ server, ask, listCallIds });
  if (elicit === null) return;
  client.setRequestHandler(
    'elicitation/create',
    async ({ params }, { mcpReq }) => await elicit(params, mcpReq.signal),
  );
}

/** Creates the function that answers a question of the server. Null if nobody can be asked. */
function createElicit({
  server,
  ask,
  listCallIds,
}: Pick<SessionRequest, 'server' | 'ask' | 'listCallIds'>): TaskSession['ask'] {
  if (ask === null) return null;
  return async (params, signal) => {
    const question = { server, message: params.message, callIds: findCallIds(listCallIds) };
    return await toElicitResult(ask, params, question, signal);
  };
}

/** Returns the id of the call in whose answer a message arrived, or else the ids of all calls that are running. */
function findCallIds(listCallIds: () => readonly string[]): readonly string[] {
  const id = findCurrentCall();
  return id === undefined ? listCallIds() : [id];
}

async function toElicitResult(
  ask: AskForServer,
  params: ElicitRequest['params'],
  question: {
    readonly server: string;
    readonly message: string;
    readonly callIds: readonly string[];
  },
  signal: AbortSignal,
): Promise<ElicitResult> {
  const answer = await ask(
    params.mode === 'url'
      ? { ...question, mode: 'url', url: params.url }
      : { ...question, mode: 'form', schema: params.requestedSchema as unknown as JsonObject },
    signal,
  );
  if (answer.action !== 'accept') return { action: answer.action };
  return params.mode === 'url'
    ? { action: 'accept' }
    : { action: 'accept', content: { ...answer.content } };
}

/** Tells a server that a session has ended, without waiting long for the answer. */
async function endHttpSession(transport: StreamingTransport): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const timer = setTimeout(timeout.resolve, GOODBYE_MS);
  // A server may not know the request, or may be gone.
  await Promise.race([transport.terminateSession().catch(() => {}), timeout.promise]);
  clearTimeout(timer);
}
