import { escapeTags } from '../../../base/control-tags.ts';
import { MusterError } from '../../../base/errors.ts';
import { byteLength } from '../../../base/text.ts';
import {
  initialContextText,
  MAX_TRANSFERRED_BYTES,
  type Quoted,
} from '../../compaction/quoted-texts.ts';
import type { TransferredContext, TransferRequest } from './transferred-context.ts';
import type { EngineContext } from '../engine-context.ts';
import { findVisibleTask, readTaskState } from '../visible-tasks.ts';
import type { CallingTask } from '../../permissions/calling-task.ts';
import { readForTask } from '../../permissions/read-for-task.ts';
import { fullResult } from '../../results/result.ts';
import { cutAtParagraph } from '../../results/text-page.ts';
import type { ContextRequest } from '../../task/context-request.ts';
import type { EngineDeps } from '../../task/deps.ts';
import { permissionsWith } from '../../task/task-permissions.ts';
import { refuseUnanswered } from '../../../policy/refusal.ts';
import type { AttachPort } from '../../../protocol/attachment.ts';
import type { FileSeen } from '../../../protocol/tool.ts';

const LEAD =
  'The agent that gives you this task hands you these with it; what you see here is read.';

/** Files and results of tasks that a call names, whole or not at all: whatever is wrong with one is the error returned. */
export async function chosenContext(
  engine: EngineContext,
  request: TransferRequest,
  { files, results }: Extract<ContextRequest, { kind: 'chosen' }>,
): Promise<TransferredContext | MusterError> {
  const quotes: Quoted[] = [];
  const read = new Map<string, FileSeen>();
  const handed = new Set<string>();
  for (const word of results) {
    const found = readTransferredResult(engine, request, word);
    if (found instanceof MusterError) return found;
    if (!handed.has(found.id)) quotes.push(found.quoted);
    handed.add(found.id);
  }
  for (const path of files) {
    const found = await readTransferredFile(engine.deps, request, path);
    if (found instanceof MusterError) return found;
    const isKnown = found.read.length > 0 && found.read.every((seen) => read.has(seen.path));
    if (isKnown) continue;
    for (const seen of found.read) read.set(seen.path, seen);
    quotes.push({ label: `File ${escapeTags(JSON.stringify(path))}:`, text: found.text });
  }
  const bytes = quotes.reduce((sum, { text }) => sum + byteLength(text), 0);
  if (bytes > MAX_TRANSFERRED_BYTES) {
    return new MusterError(
      'LIMIT_EXCEEDED',
      `context: the limit handed_bytes = ${MAX_TRANSFERRED_BYTES} is reached (${bytes} needed). Name less, and let the subagent read the rest itself.`,
    );
  }
  return {
    plan: request.plan,
    initialContext: { text: initialContextText(LEAD, quotes), read: [...read.values()] },
    resultTasks: [...handed],
  };
}

export interface TransferredFile {
  /** As Read gives it. */
  readonly text: string;
  readonly read: readonly FileSeen[];
}

/** A file as the child's own Read would give it. */
async function readTransferredFile(
  deps: EngineDeps,
  request: TransferRequest,
  path: string,
): Promise<TransferredFile | MusterError> {
  const { signal } = request.caller.cancellation;
  const wish = { path, attach: TEXT_ONLY, refusal: refuseUnanswered, signal };
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

/** Tokens of one result; of a longer one its beginning, with where the rest is. */
const RESULT_TOKENS = 8_000;
const FIELD = 'context.results';

/** The answer of an ended task that the caller can reach, from its log. */
function readTransferredResult(
  engine: EngineContext,
  { caller, plan }: TransferRequest,
  word: string,
): { readonly id: string; readonly quoted: Quoted } | MusterError {
  const found = findVisibleTask(caller, engine.running, { field: FIELD, word });
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
    const what = state.end === null ? 'wait for it with TaskOutput' : 'let it go on with `resume`';
    return new MusterError('CONFLICT', `${FIELD}: task ${id} has not ended: ${what} first`);
  }
  const whole = fullResult(state);
  const { text, next } = cutAtParagraph(whole, 0, RESULT_TOKENS);
  const mayReadOn = plan.setup.tools.some(({ name }) => name === 'TaskOutput');
  const rest = mayReadOn
    ? `The rest: TaskOutput(task_id: "${id}", offset: ${next})`
    : 'You have no tool for the rest';
  const { error } = state.end;
  const how = error === null ? state.status : `${state.status}: ${error.code}: ${error.message}`;
  return {
    id,
    quoted: {
      label: escapeTags(`Result of task ${id} (${state.spec.agent.name}, ${how}):`),
      text,
      ...(next === null
        ? {}
        : {
            note: `[Cut at ${next} of ${whole.length} characters. ${rest}]`,
          }),
    },
  };
}
