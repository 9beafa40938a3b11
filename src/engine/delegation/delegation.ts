import { rejectOnAbort } from '../../base/async.ts';
import { type TaskCall, spawnChild } from './spawn-child.ts';
import { MusterError } from '../../base/errors.ts';
import { isStartedBy } from '../../protocol/state/activation.ts';
import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import { foldLog } from '../task/fold-log.ts';
import { prepareDelegation } from './plan-child.ts';
import { buildParentText } from '../results/result.ts';
import { findVisibleTasksInText, readTaskState } from './visible-tasks.ts';
import { resumeChild } from './resume-child.ts';
import { buildEndOutput, formatRunningReport } from '../results/task-report.ts';
import { toFailureDetails } from './repeated-delegations.ts';
import type { TaskRun } from '../task/task-run.ts';
import { type TaskArguments, DEFAULT_AGENT } from '../task/task-arguments.ts';
import type { EngineContext } from './engine-context.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { EngineDeps } from '../task/deps.ts';
import { decide } from '../../policy/decide.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { NO_ACCESS, type Decision, type Rights } from '../../protocol/permission.ts';
import { listAgentNames } from '../../agents/find-agent.ts';

/** Runs a Task call. An error in the call becomes the output of the call, so only a bug makes the promise reject. */
export type DelegationRunner = (input: TaskArguments, context: ToolContext) => Promise<ToolOutput>;

/** Creates the function that runs Task calls for an engine. */
export function createDelegationRunner(engine: EngineContext): DelegationRunner {
  return async (input, { taskId, callId }) => {
    const caller = engine.running.get(taskId);
    if (caller === undefined) {
      return { text: `Task: task ${taskId} does not run here`, error: 'INTERNAL_ERROR' };
    }
    const started = await startChild(engine, { caller, callId, input });
    if (started instanceof MusterError) {
      const { code, message } = started;
      const tool = input.skill === undefined ? 'Task' : `Skill ${input.skill.name}`;
      // The text of an exceeded limit begins with the error code, as in the end of a task that exceeds a limit.
      const prefix = code === 'LIMIT_EXCEEDED' ? `${code}: ` : '';
      return { text: `${tool}: ${prefix}${message}`, error: code, ...toFailureDetails(started) };
    }
    return awaitChild(engine, caller, started);
  };
}

/**
 * Starts the child of a Task call and returns the id of the child. A call that runs again after a crash gets the child
 * that it had started before, which may have ended. Returns the error if the call is wrong.
 */
export async function startChild(
  engine: EngineContext,
  call: TaskCall,
): Promise<string | MusterError> {
  const { caller, callId, input } = call;
  await engine.beginnings.waitForTurn();
  caller.cancellation.turnSignal.throwIfAborted();
  const reservedId = findReservedChild(caller.state, callId);
  if (reservedId !== null && !isNotStarted(engine, call, reservedId)) return reservedId;
  if (input.resume !== undefined) {
    const child = await resumeChild(engine, {
      ...input,
      caller,
      callId,
      by: caller.spec.id,
      field: 'resume',
      reference: input.resume,
      message: {
        id: `${caller.spec.id}-${callId}`,
        kind: 'message',
        from: caller.spec.id,
        text: input.prompt,
        handed: findVisibleTasksInText(input.prompt, caller, engine.running),
      },
    });
    return child instanceof MusterError ? child : child.spec.id;
  }
  const { turnSignal } = caller.cancellation;
  await rejectOnAbort(prepareDelegation(engine.deps, caller.spec.agent, input), turnSignal);
  turnSignal.throwIfAborted();
  const child = await spawnChild(engine, { ...call, reservedId });
  if (child instanceof MusterError) return child;
  engine.startLoop(child);
  return child.spec.id;
}

/** The epoch of the process that created a task. Each process that takes over the log begins a new epoch. */
const FIRST_EPOCH = 1;

/**
 * Finds the child that this call reserved before a crash, or null. The first process of the caller can't have crashed,
 * so it need not search.
 */
function findReservedChild({ children, epoch }: TaskState, callId: string): string | null {
  if (epoch === FIRST_EPOCH) return null;
  for (const [id, child] of children) if (child.callId === callId) return id;
  return null;
}

/** Returns true if a reserved child was neither created nor resumed before the crash. */
function isNotStarted(
  { deps, running }: EngineContext,
  { caller, callId }: TaskCall,
  id: string,
): boolean {
  if (running.get(id) !== undefined) return false;
  if (caller.state.children.get(id)?.status !== null) return false;
  if (!deps.store.exists(id)) return true;
  return !isStartedBy(foldLog(deps.store, id).activation, caller.spec.id, callId);
}

/** Waits for a child as long as the call may wait. Returns its result, or the report that it runs in the background. */
async function awaitChild(engine: EngineContext, caller: TaskRun, id: string): Promise<ToolOutput> {
  const state = await waitForChildOutcome(engine, caller, id);
  if (state === null) return createBackgroundOutput(engine, caller, id);
  return buildEndOutput(state, buildParentText(state, 0), caller.state);
}

