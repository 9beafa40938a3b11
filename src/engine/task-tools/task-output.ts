import { argumentsSchema, failedCall, ArgumentReader, TASK_ID_ALIASES } from './argument-reader.ts';
import { catchMusterError, MusterError } from '../../base/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import type { Tool, ToolContext, ToolOutput, ValidationResult } from '../../protocol/tool.ts';
import { fullResult, buildParentText } from '../results/result.ts';
import { sleep } from '../../base/deadlines.ts';
import { formatEndedReport, buildEndOutput, formatRunningReport } from '../results/task-report.ts';
import { findVisibleTask, readTaskState } from '../delegation/visible-tasks.ts';
import { type EngineContext, requireCaller } from '../delegation/engine-context.ts';
import { readShellForTask } from './read-shell.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { byteLength } from '../../base/text.ts';
import { describeAttachment, type Attachment, type AttachPort } from '../../protocol/attachment.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import type { TaskStore } from '../../store/task-store.ts';

interface TaskOutputInput {
  readonly taskId: string;
  /** True to wait for the end. */
  readonly block: boolean;
  /** The maximum wait in milliseconds. */
  readonly timeout: number;
  /** The offset in the answer, in UTF-16 units, or in a shell's output, in bytes; null if it is absent. */
  readonly offset: number | null;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_MS = 600_000;

/** Creates the tool that reads a task or a background shell and can wait for its end. */
export function taskOutputTool(engine: EngineContext): Tool<TaskOutputInput> {
  return {
    name: 'TaskOutput',
    kind: 'meta',
    replay: 'pure',
    waits: () => true,
    description:
      'Result or state of your subagent or background shell. Waits for its end, at most `timeout` ms, unless block is false. `offset` reads on in a long answer or output.',
    inputSchema: argumentsSchema(['task_id'], {
      task_id: { type: 'string' },
      block: { type: 'boolean' },
      timeout: {
        type: 'integer',
        maximum: MAX_TIMEOUT_MS,
        description: `ms, default ${DEFAULT_TIMEOUT_MS}`,
      },
      offset: { type: 'integer' },
    }),
    parse,
    run: (input, context) => readOutput(engine, input, context),
  };
}

function parse(value: JsonValue): ValidationResult<TaskOutputInput> {
  const known = ['task_id', 'block', 'timeout', 'offset'];
  const args = new ArgumentReader(value, known, TASK_ID_ALIASES);
  return args.result({
    taskId: args.text('task_id', 'the id of a task, or the beginning of one'),
    block: args.flag('block', true),
    timeout: args.count('timeout', { fallback: DEFAULT_TIMEOUT_MS, min: 0, max: MAX_TIMEOUT_MS }),
    offset: args.count('offset', { fallback: null, min: 0, max: Number.MAX_SAFE_INTEGER }),
  });
}

async function readOutput(
  engine: EngineContext,
  input: TaskOutputInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const { deps, running } = engine;
  const { signal } = context;
  const caller = requireCaller(engine, context);
  const eventReference = resolveOwnEvent(input.taskId, caller.spec, (id) => {
    const state = readTaskState(engine, id);
    return state instanceof MusterError ? null : state.spec;
  });
  if (eventReference !== null) {
    const { attach, caps } = context;
    const page = { offset: input.offset ?? 0, maxBytes: caps.resultBytes, attach };
    return readOwnResult(deps.store, eventReference, page);
  }
  const found = findVisibleTask(caller, running, { field: 'task_id', reference: input.taskId });
  if (found instanceof MusterError) return failedCall('TaskOutput', found);
  const waitMs = input.block ? input.timeout : 0;
  const wait = async (end: Promise<void> | undefined) => {
    if (end === undefined || waitMs === 0) return;
    const timer = new AbortController();
    const stopped = AbortSignal.any([signal, timer.signal]);
    await Promise.race([end, sleep(deps.deadlines, waitMs, stopped).catch(() => {})]);
    timer.abort();
  };
  if (found.kind === 'shell') {
    // Find the owner before the wait, because the owner and its shells may end during the wait.
    const owner = running.get(found.owner);
    await wait(owner?.shells.waitForEnd(found.id));
    signal.throwIfAborted();
    return readShellForTask(engine, { caller, owner, id: found.id, offset: input.offset });
  }
  await wait(running.get(found.id)?.end.written);
  signal.throwIfAborted();
  return readTask(engine, found.id, { offset: input.offset ?? 0, reader: caller.state });
}

function readTask(
  engine: EngineContext,
  id: string,
  { offset, reader }: { readonly offset: number; readonly reader: TaskState },
): ToolOutput {
  const state = readTaskState(engine, id);
  if (state instanceof MusterError) return failedCall('TaskOutput', state);
  if (state.end === null) {
    const { tools } = reader.spec;
    return { text: formatRunningReport(state, { now: engine.deps.clock.monotonic(), tools }) };
  }
  if (offset === 0) return formatEndedReport(state, reader);
  const { length } = fullResult(state);
  if (offset <= length) return buildEndOutput(state, buildParentText(state, offset), reader);
  return {
    text: `TaskOutput: offset: ${offset} is beyond the end; the answer has ${length} characters`,
    error: 'INVALID_PARAM',
  };
}

/** A reference to an event of a task's log. */
interface EventReference {
  readonly task: string;
  readonly seq: number;
}

type TaskOrigins = Pick<TaskSpec, 'id' | 'inherited' | 'branchedFrom'>;

/**
 * Resolves a name such as `ID#41`, with which cleared results are named: an event of the task itself, or of a task
 * whose conversation it continues, up to the event at which it was forked. Returns null for any other name.
 *
 * @param findOrigins returns the origins of another task, or null if its log no longer exists
 */
export function resolveOwnEvent(
  name: string,
  own: TaskOrigins,
  findOrigins: (task: string) => TaskOrigins | null,
): EventReference | null {
  const [, id, digits] = /^([a-z0-9]*)#(\d{1,12})$/.exec(name) ?? [];
  if (id === undefined || digits === undefined) return null;
  const seq = Number(digits);
  if (own.id.startsWith(id)) return { task: own.id, seq };
  const visited = new Set([own.id]);
  const findInOrigins = (at: TaskOrigins | null): EventReference | null => {
    for (const from of [at?.branchedFrom, at?.inherited]) {
      // Visit each task once, because a forged log could form a cycle.
      if (from === undefined || visited.has(from.task)) continue;
      visited.add(from.task);
      if (from.task.startsWith(id)) return seq <= from.seq ? { task: from.task, seq } : null;
      const found = findInOrigins(findOrigins(from.task));
      if (found !== null) return found;
    }
    return null;
  };
  return findInOrigins(own);
}

interface PageRequest {
  readonly offset: number;
  /** The maximum size of the page in bytes. */
  readonly maxBytes: number;
  readonly attach: AttachPort | undefined;
}

/** Reads the result of a call, from `offset` (UTF-16 units) on, at most `maxBytes` of it. */
export async function readOwnResult(
  store: Pick<TaskStore, 'scan'>,
  { task, seq }: EventReference,
  { offset, maxBytes, attach }: PageRequest,
): Promise<ToolOutput> {
  const name = `${task}#${seq}`;
  let found: TaskEvent | undefined;
  const problem = catchMusterError(() =>
    store.scan(task, (event) => {
      if (event.seq === seq) found = event;
    }),
  );
  if (problem instanceof MusterError) {
    return { text: `TaskOutput: task_id: ${name}: ${problem.message}`, error: problem.code };
  }
  if (found?.type !== 'call.ended' && found?.type !== 'call.refused') {
    const text = `TaskOutput: task_id: ${name} is no result of a call of yours`;
    return { text, error: 'NOT_FOUND' };
  }
  const { text: whole, tool } = found;
  const attachments = found.type === 'call.ended' ? (found.attachments ?? []) : [];
  if (offset > whole.length) {
    const text = `TaskOutput: offset: ${offset} is beyond the end; the result has ${whole.length} characters`;
    return { text, error: 'INVALID_PARAM' };
  }
  const text = takePage(whole.slice(offset), maxBytes);
  const next = offset + text.length;
  const head = `Result of ${tool}, as it was then:`;
  if (next >= whole.length) return attachAgain(`${head}\n${text}`, attachments, attach);
  const rest = `[Cut at ${next} of ${whole.length} characters. The rest: TaskOutput(task_id: "${name}", offset: ${next})]`;
  return { text: `${head}\n${text}\n${rest}` };
}

/** Attaches the images and documents of a result again, as far as the limits allow. */
async function attachAgain(
  text: string,
  attachments: readonly Attachment[],
  attach: AttachPort | undefined,
): Promise<ToolOutput> {
  const shown: Attachment[] = [];
  const lines = [text];
  for (const attachment of attachments) {
    const why =
      attach === undefined ? 'nothing can be shown here' : await attach.addAgain(attachment);
    if (why === null) shown.push(attachment);
    else lines.push(`[${describeAttachment(attachment)}. Not shown: ${why}.]`);
  }
  const output = { text: lines.join('\n') };
  return shown.length === 0 ? output : { ...output, attachments: shown };
}

/**
 * Returns the beginning of a text within a number of bytes. It ends with a full line if the full lines fill at least
 * half of the page.
 */
function takePage(text: string, maxBytes: number): string {
  if (text.length <= maxBytes && byteLength(text) <= maxBytes) return text;
  let length = Math.min(text.length, maxBytes);
  const bytes = byteLength(text.slice(0, length));
  if (bytes > maxBytes) length = Math.max(2, Math.floor((length * maxBytes) / bytes / 2));
  const line = text.lastIndexOf('\n', length - 1) + 1;
  if (line > length / 2) return text.slice(0, line);
  const splitsPair = (text.codePointAt(length - 1) ?? 0) > 0xffff;
  return text.slice(0, splitsPair ? length + 1 : length);
}
