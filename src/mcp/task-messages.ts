import type {
  CallToolResult,
  Client,
  JSONRPCMessage,
  RequestOptions,
  StandardSchemaV1Sync,
  Transport,
} from '@modelcontextprotocol/client';
import { isCallToolResult } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { McpTask, McpTaskRevision } from './server-data.ts';

/** The name of the extension by which the revision 2026-07-28 has tasks. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
/** The metadata in which `translateTaskMessages` passes a task on. */
const TASK_META = 'muster/task';
/** The beginning of the methods that `translateTaskMessages` sends by their real names. */
const ALIAS = 'muster/';

/** Accepts every result. The callers check what they use. */
export const ANY_RESULT: StandardSchemaV1Sync<unknown, JsonObject> = {
  '~standard': {
    version: 1,
    vendor: 'muster',
    validate: (value: unknown) =>
      isJsonObject(value) ? { value } : { issues: [{ message: 'it is not an object' }] },
  },
};

/** Returns the revision by which a server offers tasks for calls of its tools; null if it offers none. */
export function findTaskRevision(client: Client): McpTaskRevision | null {
  const capabilities: unknown = client.getServerCapabilities();
  if (!isJsonObject(capabilities)) return null;
  const { extensions, tasks } = capabilities;
  if (client.getProtocolEra() === 'modern') {
    const extension = isJsonObject(extensions) ? extensions[TASKS_EXTENSION] : undefined;
    return isJsonObject(extension) ? '2026-07-28' : null;
  }
  const requests = isJsonObject(tasks) ? tasks['requests'] : undefined;
  const tools = isJsonObject(requests) ? requests['tools'] : undefined;
  return isJsonObject(tools) && tools['call'] !== undefined ? '2025-11-25' : null;
}

/**
 * Lets the messages about tasks of the revision 2026-07-28 pass through the SDK, which knows none of them: a result that
 * is a task becomes a result with the task in its metadata, and methods that `requestOfTask` has prefixed are sent by
 * their real names. Everything else of the SDK (headers, progress, cancellation) works as for other requests. Call it
 * when the SDK has connected the transport.
 */
export function translateTaskMessages(transport: Transport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => send(withRealMethod(message), options);
  const receive = transport.onmessage;
  transport.onmessage = (message, extra) => receive?.(withTaskInMeta(message), extra);
}

function withRealMethod(message: JSONRPCMessage): JSONRPCMessage {
  if (!('method' in message) || !message.method.startsWith(ALIAS)) return message;
  return { ...message, method: message.method.slice(ALIAS.length) };
}

function withTaskInMeta<Message extends JSONRPCMessage>(message: Message): Message {
  if (!('result' in message) || !isJsonObject(message.result)) return message;
  const { resultType, _meta, ...task } = message.result;
  if (resultType !== 'task') return message;
  // The SDK asks for no structured content if the result is an error.
  const result = {
    resultType: 'complete',
    content: [],
    isError: true,
    _meta: { ...(isJsonObject(_meta) ? _meta : {}), [TASK_META]: task },
  };
  return { ...message, result };
}

/** Returns the task that a result stands for, if `translateTaskMessages` has put one there. */
export function readTaskInMeta({ _meta }: CallToolResult): McpTask | null {
  const task = _meta?.[TASK_META];
  return isJsonObject(task) ? toTask(task, '2026-07-28') : null;
}

/** Sends a call that the server shall carry out as a task of the revision 2025-11-25. */
export async function callAsTask(
  client: Client,
  params: { readonly name: string; readonly arguments: JsonObject },
  { retentionMs, ...options }: RequestOptions & { readonly retentionMs: number },
): Promise<McpTask | CallToolResult> {
  const request = { method: 'tools/call', params: { ...params, task: { ttl: retentionMs } } };
  const result = await client.request(request, ANY_RESULT, options);
  const task = isJsonObject(result['task']) ? toTask(result['task'], '2025-11-25') : null;
  if (task !== null) return task;
  // Some servers answer at once, although they offer tasks.
  if (isCallToolResult(result) && Array.isArray(result['content'])) return result;
  throw new Error('it answered neither with a task nor with a result');
}

/** The maximum length of an id of a task. */
const MAX_ID_LENGTH = 1_000;

function toTask({ taskId }: JsonObject, revision: McpTaskRevision): McpTask {
  if (typeof taskId !== 'string' || taskId === '' || taskId.length > MAX_ID_LENGTH) {
    throw new Error('it started a task without a valid id');
  }
  return { id: taskId, revision };
}

/** Creates a request about a task. Its method has a prefix where the SDK would refuse the method. */
export function requestOfTask(revision: McpTaskRevision, method: string, params: JsonObject) {
  return { method: revision === '2026-07-28' ? `${ALIAS}${method}` : method, params };
}
