import { argumentsSchema, failedCall, ArgumentReader, TASK_ID_ALIASES } from './argument-reader.ts';
import type { JsonValue } from '../../base/json.ts';
import { MusterError } from '../../base/errors.ts';
import type { Tool, ToolContext, ToolOutput, ValidationResult } from '../../protocol/tool.ts';
import { stopOrder } from '../task/stop-order.ts';
import { buildParentText } from '../results/result.ts';
import { buildEndOutput } from '../results/task-report.ts';
import { waitForEnd } from '../task/running-tasks.ts';
import { findVisibleTask, type VisibleTask, readTaskState } from '../delegation/visible-tasks.ts';
import type { TaskRun } from '../task/task-run.ts';
import { type EngineContext, requireCaller } from '../delegation/engine-context.ts';
import { readShellForTask } from './read-shell.ts';

/** The input of TaskStop. */
export interface TaskStopInput {
  readonly taskId: string;
}

/**
 * Creates the tool that stops a task with its descendants, or a background shell. The output of the stopped task or
 * shell is returned.
 */
export function taskStopTool(engine: EngineContext): Tool<TaskStopInput> {
  return {
    name: 'TaskStop',
    kind: 'meta',
    // A call that runs again after a crash stops the same task, or finds that it has ended.
    replay: 'keyed',
    waits: () => true,
    description:
      'Stop your subagent, with all below it, or background shell. What it had found is kept.',
    inputSchema: argumentsSchema(['task_id'], { task_id: { type: 'string' } }),
    parse,
    run: (input, context) => stop(engine, input, context),
  };
}

function parse(value: JsonValue): ValidationResult<TaskStopInput> {
  const args = new ArgumentReader(value, ['task_id'], TASK_ID_ALIASES);
  return args.result({
    taskId: args.text('task_id', 'the id of a task or shell, or the beginning of one'),
  });
}

async function stop(
  engine: EngineContext,
  { taskId: reference }: TaskStopInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const caller = requireCaller(engine, context);
  const found = findVisibleTask(caller, engine.running, { field: 'task_id', reference });
  if (found instanceof MusterError) return failedCall('TaskStop', found);
  return found.kind === 'shell'
    ? await stopShell(engine, caller, found)
    : await stopTask(engine, { caller, id: found.id, signal: context.signal });
}

async function stopTask(
  engine: EngineContext,
  { caller, id, signal }: Pick<ToolContext, 'signal'> & { caller: TaskRun; id: string },
): Promise<ToolOutput> {
  const run = engine.running.get(id);
  if (run !== undefined) {
    run.stop(stopOrder('parent', `task ${caller.spec.id} stopped it`));
    await waitForEnd(run, signal);
  }
  const state = run?.outcome() ?? readTaskState(engine, id);
  if (state instanceof MusterError) return failedCall('TaskStop', state);
  const isStopped = run !== undefined && (state.status === 'stopped' || state.status === 'killed');
  const outcome = `Task ${id} ${isStopped ? 'is stopped' : 'had ended before'}.`;
  // The caller wanted the stop, so the error of the stopped task is not an error of this call.
  const { text, told = [] } = buildEndOutput(
    state,
    `${outcome}\n\n${buildParentText(state, 0)}`,
    caller.state,
  );
  return { text, told };
}

async function stopShell(
  engine: EngineContext,
  caller: TaskRun,
  { id, owner: ownerId }: Extract<VisibleTask, { kind: 'shell' }>,
): Promise<ToolOutput> {
  const owner = engine.running.get(ownerId);
  const hadEnded = owner?.state.shells.get(id)?.end !== null;
  // A caller that owns the shell reads the end in the output below; another owner needs a notice.
  await owner?.shells.stop([id], { notify: owner !== caller });
  const report = readShellForTask(engine, { caller, owner, id, offset: null });
  if (report.error !== undefined) return report;
  const outcome = hadEnded ? 'had ended before' : 'is stopped';
  const word = owner?.state.shells.get(id)?.remote === null ? 'Shell' : 'Call';
  return { ...report, text: `${word} ${id} ${outcome}.\n\n${report.text}` };
}
