import { MusterError } from '../../base/errors.ts';
import { isStartedBy } from '../../protocol/state/activation.ts';
import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import { foldLog } from '../task/fold-log.ts';
import { prepareModels } from './plan-child.ts';
import { visibleTasksIn } from './visible-tasks.ts';
import { parentText } from '../results/result.ts';
import { resumeChild } from './resume-child.ts';
import { factsOf } from './check-repeated-delegations.ts';
import { spawnChild } from './spawn.ts';
import { endOutput, runningReport } from '../results/task-report.ts';
import { taskState } from './task-state.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { TaskInput } from '../task/task-input.ts';
import type { EngineContext } from './engine-context.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** Runs a Task call. What is wrong with the call is its output; rejects for bugs alone. */
export type Delegation = (input: TaskInput, context: ToolContext) => Promise<ToolOutput>;

export function createDelegation(engine: EngineContext): Delegation {
  return async (input, { taskId, callId }) => {
    const caller = engine.running.get(taskId);
    if (caller === undefined) {
      return { text: `Task: task ${taskId} does not run here`, error: 'INTERNAL_ERROR' };
    }
    const id = await startChild(engine, { caller, callId, input });
    if (id instanceof MusterError) {
      const what = input.ofSkill === undefined ? 'Task' : `Skill ${input.ofSkill.name}`;
      // A limit is told by its code, too, as it is where a task is ended by one.
      const code = id.code === 'LIMIT_EXCEEDED' ? `${id.code}: ` : '';
      return { text: `${what}: ${code}${id.message}`, error: id.code, ...factsOf(id) };
    }
    return waitForChild(engine, caller, id);
  };
}

export interface TaskCall {
  readonly caller: TaskRun;
  readonly callId: string;
  readonly input: TaskInput;
}

/** The id of the call's child, at work or ended: one that was there before a crash is found again. */
export async function startChild(
  engine: EngineContext,
  call: TaskCall,
): Promise<string | MusterError> {
  const { caller, callId, input } = call;
  await engine.beginnings.waitForTurn();
  caller.cancellation.turnSignal.throwIfAborted();
  const announced = childOfCall(caller.state, callId);
  if (announced !== null && !isLeftUndone(engine, call, announced)) return announced;
  if (input.resume !== undefined) {
    const child = await resumeChild(engine, {
      ...input,
      caller,
      callId,
      by: caller.spec.id,
      field: 'resume',
      word: input.resume,
      message: {
        id: `${caller.spec.id}-${callId}`,
        kind: 'message',
        from: caller.spec.id,
        text: input.prompt,
        handed: visibleTasksIn(input.prompt, caller, engine.running),
      },
    });
    return child instanceof MusterError ? child : child.spec.id;
  }
  await prepareModels(engine.deps, caller.spec.agent, input);
  caller.cancellation.turnSignal.throwIfAborted();
  const child = await spawnChild(engine, { ...call, announced });
  if (child instanceof MusterError) return child;
  engine.startLoop(child);
  return child.spec.id;
}

/** That of the process that made a task; each one that takes its log over begins another. */
const FIRST_EPOCH = 1;

/** Only under an earlier owner of the caller can its call have begun before. */
function childOfCall({ children, epoch }: TaskState, callId: string): string | null {
  if (epoch === FIRST_EPOCH) return null;
  for (const [id, child] of children) if (child.callId === callId) return id;
  return null;
}

/** Announced before a crash that came before it was made, or resumed. */
function isLeftUndone(
  { deps, running }: EngineContext,
  { caller, callId }: TaskCall,
  id: string,
): boolean {
  if (running.get(id) !== undefined) return false;
  if (caller.state.children.get(id)?.status !== null) return false;
  if (!deps.store.exists(id)) return true;
  return !isStartedBy(foldLog(deps.store, id).activation, caller.spec.id, callId);
}

/** Waits for a child in the foreground, as long as a call may wait; else says how it goes on. */
async function waitForChild(
  engine: EngineContext,
  caller: TaskRun,
  id: string,
): Promise<ToolOutput> {
  const state = await outcomeOfChild(engine, caller, id);
  if (state === null) return goesOn(engine, caller, id);
  return endOutput(state, parentText(state, 0), caller.state);
}

/** How a child has ended, which is waited for as long as a call may; null: it goes on in the background. */
export async function outcomeOfChild(
  { deps, running }: EngineContext,
  caller: TaskRun,
  id: string,
): Promise<TaskState | null> {
  const run = running.get(id);
  const child = () => caller.state.children.get(id);
  if (run !== undefined && child()?.background === false) {
    const { foregroundMs } = deps.settings;
    const because = `the limit default_timeout_seconds = ${foregroundMs / 1000} is reached`;
    const patience = deps.deadlines.after(foregroundMs, () => {
      try {
        run.detach(because);
      } catch (thrown) {
        // The log can't take it (a full disk): the call waits on.
        deps.onFault(caller.spec.id, thrown);
      }
    });
    await caller.tree.idleDetector.waiting(() => Promise.race([run.end.written, run.detached]));
    patience.cancel();
  }
  return child()?.status === null ? null : (run?.outcome() ?? foldLog(deps.store, id));
}

/** A child that the call waits for no longer; or never did, where it asked for one in the background. */
function goesOn(engine: EngineContext, caller: TaskRun, id: string): ToolOutput {
  const { deps } = engine;
  const outputFile = deps.store.outputFile(id);
  const where = outputFile === null ? '' : ` Its output grows in ${outputFile}.`;
  const because = caller.state.children.get(id)?.detached;
  const state = because === undefined ? null : taskState(engine, id);
  if (because === undefined || state === null || state instanceof MusterError) {
    return { text: `Task ${id} runs in the background; you are told when it ends.${where}` };
  }
  const { tools } = caller.spec;
  const report = runningReport(state, { now: deps.clock.monotonic(), tools });
  const told = `Task ${id} is still running: ${because}. It goes on in the background, until its own limits; you are told when it ends.${where}`;
  return { text: `${told}\n\n${report}` };
}
