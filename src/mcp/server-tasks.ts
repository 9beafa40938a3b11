import {
  isCallToolResult,
  ProtocolError,
  type CallToolResult,
  type Client,
  type ElicitRequest,
  type ElicitResult,
} from '@modelcontextprotocol/client';
import {
  withTasks,
  type ApplicationInputHandler,
  type ConnectedMcpSessionPort,
  type JsonRpcResponse,
  type SerializedTaskReference,
  type TaskOutcome,
  type TaskView,
} from '@modelcontextprotocol/ext-tasks/client';
import { rejectOnAbort } from '../base/async.ts';
import type { JsonObject } from '../base/json.ts';
import { formatDuration } from '../base/text.ts';
import { McpServerError } from './server-error.ts';
import type { McpTask, McpTaskRevision } from './server-data.ts';
import { quoteOneLine } from './session-errors.ts';
import { ANY_RESULT, requestOfTask } from './task-messages.ts';

/** The limits of the time between two questions for the state of a task, whatever the server suggests. */
const MIN_POLL_MS = 100;
const MAX_POLL_MS = 30_000;
/** The limit that the SDK gets for each request: the longest that a timer allows. Muster has limits of its own. */
const NO_LIMIT_MS = 2 ** 31 - 1;
/** The time in which a server may answer that it has cancelled a task. */
const CANCEL_MS = 1_500;
/** The maximum number of questions that one task may ask the user. */
const MAX_QUESTIONS = 20;

/** The parts of a session with which a task is followed. */
export interface TaskSession {
  readonly server: string;
  readonly client: Client;
  readonly revision: McpTaskRevision | null;
  /** Asks the user a question of the server, as for a request of the server outside a task. Null if nobody can be asked. */
  readonly ask:
    | ((params: ElicitRequest['params'], signal: AbortSignal) => Promise<ElicitResult>)
    | null;
}

/** Receives the news about a task that is followed. */
export interface TaskObserver {
  /** Aborts the wait. The task goes on in the server. */
  readonly signal: AbortSignal;
  /** Called after each answer of the server. */
  readonly onAnswer: () => void;
  /** Called with each new status, and the server's words about it. */
  readonly onStatus: (status: string, message: string) => void;
}

/** The outcome of a task, as the library reports it. */
type Outcome = TaskOutcome<unknown>;

/**
 * Waits for the result of a task, and asks the user what the task needs to know. Rejects with an McpServerError if the
 * task failed, was cancelled, or is not known to the server, and with the error of the request if a request failed.
 */
export async function waitForTask(
  session: TaskSession,
  task: McpTask,
  observer: TaskObserver,
): Promise<CallToolResult> {
  const { signal, onStatus } = observer;
  requireRevision(session, task);
  const own = new AbortController();
  const until = AbortSignal.any([signal, own.signal]);
  const port = new TaskPort(session, until, observer.onAnswer);
  const tasks = withTasks(port, {
    tools: { currentTool: () => undefined },
    maxInputRounds: MAX_QUESTIONS,
    onError: () => {},
    onInputRequest: createInputHandler(session, (error) => own.abort(error)),
  });
  try {
    const execution = await tasks.resumeTask(toReference(task), { signal: until });
    const early = Promise.withResolvers<Outcome>();
    let last = { status: '', message: '' };
    const settled = execution.settle({
      signal: until,
      onEvent: (event) => {
        if (event.type !== 'task') return;
        const { status, statusMessage = '', retentionMs } = event.task;
        port.retentionMs = retentionMs;
        const message = quoteOneLine(statusMessage);
        // Servers change the time of a task without anything else.
        if (status !== last.status || message !== last.message) onStatus(status, message);
        last = { status, message };
        if (status === 'input_required' && task.revision === '2025-11-25') {
          fetchResultOnce(port, event.task, early.resolve);
        }
      },
    });
    const ended = Promise.race([settled.then(({ outcome }) => outcome), early.promise]);
    const outcome = await rejectOnAbort<Outcome>(ended, until);
    port.throwFailure();
    return takeResult(session, outcome);
  } catch (thrown) {
    until.throwIfAborted();
    port.throwFailure();
    throw thrown;
  } finally {
    own.abort(new Error('the task is not followed any more'));
    await tasks.close();
  }
}

/** Returns the result of a task that has completed. Throws an McpServerError for any other outcome. */
function takeResult({ server }: TaskSession, outcome: Outcome): CallToolResult {
  switch (outcome.status) {
    case 'completed':
      // The library has checked the result.
      return outcome.result as CallToolResult;
    case 'cancelled': {
      const details = { server, kind: 'refused', isOutcomeUnknown: true } as const;
      throw new McpServerError('the server has cancelled the task', details);
    }
    case 'failed': {
      const message = `the task failed: ${quoteOneLine(outcome.error.message)}`;
      throw new McpServerError(message, { server, kind: 'refused' });
    }
    default:
      return outcome satisfies never;
  }
}

/** Tells the server to cancel a task. Waits a moment for its answer. Never rejects. */
export async function cancelTask(session: TaskSession, task: McpTask): Promise<void> {
  if (session.revision !== task.revision) return;
  const request = requestOfTask(task.revision, 'tasks/cancel', { taskId: task.id });
  try {
    await session.client.request(request, ANY_RESULT, { timeout: CANCEL_MS });
  } catch {
    // The task may have ended, or the server may be gone. Nobody waits for the task any more.
  }
}

