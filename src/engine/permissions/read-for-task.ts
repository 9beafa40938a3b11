import { MusterError } from '../../base/errors.ts';
import type { Attachment, AttachPort } from '../../protocol/attachment.ts';
import type { Decision } from '../../protocol/permission.ts';
import type { FileSeen, FileMemory, FileAccess, ToolContext } from '../../protocol/tool.ts';
import type { EngineDeps } from '../task/deps.ts';
import { decideNow } from './judge.ts';
import { prepareCall, type CallingTask } from './prepare-call.ts';

/** Maximum size of one file, in bytes. A longer file is cut, with a note on how to read on. */
const FILE_BYTES = 65_536;

interface FileForTask {
  /** The text that Read gives. */
  readonly text: string;
  readonly read: readonly FileSeen[];
  readonly attachments: readonly Attachment[];
}

interface FileRequest {
  readonly path: string;
  readonly attach: AttachPort;
  /** Formats the refusal for the reader of the file. */
  readonly refusal: (decision: Decision) => string;
  readonly signal: AbortSignal;
}

/**
 * Reads a file as a task's own Read would, by the rights of the task and whatever tools it has, since a list of tools
 * is a choice. Nobody is asked: a file that a person would have to allow is refused.
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
  const caps = { ...deps.settings.caps, readBytes: FILE_BYTES };
  const ports = { clock: deps.clock, settings: { ...deps.settings, caps } };
  const context = readingContext(ports, reader, { pathAccess, signal, attach });
  const output = await ready.tool.run(ready.input, context);
  signal.throwIfAborted();
  if (output.error !== undefined) return new MusterError(output.error, output.text);
  const { text, facts, attachments = [] } = output;
  return { text, read: facts?.read ?? [], attachments };
}

const KEEPS_NOTHING: FileMemory = {
  seen: () => undefined,
  remember: () => {},
  willWrite: refuse,
  willRemove: refuse,
  changedBy: () => undefined,
  removedBy: () => undefined,
  acceptRemoval: () => false,
};

/** Creates the ports of a call that may only read and that leaves no trace. */
export function readingContext(
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
    files: KEEPS_NOTHING,
    todos: { get: () => [], set: refuse },
    shells: { start: refuse },
    sandbox: { confine: refuse },
    variables: { seen: () => ({}), own: () => new Set(), keeps: () => false },
    sleep: refuse,
    spillPath: refuse,
    attach,
    progress: () => {},
  };
}

function refuse(): never {
  throw new Error('only what reads and nothing else is run again');
}
