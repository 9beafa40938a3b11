import {
  fromJsonSchema,
  INVALID_PARAMS,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  RELATED_TASK_META_KEY,
  type CallToolResult,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { errorInfo, MusterError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { createProgressReport } from './progress.ts';
import type { ServedClient } from './served-client.ts';
import type { ServedTask } from './served-tasks.ts';
import { findWantedRevision, PROTOCOL_TASKS_EXTENSION, type TaskRevision } from './task-wire.ts';
import { endedAnswer } from './tool-answers.ts';

/** The statuses of a task of the protocol. */
type ProtocolStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** The time between two questions for a state that is suggested to clients. */
const POLL_MS = 1000;
const PAGE_SIZE = 100;

const TASK_ID = fromJsonSchema<{ readonly taskId: string }>({
  type: 'object',
  properties: { taskId: { type: 'string' } },
  required: ['taskId'],
});
const CURSOR = fromJsonSchema<{ readonly cursor?: string }>({
  type: 'object',
  properties: { cursor: { type: 'string' } },
});

/** The methods of the protocol for tasks, in both revisions that have them. Their ids are those of Muster's own tasks. */
export function registerTaskUtilities(server: McpServer, client: ServedClient): void {
  const protocol = server.server;
  protocol.registerCapabilities({
    tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
    extensions: { [PROTOCOL_TASKS_EXTENSION]: {} },
  });
  const { tasks, asker } = client;
  const use = (id: string, context: ServerContext): void => {
    requireExtension(context);
    asker.use(id, context, protocol.getClientCapabilities());
  };
  protocol.setRequestHandler('tasks/get', { params: TASK_ID }, ({ taskId }, context) =>
    withProtocolErrors(() => {
      use(taskId, context);
      return context.mcpReq.envelope === undefined
        ? describeProtocolTask(client, taskId, '2025-11-25')
        : describeInDetail(client, taskId);
    }),
  );
  protocol.setRequestHandler('tasks/result', { params: TASK_ID }, ({ taskId }, context) =>
    withProtocolErrors(async () => {
      use(taskId, context);
      return await waitForResult(client, taskId, context);
    }),
  );
  protocol.setRequestHandler('tasks/list', { params: CURSOR }, ({ cursor }) =>
    withProtocolErrors(() => {
      const from = readCursor(cursor);
      const all = tasks.list();
      const page = all.slice(from, from + PAGE_SIZE);
      const next = from + page.length;
      return {
        tasks: page.map(({ id }) => describeProtocolTask(client, id, '2025-11-25')),
        ...(next < all.length ? { nextCursor: String(next) } : {}),
      };
    }),
  );
  protocol.setRequestHandler('tasks/cancel', { params: TASK_ID }, ({ taskId }, context) =>
    withProtocolErrors(async () => {
      requireExtension(context);
      const isOld = context.mcpReq.envelope === undefined;
      const { status } = tasks.get(taskId);
      if (isOld && status !== 'running')
        throw new ProtocolError(INVALID_PARAMS, `task ${taskId} has already ended: ${status}`);
      await tasks.stop(taskId);
      return isOld ? describeProtocolTask(client, taskId, '2025-11-25') : {};
    }),
  );
  protocol.setRequestHandler('tasks/update', { params: TASK_ID }, ({ taskId }, context) =>
    withProtocolErrors(() => {
      use(taskId, context);
      return {};
    }),
  );
}

/** Throws a ProtocolError if a client of the newest revision does not declare that it knows tasks. */
function requireExtension(context: ServerContext): void {
  if (context.mcpReq.envelope === undefined || findWantedRevision(context) !== null) return;
  throw new MissingRequiredClientCapabilityError({
    requiredCapabilities: { extensions: { [PROTOCOL_TASKS_EXTENSION]: {} } },
  });
}

/** Describes the state of a task for a revision. Throws MusterError if the client has not started it. */
export function describeProtocolTask(
  { tasks }: ServedClient,
  id: string,
  revision: TaskRevision,
): JsonObject {
  const task = tasks.get(id);
  const state = {
    taskId: id,
    status: toProtocolStatus(task, { asks: tasks.question(id) !== undefined, revision }),
    statusMessage: `${task.agent}: ${task.description}`,
    createdAt: new Date(task.startedAt).toISOString(),
    lastUpdatedAt: new Date(task.changedAt).toISOString(),
  };
  // A task is known as long as its client, and its log stays.
  return revision === '2025-11-25'
    ? { ...state, ttl: null, pollInterval: POLL_MS }
    : { ...state, ttlMs: null, pollIntervalMs: POLL_MS };
}

/** Converts the status of a task. In the newest revision only a call without any result has failed. */
export function toProtocolStatus(
  { status }: Pick<ServedTask, 'status'>,
  { asks, revision }: { readonly asks: boolean; readonly revision: TaskRevision },
): ProtocolStatus {
  switch (status) {
    case 'queued':
    case 'running':
      return asks ? 'input_required' : 'working';
    case 'completed':
    case 'partial':
      return 'completed';
    case 'stopped':
      return 'cancelled';
    case 'failed':
    case 'killed':
    case 'interrupted':
    case 'parked':
      return revision === '2025-11-25' ? 'failed' : 'completed';
  }
}

/** Describes a task with its result, its error or its questions, as the newest revision has them. */
function describeInDetail(client: ServedClient, id: string): JsonObject {
  const state = describeProtocolTask(client, id, '2026-07-28');
  const question = client.tasks.question(id);
  if (state['status'] === 'input_required' && question !== undefined)
    return { ...state, inputRequests: toJson(client.asker.createRequests(question)) };
  if (state['status'] !== 'completed') return state;
  try {
    const answer = endedAnswer(client.tasks.result(id));
    return { ...state, result: toJson({ resultType: 'complete', ...answer }) };
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    const { code, message } = toProtocolError(thrown);
    return { ...state, status: 'failed', error: { code, message } };
  }
}

/** Waits for the result of a task, and has the client ask the user its questions meanwhile. */
async function waitForResult(
  { tasks, asker }: ServedClient,
  id: string,
  context: ServerContext,
): Promise<CallToolResult> {
  const { signal } = context.mcpReq;
  const onEvent = createProgressReport(context);
  for (;;) {
    const outcome = await tasks.wait(id, { signal, ...(onEvent === undefined ? {} : { onEvent }) });
    if (outcome.kind === 'ended') {
      const _meta = { [RELATED_TASK_META_KEY]: { taskId: id } };
      return { ...endedAnswer(outcome.result), _meta };
    }
    // The client does not wait any more. The task goes on.
    signal.throwIfAborted();
    if (outcome.kind === 'asks') await asker.ask(id, outcome.question, context);
  }
}

function readCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const from = /^\d{1,9}$/.test(cursor) ? Number(cursor) : null;
  if (from === null)
    throw new ProtocolError(INVALID_PARAMS, 'the cursor is not one that this server has given');
  return from;
}

/** Throws the errors of Muster as errors of the protocol. */
async function withProtocolErrors<T>(run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    throw thrown instanceof MusterError ? toProtocolError(thrown) : thrown;
  }
}

function toProtocolError(thrown: MusterError): ProtocolError {
  const { code, message } = errorInfo(thrown);
  return new ProtocolError(INVALID_PARAMS, `${code}: ${message}`);
}

/** Returns a value of the SDK as JSON, of which it consists. */
function toJson(value: object): JsonObject {
  return structuredClone(value) as JsonObject;
}
