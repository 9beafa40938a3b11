import { MusterError } from '../../base/errors.ts';
import type { Attachment, AttachPort } from '../../protocol/attachment.ts';
import type { Decision } from '../../protocol/permission.ts';
import type { FileSeen, FileMemory, FileAccess, ToolContext } from '../../protocol/tool.ts';
import type { EngineDeps } from '../task/deps.ts';
import { decideNow } from './judge.ts';
import { prepareCall, type CallingTask } from './prepare-call.ts';

/** The maximum size of one file. A longer file is cut, with a note on how to read the rest. */
const MAX_FILE_BYTES = 65_536;

/** The result of reading a file. */
interface FileForTask {
  /** The output of the Read tool. */
  readonly text: string;
  readonly read: readonly FileSeen[];
  readonly attachments: readonly Attachment[];
}

/** The file to read, and the ports for reading it. */
interface FileRequest {
  readonly path: string;
  readonly attach: AttachPort;
  /** Formats the refusal for the model or person that reads it. */
  readonly refusal: (decision: Decision) => string;
  readonly signal: AbortSignal;
}

/**
 * Reads a file as a Read call of the task would, with the rights of the task. The task need not have the Read tool,
 * since the tools of an agent are a choice and not a right. Nobody is asked: a file that a person would have to allow
 * is refused.
 */
export async function readForTask(
  deps: EngineDeps,
  caller: Omit<CallingTask, 'view'>,
  { path, attach, refusal, signal }: FileRequest,
): Promise<FileForTask | MusterError> {
  const read = deps.tools.filter(({ name }) => name === 'Read');
  const reader: CallingTask = { ...caller, view: new Map(read.map((tool) => [tool.name, tool])) };
  const input = { file_path: path };
  const ready = prepareCall(reader, { type: 'tool_call', id: 'handed', name: 'Read', input });
  if (!ready.ready) return new MusterError(ready.error, ready.text);
  const { decision, pathAccess } = await decideNow(deps, reader, ready);
  if (decision.verdict !== 'allow') {
    return new MusterError('PERMISSION_DENIED', refusal(decision));
  }
  const caps = { ...deps.settings.caps, readBytes: MAX_FILE_BYTES };
  const ports = { clock: deps.clock, settings: { ...deps.settings, caps } };
  const context = createReadOnlyContext(ports, reader, { pathAccess, signal, attach });
  const output = await ready.tool.run(ready.input, context);
  signal.throwIfAborted();
  if (output.error !== undefined) return new MusterError(output.error, output.text);
  const { text, facts, attachments = [] } = output;
  return { text, read: facts?.read ?? [], attachments };
}

/** A file memory that remembers nothing. Since the call may only read, the methods for writes throw. */
const NO_FILE_MEMORY: FileMemory = {
  seen: () => undefined,
  remember: () => {},
  willWrite: rejectEffect,
  willRemove: rejectEffect,
  changedBy: () => undefined,
  removedBy: () => undefined,
  acceptRemoval: () => false,
};

/** Creates the context of a call that may only read files and that records nothing. Ports with effects throw. */
export function createReadOnlyContext(
  { clock, settings }: Pick<EngineDeps, 'clock' | 'settings'>,
  { spec }: Pick<CallingTask, 'spec'>,
  {
    pathAccess,
    signal,
    attach,
  }: Pick<Required<ToolContext>, 'signal' | 'attach'> & { readonly pathAccess: FileAccess },
): ToolContext {
  return {
    taskId: spec.id,
    callId: 'reuse',
    cwd: spec.cwd,
    ...pathAccess,
    signal,
    clock,
    caps: settings.caps,
    files: NO_FILE_MEMORY,
    todos: { get: () => [], set: rejectEffect },
    shells: { start: rejectEffect },
    sandbox: { confine: rejectEffect },
    variables: { seen: () => ({}), own: () => new Set(), keeps: () => false },
    sleep: rejectEffect,
    spillPath: rejectEffect,
    attach,
    progress: () => {},
  };
}

function rejectEffect(): never {
  throw new Error('this call may only read files');
}
