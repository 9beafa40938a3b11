import { escapeTags } from '../../../base/control-tags.ts';
import { MusterError } from '../../../base/errors.ts';
import { byteLength } from '../../../base/text.ts';
import type { ContextArgument } from '../../task/task-arguments.ts';
import type { TransferredContext, TransferRequest } from '../plan-child.ts';
import type { EngineContext } from '../engine-context.ts';
import { findVisibleTask, readTaskState } from '../visible-tasks.ts';
import type { CallingTask } from '../../permissions/prepare-call.ts';
import { readForTask } from '../../permissions/read-for-task.ts';
import { fullResult, cutPage } from '../../results/result.ts';
import type { EngineDeps } from '../../task/deps.ts';
import { permissionsWith } from '../../task/task-permissions.ts';
import type { AttachPort } from '../../../protocol/attachment.ts';
import type { FileSeen } from '../../../protocol/tool.ts';
import {
  formatInitialContext,
  MAX_TRANSFERRED_BYTES,
  type QuotedText,
} from '../../compaction/compaction-texts.ts';
import { explainRefusal } from '../../../policy/explain-refusal.ts';

const LEAD =
  'The agent that gives you this task hands you these with it; what you see here is read.';

/** Gathers the files and task results that a call names. Returns an error if one of them can't be passed on. */
export async function gatherChosenContext(
  engine: EngineContext,
  request: TransferRequest,
  { files, results }: Extract<ContextArgument, { kind: 'chosen' }>,
): Promise<TransferredContext | MusterError> {
  const quotes: QuotedText[] = [];
  const read = new Map<string, FileSeen>();
  const resultTasks = new Set<string>();
  for (const reference of results) {
    const result = readTransferredResult(engine, request, reference);
    if (result instanceof MusterError) return result;
    if (!resultTasks.has(result.id)) quotes.push(result.quoted);
    resultTasks.add(result.id);
  }
  for (const path of files) {
    const file = await readTransferredFile(engine.deps, request, path);
    if (file instanceof MusterError) return file;
    const isKnown = file.read.length > 0 && file.read.every((seen) => read.has(seen.path));
    if (isKnown) continue;
    for (const seen of file.read) read.set(seen.path, seen);
    quotes.push({ label: `File ${escapeTags(JSON.stringify(path))}:`, text: file.text });
  }
  const bytes = quotes.reduce((sum, { text }) => sum + byteLength(text), 0);
  if (bytes > MAX_TRANSFERRED_BYTES) {
    const message = `context: the limit handed_bytes = ${MAX_TRANSFERRED_BYTES} is reached (${bytes} needed). Name less, and let the subagent read the rest itself.`;
    return new MusterError('LIMIT_EXCEEDED', message);
  }
  return {
    plan: request.plan,
    initialContext: { text: formatInitialContext(LEAD, quotes), read: [...read.values()] },
    resultTasks: [...resultTasks],
  };
}

/** A file that is passed to a child. */
export interface TransferredFile {
  /** The output of the Read tool. */
  readonly text: string;
  readonly read: readonly FileSeen[];
}

/** Reads a file as the child's own Read tool would return it. */
async function readTransferredFile(
  deps: EngineDeps,
  request: TransferRequest,
  path: string,
): Promise<TransferredFile | MusterError> {
  const { signal } = request.caller.cancellation;
  const options = { path, attach: TEXT_ONLY, refusal: explainRefusal, signal };
  const file = await readForTask(deps, toCallingTask(request), options);
  if (!(file instanceof MusterError)) return file;
  return new MusterError(file.code, `context.files: ${JSON.stringify(path)}: ${file.message}`);
}

/** Refuses an image or document: a child gets only text. */
async function refuse(): Promise<string> {
  return 'files are handed on as text. Name it in the prompt, and the subagent reads it itself';
}

const TEXT_ONLY: AttachPort = { refusal: refuse, add: refuse, addAgain: refuse };

/** Returns the planned child in the form of a task that makes calls, so that files are read with its rights. */
function toCallingTask({ caller, id, plan }: TransferRequest): Omit<CallingTask, 'view'> {
  const { agent, rights, setup } = plan;
  const spec = { ...caller.spec, id, agent, rights };
  return {
    spec,
    state: { ...caller.state, spec, skills: new Set(setup.preloaded.names) },
    permissions: permissionsWith(caller.permissions, rights),
  };
}

/** The maximum length of one result, in tokens. A longer result is cut, with a note on how to read the rest. */
const MAX_RESULT_TOKENS = 8_000;
/** The argument that names the results, for messages. */
const FIELD = 'context.results';

/** Reads the answer of an ended task that the caller can see. */
function readTransferredResult(
  engine: EngineContext,
  { caller, plan }: TransferRequest,
  reference: string,
): { readonly id: string; readonly quoted: QuotedText } | MusterError {
  const found = findVisibleTask(caller, engine.running, { field: FIELD, reference });
  if (found instanceof MusterError) return found;
  const { id } = found;
  if (found.kind === 'shell') {
    return new MusterError('INVALID_PARAM', `${FIELD}: ${id} is a shell; only tasks have results`);
  }
  const state = readTaskState(engine, id);
  if (state instanceof MusterError) {
    return new MusterError(state.code, `${FIELD}: ${id}: ${state.message}`);
  }
  if (state.end === null || state.status === 'interrupted') {
    const remedy =
      state.end === null ? 'wait for it with TaskOutput' : 'let it go on with `resume`';
    return new MusterError('CONFLICT', `${FIELD}: task ${id} has not ended: ${remedy} first`);
  }
  const result = fullResult(state);
  const { text, next } = cutPage(result, 0, MAX_RESULT_TOKENS);
  const canReadRest = plan.setup.tools.some(({ name }) => name === 'TaskOutput');
  const rest = canReadRest
    ? `The rest: TaskOutput(task_id: "${id}", offset: ${next})`
    : 'You have no tool for the rest';
  const { error } = state.end;
  const status = error === null ? state.status : `${state.status}: ${error.code}: ${error.message}`;
  return {
    id,
    quoted: {
      label: escapeTags(`Result of task ${id} (${state.spec.agent.name}, ${status}):`),
      text,
      ...(next === null
        ? {}
        : { note: `[Cut at ${next} of ${result.length} characters. ${rest}]` }),
    },
  };
}
