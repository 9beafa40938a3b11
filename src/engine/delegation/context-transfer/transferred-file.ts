import { MusterError } from '../../../base/errors.ts';
import { refuseUnanswered } from '../../../policy/refusal.ts';
import type { AttachPort } from '../../../protocol/attachment.ts';
import type { FileSeen } from '../../../protocol/tool.ts';
import type { EngineDeps } from '../../task/deps.ts';
import type { Caller } from '../../permissions/judge.ts';
import { readFor } from '../../permissions/read-for-task.ts';
import type { HandoverRequest } from './transferred-context.ts';

export interface HandedFile {
  /** As Read gives it. */
  readonly text: string;
  readonly read: readonly FileSeen[];
}

/** A file as the child's own Read would give it. */
export async function readHandedFile(
  deps: EngineDeps,
  request: HandoverRequest,
  path: string,
): Promise<HandedFile | MusterError> {
  const { signal } = request.caller;
  const wish = { path, attach: TEXT_ONLY, refusal: refuseUnanswered, signal };
  const file = await readFor(deps, childToBe(request), wish);
  if (!(file instanceof MusterError)) return file;
  return new MusterError(file.code, `context.files: ${JSON.stringify(path)}: ${file.message}`);
}

async function asText(): Promise<string> {
  return 'files are handed on as text. Name it in the prompt, and the subagent reads it itself';
}

const TEXT_ONLY: AttachPort = { refusal: asText, add: asText, addAgain: asText };

function childToBe({ caller, id, plan }: HandoverRequest): Omit<Caller, 'view'> {
  const { agent, rights, equipment } = plan;
  const spec = { ...caller.spec, id, agent, rights };
  return {
    rights,
    spec,
    state: { ...caller.state, spec, skills: new Set(equipment.preloaded.names) },
    granted: () => caller.granted(),
    modeGrants: () => caller.modeGrants(),
    honours: (seq) => caller.honours(seq),
  };
}
