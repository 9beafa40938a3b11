import { isDeepStrictEqual } from 'node:util';
import { type TreePosition, recoverTasks } from './recover-task.ts';
import { dropMissing } from '../../base/drop-missing.ts';
import type { JsonObject } from '../../base/json.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import { requestedModels, type AgentDefinition } from '../../protocol/agent.ts';
import type { TaskInput } from '../../protocol/input.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import { isStartedBy } from '../../protocol/state/activation.ts';
import { recordLostChild, listKnownDescendants } from './deliver-end.ts';
import { foldLog } from '../task/fold-log.ts';
import { findVisibleTask } from './visible-tasks.ts';
import { finishRewinds } from '../rewind/restore-file.ts';
import { outputSchemaOf } from '../task/output-schema.ts';
import { toRedactedDelegationKey, findRepetitionError } from './repeated-delegations.ts';
import type { TaskRun } from '../task/task-run.ts';
import { waitForEnd } from '../task/running-tasks.ts';
import type { EngineContext } from './engine-context.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { findAgent } from '../../agents/find-agent.ts';
import { TASK_VARIABLE } from '../../sys/processes/command-environment.ts';
import { endMarkedProcesses } from '../../sys/processes/process-group.ts';
import { recordResume, recordNarrowedRights } from './resume-terms.ts';

/** A request to resume an ended descendant of the caller. */
interface ResumeCall {
  /** The task that gets the result. */
  readonly caller: TaskRun;
  /** The id of the call. If a person resumes the task, any new id. */
  readonly callId: string;
  /** The caller's id, or `user`. */
  readonly by: string;
  /** The name of the argument that names the task, for messages. */
  readonly field: string;
  /** The id of the task, or the beginning of its id. */
  readonly reference: string;
  readonly message: TaskInput;
  /** Default: the value in the definition of the agent. */
  readonly background?: boolean;
  /** The agent that the call names. It must be the recorded agent. */
  readonly subagentType?: string;
  /** The answer schema of the call. It must be the recorded schema. */
  readonly outputSchema?: JsonObject;
  readonly model?: string;
  readonly maxTurns?: number;
}

/**
 * Resumes an ended task as a child of the caller, with its full context, and returns the task. The call can be repeated
 * after a crash: events that were already written are not written again. Returns the error if the task can't be
 * resumed.
 */
export async function resumeChild(
  engine: EngineContext,
  call: ResumeCall,
): Promise<TaskRun | MusterError> {
  await waitWhileEnding(engine, call);
  const target = findEndedTask(engine, call);
  if (target instanceof MusterError) return target;
  const model = resolveRequestedModel(engine, call, target);
  if (model instanceof MusterError) return model;
  try {
    const { id, agent } = target.spec;
    const background = call.background ?? agent.background ?? false;
    const delegation = checkDelegation(engine, call, target);
    if (delegation instanceof MusterError) return delegation;
    return await reopenAndStart(engine, call, { id, model, background, delegation });
  } catch (thrown) {
    if (thrown instanceof MusterError) return thrown;
    throw thrown;
  }
}

/** If the end of the task is being written, waits for it, since the task can be resumed right afterwards. */
async function waitWhileEnding(
  { running }: EngineContext,
  { caller, field, reference }: ResumeCall,
): Promise<void> {
  const found = findVisibleTask(caller, running, { field, reference });
  const run = found instanceof MusterError ? undefined : running.get(found.id);
  if (run?.isEnding === true) await waitForEnd(run, caller.cancellation.signal);
}

/** The decisions about a task that is resumed. */
interface ResumedChild {
  readonly id: string;
  /** The model to continue with, or null for the recorded model. */
  readonly model: ResolvedModel | null;
  readonly background: boolean;
  /** The key of the delegation; null if a person resumes the task. */
  readonly delegation: string | null;
}

/** Returns the key of the delegation, the error if it repeats earlier delegations too often, or null for a person. */
function checkDelegation(
  engine: EngineContext,
  { by, caller, callId, message }: ResumeCall,
  { spec }: TaskState,
): string | null | MusterError {
  if (by === 'user') return null;
  const agent = spec.agent.name;
  const delegation = toRedactedDelegationKey(engine, { agent, prompt: message.text });
  // A call that reserved the child before a crash passed this check at that time.
  if (caller.state.children.get(spec.id)?.callId === callId) return delegation;
  return findRepetitionError(engine, caller, { agent, delegation }) ?? delegation;
}

/** Recovers the task and its open descendants, records the resume in both logs, and starts their loops. */
async function reopenAndStart(
  engine: EngineContext,
  call: ResumeCall,
  { id, model, background, delegation }: ResumedChild,
): Promise<TaskRun> {
  const { deps } = engine;
  const { caller, callId } = call;
  if (caller.isEnding) {
    const message = `task ${caller.spec.id}, which would get the result, is about to end`;
    throw new MusterError('CONFLICT', message);
  }
  const opened = await openToResume(engine, id, {
    position: { tree: caller.tree, parent: caller },
    record: ([child]) => {
      if (caller.state.children.get(id)?.callId !== callId) {
        const extra = delegation === null ? {} : { delegation };
        caller.journal.record({ type: 'child.resumed', child: id, callId, background, ...extra });
      }
      if (isStartedBy(child.state.activation, call.by, callId)) return;
      recordResume(deps, child, {
        by: call.by,
        callId,
        message: call.message,
        maxRights: caller.permissions.rights,
        ...(model === null ? {} : { model }),
        ...dropMissing({ maxTurns: call.maxTurns }),
      });
    },
    onFailure: (thrown) => recordLostChild(caller, id, errorMessage(thrown)),
  });
  await startActivations(engine, opened);
  return opened[0];
}

