import type { JsonValue } from '../../base/json.ts';
import { MusterError } from '../../base/errors.ts';
import type { Tool, ToolContext, ToolOutput, ValidationResult } from '../../protocol/tool.ts';
import { foldLog } from '../fold-log.ts';
import { findReachable, type Reached } from '../reach.ts';
import { parentText } from '../result.ts';
import { stopOrder } from '../stop.ts';
import { endOutput } from '../task-report.ts';
import type { TaskRun } from '../task-run.ts';
import type { Workshop } from '../workshop.ts';
import { Arguments } from './arguments.ts';
import { reportShell } from './report-shell.ts';

export interface TaskStopInput {
  readonly taskId: string;
}

/** Ends a task with all below it, or a background shell; what it had found is kept. */
export function taskStopTool(workshop: Workshop): Tool<TaskStopInput> {
  return {
    name: 'TaskStop',
    kind: 'meta',
    // Run again after a crash, it stops the same task or finds it stopped.
    replay: 'keyed',
    waits: true,
    description:
      'Stop a subagent of yours and all below it, or a background shell. What it had found is kept.',
    inputSchema: {
      type: 'object',
      properties: { task_id: { type: 'string' } },
      required: ['task_id'],
    },
    parse,
    run: (input, context) => stop(workshop, input, context),
  };
}

function parse(value: JsonValue): ValidationResult<TaskStopInput> {
  const args = new Arguments(value, ['task_id']);
  return args.result({
    taskId: args.text('task_id', 'the id of a task or shell, or the beginning of one'),
  });
}

async function stop(
  workshop: Workshop,
  input: TaskStopInput,
  { taskId }: ToolContext,
): Promise<ToolOutput> {
  const { running } = workshop;
  const caller = running.get(taskId);
  if (caller === undefined) {
    return { text: `TaskStop: task ${taskId} does not run here`, error: 'INTERNAL_ERROR' };
  }
  const found = findReachable(caller, running, { field: 'task_id', word: input.taskId });
  if (found instanceof MusterError)
    return { text: `TaskStop: ${found.message}`, error: found.code };
  return found.kind === 'shell'
    ? await stopShell(workshop, caller, found)
    : await stopTask(workshop, caller, found.id);
}

async function stopTask(
  { deps, running }: Workshop,
  caller: TaskRun,
  id: string,
): Promise<ToolOutput> {
  const run = running.get(id);
  run?.stop(stopOrder('parent', `task ${caller.spec.id} stopped it`));
  await run?.ended;
  const state = run?.outcome() ?? foldLog(deps.store, id);
  const { told } = endOutput(state, '');
  const what = run === undefined ? 'had ended before' : 'is stopped';
  return {
    text: `Task ${id} ${what}.\n\n${parentText(state, 0)}`,
    ...(told === undefined ? {} : { told }),
  };
}

async function stopShell(
  workshop: Workshop,
  caller: TaskRun,
  { id, owner: ownerId }: Extract<Reached, { kind: 'shell' }>,
): Promise<ToolOutput> {
  const owner = workshop.running.get(ownerId);
  const hadEnded = owner?.state.shells.get(id)?.end !== null;
  // Its own task reads of the end right here; another one has to be told.
  await owner?.shells.stop([id], { isTold: owner !== caller });
  const report = reportShell(workshop, { caller, owner, id, offset: null });
  if (report.error !== undefined) return report;
  const what = hadEnded ? 'had ended before' : 'is stopped';
  return { ...report, text: `Shell ${id} ${what}.\n\n${report.text}` };
}
