import {
  CLIENT_CAPABILITIES_META_KEY,
  type CallToolResult,
  type JSONRPCMessage,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject } from '../../base/json.ts';

/** The revisions by which a client can have a call carried out as a task of the protocol. */
export type TaskRevision = '2025-11-25' | '2026-07-28';

/** The name of the extension by which the revision 2026-07-28 has tasks. */
export const PROTOCOL_TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
/** The metadata of a request in which `translateCreatedTasks` passes on that the client asks for a task. */
const WANTED_META = 'muster/task-wanted';
/** The metadata of a result in which a tool passes on the task that stands for it. */
const TASK_META = 'muster/task';
/** The metadata with a text for the model of a client that does not wait for the task. */
const IMMEDIATE_META = 'io.modelcontextprotocol/model-immediate-response';

/**
 * Lets calls that become tasks pass through the SDK, which knows no such calls: that a client of the revision 2025-11-25 asks for a
 * task becomes metadata of the request, and a result with a task in its metadata becomes that task. Call it when the SDK has
 * connected the transport.
 */
export function translateCreatedTasks(transport: Transport): void {
  const receive = transport.onmessage;
  transport.onmessage = (message, extra) => receive?.(withWantedMeta(message), extra);
  const send = transport.send.bind(transport);
  transport.send = (message, options) => send(withTaskResult(message), options);
}

function withWantedMeta<Message extends JSONRPCMessage>(message: Message): Message {
  if (!('method' in message) || message.method !== 'tools/call') return message;
  const { params } = message;
  if (!isJsonObject(params) || !isJsonObject(params['task'])) return message;
  const { task: _, ...rest } = params;
  const meta = isJsonObject(params['_meta']) ? params['_meta'] : {};
  return { ...message, params: { ...rest, _meta: { ...meta, [WANTED_META]: true } } };
}

function withTaskResult(message: JSONRPCMessage): JSONRPCMessage {
  if (!('result' in message) || !isJsonObject(message.result)) return message;
  const { _meta } = message.result;
  const made = isJsonObject(_meta) ? _meta[TASK_META] : undefined;
  if (!isJsonObject(_meta) || !isJsonObject(made)) return message;
  const { [TASK_META]: _, ...meta } = _meta;
  return { ...message, result: { ...made, _meta: meta } };
}

/** Returns the revision by which a call shall become a task; null if it shall not. */
export function findWantedRevision({ mcpReq }: ServerContext): TaskRevision | null {
  const envelope: Readonly<Record<string, unknown>> | undefined = mcpReq.envelope;
  if (envelope === undefined) return mcpReq._meta?.[WANTED_META] === true ? '2025-11-25' : null;
  const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY];
  const extensions = isJsonObject(capabilities) ? capabilities['extensions'] : undefined;
  return isJsonObject(extensions) && isJsonObject(extensions[PROTOCOL_TASKS_EXTENSION])
    ? '2026-07-28'
    : null;
}

/**
 * Answers a call with the task that carries it out.
 *
 * @param text tells a model what it can do meanwhile
 */
export function createdTaskAnswer(
  revision: TaskRevision,
  task: JsonObject,
  text: string,
): CallToolResult {
  const made = revision === '2025-11-25' ? { task } : { resultType: 'task', ...task };
  // The SDK asks for no structured content if the result is an error.
  return { content: [], isError: true, _meta: { [TASK_META]: made, [IMMEDIATE_META]: text } };
}