/**
 * Waits for the end of a child, at most `default_timeout_seconds`. Returns null if the child keeps running in the
 * background.
 */
export async function waitForChildOutcome(
  { deps, running }: EngineContext,
  caller: TaskRun,
  id: string,
): Promise<TaskState | null> {
  const run = running.get(id);
  const child = () => caller.state.children.get(id);
  if (run !== undefined && child()?.background === false) {
    const { foregroundMs } = deps.settings;
    const reason = `the limit default_timeout_seconds = ${foregroundMs / 1000} is reached`;
    const deadline = deps.deadlines.after(foregroundMs, () => {
      try {
        run.detach(reason);
      } catch (thrown) {
        // The log can't be written (a full disk): the call keeps waiting.
        deps.onFault(caller.spec.id, thrown);
      }
    });
    await caller.tree.idleDetector.trackWait(() => Promise.race([run.end.written, run.detached]));
    deadline.cancel();
  }
  return child()?.status === null ? null : (run?.outcome() ?? foldLog(deps.store, id));
}

/** Creates the output of a call that does not wait for its child, or does not wait any longer. */
function createBackgroundOutput(engine: EngineContext, caller: TaskRun, id: string): ToolOutput {
  const { deps } = engine;
  const outputFile = deps.store.outputPath(id);
  const outputNote = outputFile === null ? '' : ` Its output grows in ${outputFile}.`;
  const reason = caller.state.children.get(id)?.detached;
  const state = reason === undefined ? null : readTaskState(engine, id);
  if (reason === undefined || state === null || state instanceof MusterError) {
    return { text: `Task ${id} runs in the background; you are told when it ends.${outputNote}` };
  }
  const { tools } = caller.spec;
  const report = formatRunningReport(state, { now: deps.clock.monotonic(), tools });
  const notice = `Task ${id} is still running: ${reason}. It goes on in the background, until its own limits; you are told when it ends.${outputNote}`;
  return { text: `${notice}\n\n${report}` };
}

type Deps = Pick<EngineDeps, 'home' | 'settings' | 'stateDirectories'> & {
  readonly agents: Pick<EngineDeps['agents'], 'agents'>;
};

/** Decides about a Task call for an agent. The caller has these rights and the Task tool. */
export function decideDelegation(deps: Deps, rights: Rights, { name }: AgentDefinition): Decision {
  const { home, settings, stateDirectories } = deps;
  const [agent, ...agentWords] = listAgentNames(name, deps.agents.agents());
  const access = { ...NO_ACCESS, reads: [], writes: [], agent, agentWords };
  return decide(
    { tool: 'Task', kind: 'delegate', access, inToolSet: settings.taskTools },
    rights,
    // A Task call runs no commands.
    { home, stateDirectories, shellParser: null, isSandboxed: false },
  );
}

/**
 * Lists the names of the agent that a Task call would start, which permission rules can match: its own name first, then
 * its aliases. For a resumed task this is the recorded agent. The list is empty if the agent is not known. Then no rule
 * that allows a single agent allows the call, and every deny or ask rule about an agent applies.
 */
export function listCalledAgentNames(
  engine: Pick<EngineContext, 'deps' | 'running'>,
  { subagentType = DEFAULT_AGENT, resume }: Pick<TaskArguments, 'subagentType' | 'resume'>,
): readonly string[] {
  const { agents } = engine.deps;
  if (resume === undefined) return listAgentNames(subagentType, agents.agents());
  try {
    return listAgentNames(getRecordedAgentName(engine, resume), agents.agents());
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    // Without such a task the call fails later anyway. A log that can't be read leaves the agent unknown.
    return thrown.code === 'NOT_FOUND' ? listAgentNames(subagentType, agents.agents()) : [];
  }
}

function getRecordedAgentName(
  { deps, running }: Pick<EngineContext, 'deps' | 'running'>,
  idPrefix: string,
): string {
  const id = deps.store.resolveId(idPrefix);
  const { spec } = running.get(id)?.state ?? foldLog(deps.store, id);
  return spec.agent.name;
}

/**
 * Lists the commands that check the work of a Task call: those of the call, or else those of the agent's definition. A
 * resumed task keeps its recorded criteria, which are decided about when they are used.
 */
export function listCheckCommands(
  { deps }: Pick<EngineContext, 'deps'>,
  {
    accept,
    resume,
    subagentType = DEFAULT_AGENT,
  }: Pick<TaskArguments, 'accept' | 'resume' | 'subagentType'>,
): readonly string[] {
  if (accept !== undefined || resume !== undefined) return accept?.commands ?? [];
  const [name] = listAgentNames(subagentType, deps.agents.agents());
  const agent = deps.agents.agents().find((each) => each.name === name);
  return agent?.accept?.commands ?? [];
}