function requireRevision({ server, revision }: TaskSession, task: McpTask): void {
  if (revision === task.revision) return;
  const message = `the server no longer offers tasks of the revision ${task.revision}`;
  throw new McpServerError(message, { server, kind: 'unsupported', isOutcomeUnknown: true });
}

function toReference({ id, revision }: McpTask): SerializedTaskReference {
  const generation = revision === '2025-11-25' ? 'v1' : 'v2';
  const taskId = id as SerializedTaskReference['taskId'];
  return { endpointId: ENDPOINT, generation, taskId, originalOperation: 'tools/call' };
}

/** The name by which references belong to a connection. Each task is followed by a session of its own. */
const ENDPOINT = 'muster';

/**
 * Asks a server of the revision 2025-11-25 for the result of a task that needs input. The server sends its question
 * with the answer to that request, which ends with the task.
 */
function fetchResultOnce(
  port: TaskPort,
  { taskId }: TaskView,
  onOutcome: (outcome: Outcome) => void,
): void {
  if (port.isResultRequested) return;
  port.isResultRequested = true;
  const request = { method: 'tasks/result', params: { taskId } };
  port.dispatch(request).then(
    (response) => {
      const result = response.kind === 'result' ? response.result : null;
      if (isCallToolResult(result)) onOutcome({ status: 'completed', result });
      return undefined;
    },
    // A failure is found by the next question for the state.
    () => undefined,
  );
}

/** `fail`: gives up the task, which would otherwise wait forever for something that Muster does not answer. */
function createInputHandler(
  { server, ask }: TaskSession,
  fail: (error: McpServerError) => void,
): ApplicationInputHandler['handle'] {
  return async (request, { signal }) => {
    if (request.kind !== 'elicitation') {
      const message = `the task asks for ${request.kind}, which is not supported`;
      const error = new McpServerError(message, { server, kind: 'unsupported' });
      fail(error);
      throw error;
    }
    // The library asks for one type that fits all kinds of requests.
    if (ask === null) return { action: 'cancel' } as never;
    const until = signal ?? new AbortController().signal;
    return (await ask(request.params as unknown as ElicitRequest['params'], until)) as never;
  };
}

/** The requests about one task, for the library that follows it. */
class TaskPort implements ConnectedMcpSessionPort {
  readonly endpointId = ENDPOINT;
  readonly taskCapabilities: ConnectedMcpSessionPort['taskCapabilities'];
  readonly invalidated = false;
  isResultRequested = false;
  /** The time for which the server keeps the task; null if it is not known. */
  retentionMs: number | null = null;
  private readonly session: TaskSession;
  private readonly signal: AbortSignal;
  /** The first error of a request that the server has not answered. */
  private failure: unknown;
  /** The error with which the server has answered the question for the state of the task. */
  private unknownTask: string | null = null;

  private readonly onAnswer: () => void;

  constructor(session: TaskSession, signal: AbortSignal, onAnswer: () => void) {
    this.session = session;
    this.signal = signal;
    this.onAnswer = onAnswer;
    this.taskCapabilities =
      session.revision === '2026-07-28'
        ? { generation: 'v2', capabilities: {} }
        : { generation: 'v1', capabilities: { cancel: {} } };
  }

  async dispatch(
    request: Parameters<ConnectedMcpSessionPort['dispatch']>[0],
    options: Parameters<ConnectedMcpSessionPort['dispatch']>[1] = {},
  ): Promise<JsonRpcResponse> {
    const { client, revision } = this.session;
    const { method, params } = request as { method: string; params: JsonObject };
    const signal =
      options.signal === undefined ? this.signal : AbortSignal.any([this.signal, options.signal]);
    const known = revision ?? '2025-11-25';
    try {
      const result = await client.request(requestOfTask(known, method, params), ANY_RESULT, {
        signal,
        timeout: NO_LIMIT_MS,
      });
      this.onAnswer();
      const complete = known === '2026-07-28' ? { resultType: 'complete' } : {};
      return { kind: 'result', result: { ...boundPollInterval(result), ...complete } };
    } catch (thrown) {
      if (!(thrown instanceof ProtocolError)) {
        if (!signal.aborted) this.failure ??= thrown;
        throw thrown;
      }
      const { code, message } = thrown;
      if (method === 'tasks/get') this.unknownTask = `error ${code}: ${quoteOneLine(message)}`;
      return { kind: 'error', error: { code, message } };
    }
  }

  /** Throws the error of a request that failed, if there is one: the library reports it as a failure of the task. */
  throwFailure(): void {
    const { retentionMs } = this;
    if (this.failure !== undefined) throw this.failure;
    if (this.unknownTask === null) return;
    const kept =
      retentionMs === null
        ? ''
        : `; it keeps tasks for ${formatDuration(Math.max(0, retentionMs))}`;
    const message = `the server does not know the task any more (${this.unknownTask})${kept}`;
    const { server } = this.session;
    throw new McpServerError(message, { server, kind: 'refused', isOutcomeUnknown: true });
  }

  // Requests and messages of the server reach the handlers of the client.
  onServerRequest = () => () => {};
  onNotification = () => () => {};
  onInvalidated = () => () => {};
}

/** Bounds the time until the next question that a server suggests. */
function boundPollInterval(result: JsonObject): JsonObject {
  const names = ['pollInterval', 'pollIntervalMs'].filter((name) => name in result);
  const bounded = names.map((name) => {
    const value = Math.min(Math.max(Number(result[name]), MIN_POLL_MS), MAX_POLL_MS);
    return [name, Math.round(value)] as const;
  });
  return { ...result, ...Object.fromEntries(bounded) };
}