/** A recovered task, followed by its recovered descendants. */
type OpenedTasks = readonly [TaskRun, ...TaskRun[]];

/** The parts of a resume that depend on who resumes the task. */
interface ResumeSteps {
  readonly position: TreePosition;
  /** Writes the events that resume the first task, which is the requested task. */
  record(opened: OpenedTasks): void | Promise<void>;
  /** Called when the tasks were closed again because of an error. */
  onFailure?(thrown: unknown): void;
}

/**
 * Recovers a task and all its descendants that had not ended, and writes to their logs that they continue. If that
 * fails, closes all of them again, since other tasks would wait forever for an open task that never runs.
 */
export async function openToResume(
  engine: EngineContext,
  id: string,
  { position, record, onFailure }: ResumeSteps,
): Promise<OpenedTasks> {
  const opened = recoverTasks(engine, id, position);
  try {
    await finishRewinds(engine.deps.store, opened);
    await record(opened);
    for (const run of opened.slice(1)) {
      if (run.parent !== null) recordNarrowedRights(run, run.parent.permissions.rights);
    }
    return opened;
  } catch (thrown) {
    for (const run of opened) run.close();
    onFailure?.(thrown);
    throw thrown;
  }
}

/**
 * Finds the ended task that a call names. Returns the error if there is none, or if the call names another agent or
 * schema.
 */
function findEndedTask(
  { deps, running }: EngineContext,
  { caller, field, reference, subagentType, outputSchema }: ResumeCall,
): TaskState | MusterError {
  const visible = findVisibleTask(caller, running, { field, reference });
  if (visible instanceof MusterError) return visible;
  const { id } = visible;
  if (visible.kind === 'shell') {
    const message = `${field}: ${id} is a shell; only tasks can be resumed`;
    return new MusterError('INVALID_PARAM', message);
  }
  if (!listKnownDescendants(caller.state).includes(id)) {
    const message = `${field}: task ${id} is not below you; only your own subagents can be resumed`;
    return new MusterError('NOT_FOUND', message);
  }
  if (running.get(id) !== undefined) {
    return new MusterError(
      'CONFLICT',
      `${field}: task ${id} has not ended. Send it a message with TaskSend, or wait for it with TaskOutput.`,
    );
  }
  const state = foldLog(deps.store, id);
  const schema = outputSchemaOf(state.spec);
  if (outputSchema !== undefined && !isDeepStrictEqual(outputSchema, schema)) {
    const recorded = schema === null ? 'has no schema' : 'has another schema';
    const message = `output_schema: task ${id} ${recorded}, which can't be changed; leave it out, or start a new task`;
    return new MusterError('INVALID_PARAM', message);
  }
  const { agent: recorded } = state.spec;
  if (subagentType === undefined || meansAgent(subagentType, recorded, deps.agents.agents())) {
    return state;
  }
  const message = `subagent_type: task ${id} is of type ${recorded.name}, which can't be changed; leave it out`;
  return new MusterError('INVALID_PARAM', message);
}

/**
 * Returns true if a name refers to the recorded agent: it finds a current agent with the recorded name, or it finds no
 * current agent but matches the recorded agent, whose definition may have been deleted.
 */
function meansAgent(
  name: string,
  recorded: AgentDefinition,
  agents: readonly AgentDefinition[],
): boolean {
  const found = findAgent(name, agents);
  return found.ok
    ? found.agent.name.toLowerCase() === recorded.name.toLowerCase()
    : findAgent(name, [recorded]).ok;
}

/** Returns the model that the call requests, or null if it requests none. */
function resolveRequestedModel(
  { deps }: EngineContext,
  { model, caller, message }: ResumeCall,
  { spec }: TaskState,
): ResolvedModel | null | MusterError {
  if (model === undefined) return null;
  return deps.models.forTask({
    call: model,
    definition: requestedModels(spec.agent),
    agent: spec.agent,
    prompt: message.text,
    parent: caller.spec.model,
  });
}

/**
 * Starts the loops of recovered tasks. Before that, kills the processes that the tasks started under their previous
 * owner, since these would interfere.
 */
export async function startActivations(
  { startLoop }: Pick<EngineContext, 'startLoop'>,
  opened: readonly TaskRun[],
): Promise<void> {
  const ids = opened.map((run) => run.spec.id);
  try {
    await endMarkedProcesses(TASK_VARIABLE, ids);
  } finally {
    for (const run of opened) startLoop(run);
  }
}
