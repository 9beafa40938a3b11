import { MusterError } from '../../base/errors.ts';
import { refuseUnanswered } from '../../policy/refusal.ts';
import type { AttachPort } from '../../protocol/attachment.ts';
import type { FileSeen } from '../../protocol/tool.ts';
import type { EngineDeps } from '../deps.ts';
import { decideNow, type Caller } from '../judge.ts';
import { prepareCall } from '../prepare-call.ts';
import { readingContext } from '../reuse/reading-context.ts';
import type { HandoverRequest } from './handover.ts';

/** Bytes of one file; of a longer one its beginning, with where to read on. */
const FILE_BYTES = 65_536;

export interface HandedFile {
  /** As Read gives it. */
  readonly text: string;
  readonly read: readonly FileSeen[];
}

/**
 * A file as the child's own Read would give it, judged by the child's rights. Nobody is asked: what a
 * person would have to allow is refused.
 */
export async function readHandedFile(
  deps: EngineDeps,
  request: HandoverRequest,
  path: string,
): Promise<HandedFile | MusterError> {
  const child = childToBe(deps, request);
  const input = { file_path: path };
  const ready = prepareCall(child, { type: 'tool_call', id: 'handed', name: 'Read', input });
  const failed = (code: MusterError['code'], why: string) =>
    new MusterError(code, `context.files: ${JSON.stringify(path)}: ${why}`);
  if (!ready.ready) return failed(ready.error, ready.text);
  const { decision, reach } = await decideNow(deps, child, ready);
  if (decision.verdict !== 'allow') {
    return failed('PERMISSION_DENIED', refuseUnanswered(decision));
  }
  const { signal } = request.caller;
  const caps = { ...deps.settings.caps, readBytes: FILE_BYTES };
  const ports = { clock: deps.clock, settings: { ...deps.settings, caps } };
  const output = await ready.tool.run(
    ready.input,
    readingContext(ports, child, { reach, signal, attach: TEXT_ONLY }),
  );
  signal.throwIfAborted();
  if (output.error !== undefined) return failed(output.error, output.text);
  return { text: output.text, read: output.facts?.read ?? [] };
}

async function asText(): Promise<string> {
  return 'files are handed on as text. Name it in the prompt, and the subagent reads it itself';
}

const TEXT_ONLY: AttachPort = { refusal: asText, add: asText, addAgain: asText };

/** With Read, whatever tools it gets: a list of tools is a choice, and what rights forbid stays forbidden. */
function childToBe({ tools }: EngineDeps, { caller, id, plan }: HandoverRequest): Caller {
  const { agent, rights, equipment } = plan;
  const spec = { ...caller.spec, id, agent, rights };
  const read = tools.filter(({ name }) => name === 'Read');
  return {
    rights,
    spec,
    view: new Map(read.map((tool) => [tool.name, tool])),
    state: { ...caller.state, spec, skills: new Set(equipment.preloaded.names) },
    granted: () => caller.granted(),
    honours: (seq) => caller.honours(seq),
  };
}
