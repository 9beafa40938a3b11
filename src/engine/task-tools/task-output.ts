import type { JsonValue } from '../../base/json.ts';
import { MusterError } from '../../base/errors.ts';
import type { Tool, ToolContext, ToolOutput, ValidationResult } from '../../protocol/tool.ts';
import { resolveOwnEvent, readOwnResult } from '../compaction/own-event.ts';
import { fullResult, buildParentText } from '../results/result.ts';
import { sleep } from '../../base/deadlines.ts';
import { formatEndedReport, buildEndOutput, formatRunningReport } from '../results/task-report.ts';
import { findVisibleTask, readTaskState } from '../delegation/visible-tasks.ts';
import { type EngineContext, requireCaller } from '../delegation/engine-context.ts';
import { ArgumentReader, TASK_ID_ALIASES } from './argument-reader.ts';
import { readShellForTask } from './read-shell.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

export interface TaskOutputInput {
  readonly taskId: string;
  /** True to wait for the end. */
  readonly block: boolean;
  /** Maximum wait, in milliseconds. */
  readonly timeout: number;
  /** Offset in the answer, in UTF-16 units, or in a shell's output, in bytes. Null if it is not given. */
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
      'Result or state of a subagent or background shell of yours. Waits for its end, at most `timeout` ms; with block false it answers at once. `offset` reads on in a long answer or output.',
    inputSchema: {
      type: 'object',
      properties: {
        task_id: { type: 'string' },
        block: { type: 'boolean', description: 'default true' },
        timeout: {
          type: 'integer',
          minimum: 0,
          maximum: MAX_TIMEOUT_MS,
          description: `ms, default ${DEFAULT_TIMEOUT_MS}`,
        },
        offset: { type: 'integer', minimum: 0 },
      },
      required: ['task_id'],
    },
    parse,
    run: (input, context) => readOutput(engine, input, context),
  };
}

function parse(value: JsonValue): ValidationResult<TaskOutputInput> {
  const args = new ArgumentReader(
    value,
    ['task_id', 'block', 'timeout', 'offset'],
    TASK_ID_ALIASES,
  );
  return args.result({
    taskId: args.text('task_id', 'the id of a task, or the beginning of one'),
    block: args.flag('block', true),
    timeout: args.count('timeout', {
      fallback: DEFAULT_TIMEOUT_MS,
      min: 0,
      max: MAX_TIMEOUT_MS,
    }),
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
  const named = resolveOwnEvent(input.taskId, caller.spec, (id) => {
    const state = readTaskState(engine, id);
    return state instanceof MusterError ? null : state.spec;
  });
  if (named !== null) {
    const { attach, caps } = context;
    const page = { offset: input.offset ?? 0, maxBytes: caps.resultBytes, attach };
    return readOwnResult(deps.store, named, page);
  }
  const found = findVisibleTask(caller, running, { field: 'task_id', reference: input.taskId });
  if (found instanceof MusterError) {
    return { text: `TaskOutput: ${found.message}`, error: found.code };
  }
  const waitMs = input.block ? input.timeout : 0;
  const wait = async (end: Promise<void> | undefined) => {
    if (end === undefined || waitMs === 0) return;
    const timer = new AbortController();
    const either = AbortSignal.any([signal, timer.signal]);
    await Promise.race([end, sleep(deps.deadlines, waitMs, either).catch(() => {})]);
    timer.abort();
  };
  if (found.kind === 'shell') {
    // Looked up before the wait: the owner may end meanwhile, and its shells with it.
    const owner = running.get(found.owner);
    await wait(owner?.shells.ended(found.id));
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
  if (state instanceof MusterError) {
    return { text: `TaskOutput: ${state.message}`, error: state.code };
  }
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
