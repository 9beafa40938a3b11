import { MusterError } from '../../base/errors.ts';
import type { Attachment, AttachPort } from '../../protocol/attachment.ts';
import type { Decision } from '../../protocol/permission.ts';
import type { FileSeen } from '../../protocol/tool.ts';
import type { EngineDeps } from '../task/deps.ts';
import { decideNow } from './judge.ts';
import { prepareCall } from './prepare-call.ts';
import { readingContext } from './reading-context.ts';
import type { CallingTask } from './calling-task.ts';

/** Bytes of one file; of a longer one its beginning, with where to read on. */
const FILE_BYTES = 65_536;

export interface FileForTask {
  /** As Read gives it. */
  readonly text: string;
  readonly read: readonly FileSeen[];
  readonly attachments: readonly Attachment[];
}

export interface FileRequest {
  readonly path: string;
  readonly attach: AttachPort;
  /** Says it to whoever wants the file. */
  readonly refusal: (decision: Decision) => string;
  readonly signal: AbortSignal;
}

/**
 * A file as a task's own Read would give it, judged by its rights, whatever tools it has: a list of tools is
 * a choice. Nobody is asked: what a person would have to allow is refused.
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
  const { decision, reach } = await decideNow(deps, reader, ready);
  if (decision.verdict !== 'allow') {
    return new MusterError('PERMISSION_DENIED', refusal(decision));
  }
  const caps = { ...deps.settings.caps, readBytes: FILE_BYTES };
  const ports = { clock: deps.clock, settings: { ...deps.settings, caps } };
  const context = readingContext(ports, reader, { reach, signal, attach });
  const output = await ready.tool.run(ready.input, context);
  signal.throwIfAborted();
  if (output.error !== undefined) return new MusterError(output.error, output.text);
  return {
    text: output.text,
    read: output.facts?.read ?? [],
    attachments: output.attachments ?? [],
  };
}
