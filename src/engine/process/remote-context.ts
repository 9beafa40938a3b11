import { systemClock } from '../../base/clock.ts';
import { Deadlines, sleep } from '../../base/deadlines.ts';
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import type { AttachPort } from '../../protocol/attachment.ts';
import type { FileMemory, ToolContext } from '../../protocol/tool.ts';
import { createFileAccess, NO_FILES } from '../permissions/file-access.ts';
import type { AskPort, CallData, QueryPort } from './messages.ts';
import type { ParentChannel } from './parent-channel.ts';

const deadlines = new Deadlines(systemClock);

/** A call as the process of its task runs it. */
interface RemoteCall {
  readonly number: number;
  readonly data: CallData;
  readonly signal: AbortSignal;
}

/** Creates the context of a call in the process of its task: its data, and ports that Muster answers. */
export function createRemoteContext(
  channel: ParentChannel,
  { number, data, signal }: RemoteCall,
): ToolContext {
  const { taskId, callId, cwd, caps, roots, judged, basis, ports } = data;
  const query = (port: QueryPort, ...args: readonly unknown[]): JsonValue =>
    channel.query({ number, port, args });
  const ask = (port: AskPort, args: readonly unknown[], body?: Buffer): Promise<JsonValue> =>
    channel.ask({ number, port, args }, body);
  return {
    taskId,
    callId,
    cwd,
    ...(basis === null ? NO_FILES : createFileAccess(basis)),
    // What the paths led to when the call was decided about counts, and not what they lead to now.
    roots,
    judged: new Map(judged),
    signal,
    clock: systemClock,
    caps,
    files: createRemoteFileMemory(query),
    todos: { get: rejectPort, set: rejectPort },
    shells: { start: rejectPort },
    sandbox: { confine: rejectPort },
    variables: { seen: rejectPort, own: rejectPort, keeps: rejectPort },
    sleep: (ms) => sleep(deadlines, ms, signal),
    spillPath: rejectPort,
    saveText: (text) => String(query('saveText', text)),
    ...(ports.keepFormer
      ? { keepFormer: async (bytes: Buffer) => void (await ask('keepFormer', [], bytes)) }
      : {}),
    ...(ports.attach ? { attach: createRemoteAttachPort(ask) } : {}),
    progress: (line, lines) =>
      channel.send({ type: 'progress', number, line, ...(lines === undefined ? {} : { lines }) }),
  };
}

function createRemoteFileMemory(
  query: (port: QueryPort, ...args: readonly unknown[]) => JsonValue,
): FileMemory {
  const toText = (value: JsonValue) => (typeof value === 'string' ? value : undefined);
  return {
    seen: (path) => toText(query('seen', path)),
    remember: (path, hash) => void query('remember', path, hash),
    willWrite: (path, hash) => void query('willWrite', path, hash),
    willRemove: (path) => void query('willRemove', path),
    changedBy: (path, hash) => toText(query('changedBy', path, hash)),
    removedBy: (path) => toText(query('removedBy', path)),
    acceptRemoval: (path) => query('acceptRemoval', path) === true,
  };
}

function createRemoteAttachPort(
  ask: (port: AskPort, args: readonly unknown[], body?: Buffer) => Promise<JsonValue>,
): AttachPort {
  return {
    refusal: async (details) => {
      const refusal = await ask('refuseAttachment', [details]);
      return typeof refusal === 'string' ? refusal : null;
    },
    add: async (details, bytes) => {
      const added = await ask('addAttachment', [details], bytes);
      const { blob, tokens } = isJsonObject(added) ? added : {};
      return typeof blob === 'string' && typeof tokens === 'number'
        ? { ...details, blob, tokens }
        : String(added);
    },
    addAgain: rejectPort,
  };
}

function rejectPort(): never {
  throw new Error('calls in the process of a task have no such port');
}
