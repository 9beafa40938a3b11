import { MusterError } from '../../../base/errors.ts';
import { explainRefusal } from '../../../policy/explain-refusal.ts';
import type { AttachPort } from '../../../protocol/attachment.ts';
import type { FileSeen } from '../../../protocol/tool.ts';
import type { EngineDeps } from '../../task/deps.ts';
import type { CallingTask } from '../../permissions/calling-task.ts';
import { readForTask } from '../../permissions/read-for-task.ts';
import type { TransferRequest } from './transferred-context.ts';
import { permissionsWith } from '../../task/task-permissions.ts';

export interface TransferredFile {
  /** As Read gives it. */
  readonly text: string;
  readonly read: readonly FileSeen[];
}

/** A file as the child's own Read would give it. */
export async function readTransferredFile(
  deps: EngineDeps,
  request: TransferRequest,
  path: string,
): Promise<TransferredFile | MusterError> {
  const { signal } = request.caller.cancellation;
  const wish = { path, attach: TEXT_ONLY, refusal: explainRefusal, signal };
  const file = await readForTask(deps, childToBe(request), wish);
  if (!(file instanceof MusterError)) return file;
  return new MusterError(file.code, `context.files: ${JSON.stringify(path)}: ${file.message}`);
}

async function asText(): Promise<string> {
  return 'files are handed on as text. Name it in the prompt, and the subagent reads it itself';
}

const TEXT_ONLY: AttachPort = { refusal: asText, add: asText, addAgain: asText };

function childToBe({ caller, id, plan }: TransferRequest): Omit<CallingTask, 'view'> {
  const { agent, rights, setup } = plan;
  const spec = { ...caller.spec, id, agent, rights };
  return {
    spec,
    state: { ...caller.state, spec, skills: new Set(setup.preloaded.names) },
    permissions: permissionsWith(caller.permissions, rights),
  };
}
