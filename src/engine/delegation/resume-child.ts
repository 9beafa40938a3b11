import { isDeepStrictEqual } from 'node:util';
import { type TreePosition, recoverTasks } from './recover-task.ts';
import { dropMissing } from '../../base/drop-missing.ts';
import type { JsonObject } from '../../base/json.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import { requestedModels, type AgentDefinition } from '../../protocol/agent.ts';
import type { TaskInput } from '../../protocol/input.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import { isStartedBy } from '../../protocol/state/activation.ts';
import { recordLostChild, knownDescendants } from './deliver-end.ts';
import { foldLog } from '../task/fold-log.ts';
import { findVisibleTask } from './visible-tasks.ts';
import { finishRewinds } from '../rewind/restore-file.ts';
import { outputSchemaOf } from '../task/output-schema.ts';
import { recordedDelegationKey, repeatedDelegationError } from './repeated-delegations.ts';
import type { TaskRun } from '../task/task-run.ts';
import { waitForEnd } from '../task/running-tasks.ts';
import type { EngineContext } from './engine-context.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { findAgent } from '../../agents/find-agent.ts';
import { newId } from '../../base/ids.ts';
import { flagGrantEvents } from '../task/inbox.ts';
import { limitRightsToParent, type AgentGrant } from '../../policy/mode-grants.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import { effectiveMode } from '../../policy/modes.ts';
import type { PermissionMode, Rights } from '../../protocol/permission.ts';
import { isModeNotice, modeNoticeEvents } from '../questions/set-mode.ts';
import { TASK_VARIABLE } from '../../sys/processes/command-environment.ts';
import { endMarkedProcesses } from '../../sys/processes/process-group.ts';
import type { EngineDeps } from '../task/deps.ts';
import { isInterruptionNotice } from '../task/stop-order.ts';
import { combineLimits } from '../limits/configured-limits.ts';

/** A request to resume an ended descendant of the caller. */
interface ResumeCall {
  /** The task that gets its result. */
  readonly caller: TaskRun;
  /** The id of the call. A person makes no call: then it is any new id. */
  readonly callId: string;
  /** The caller's id, or `user`. */
  readonly by: string;
  /** The name of the argument that names the task, for messages. */
  readonly field: string;
  /** The id of the task, or the beginning of it. */
  readonly reference: string;
  readonly message: TaskInput;
  /** Default: as its definition says. */
  readonly background?: boolean;
  /** The agent that the call names: an error unless it is the recorded one. */
  readonly subagentType?: string;
  /** The answer schema that the call gives: an error unless it is the recorded one. */
  readonly outputSchema?: JsonObject;
  readonly model?: string;
  readonly maxTurns?: number;
}

/**
 * Resumes an ended task as a child of the caller, with its full context, and returns it. It can be repeated after a
 * crash: events that were written the first time are not written twice. Returns the error if it can't be resumed.
 */
export async function resumeChild(
  engine: EngineContext,
  call: ResumeCall,
): Promise<TaskRun | MusterError> {
  await waitWhileEnding(engine, call);
  const target = findEnded(engine, call);
  if (target instanceof MusterError) return target;
  const model = chosenModel(engine, call, target);
  if (model instanceof MusterError) return model;
  try {
    const { id, agent } = target.spec;
    const background = call.background ?? agent.background ?? false;
    const delegation = delegationFor(engine, call, target);
    if (delegation instanceof MusterError) return delegation;
    return await startAgain(engine, call, { id, model, background, delegation });
  } catch (thrown) {
    if (thrown instanceof MusterError) return thrown;
    throw thrown;
  }
}

/** Waits for the end of a task that is being written: the task can be resumed right after it. */
async function waitWhileEnding(
  { running }: EngineContext,
  { caller, field, reference }: ResumeCall,
): Promise<void> {
  const found = findVisibleTask(caller, running, { field, reference });
  const run = found instanceof MusterError ? undefined : running.get(found.id);
  if (run?.isEnding === true) await waitForEnd(run, caller.cancellation.signal);
}

interface ResumedChild {
  readonly id: string;
  /** The model to continue with, or null for the recorded one. */
  readonly model: ResolvedModel | null;
  readonly background: boolean;
  /** The key of the delegation; null if a person resumes the task. */
  readonly delegation: string | null;
}

/** Returns the key of the delegation, the error if it repeats earlier ones too often, or null for a person. */
function delegationFor(
  engine: EngineContext,
  { by, caller, callId, message }: ResumeCall,
  { spec }: TaskState,
): string | null | MusterError {
  if (by === 'user') return null;
  const agent = spec.agent.name;
  const delegation = recordedDelegationKey(engine, { agent, prompt: message.text });
  // A call that reserved the child before a crash was accepted then.
  if (caller.state.children.get(spec.id)?.callId === callId) return delegation;
  return repeatedDelegationError(engine, caller, { agent, delegation }) ?? delegation;
}

async function startAgain(
  engine: EngineContext,
  call: ResumeCall,
  { id, model, background, delegation }: ResumedChild,
): Promise<TaskRun> {
  const { deps } = engine;
  const { caller, callId } = call;
  if (caller.isEnding) {
    const message = `task ${caller.spec.id}, which would get the result, is ending`;
    throw new MusterError('CONFLICT', message);
  }
  const opened = await openToResume(engine, id, {
    position: { tree: caller.tree, parent: caller },
    record: ([child]) => {
      if (caller.state.children.get(id)?.callId !== callId) {
        const made = delegation === null ? {} : { delegation };
        caller.journal.record({ type: 'child.resumed', child: id, callId, background, ...made });
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

type OpenedTasks = readonly [TaskRun, ...TaskRun[]];

interface ResumeSteps {
  readonly position: TreePosition;
  /** Writes what resumes the first of the tasks, which is the requested one. */
  record(opened: OpenedTasks): void | Promise<void>;
  onFailure?(thrown: unknown): void;
}

/**
 * Recovers a task and all its descendants that had not ended, and writes to their logs that they continue. If that
 * fails, all are closed again, since a task that is open and never runs would be waited for forever.
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
      if (run.parent !== null) recordMaxRights(run, run.parent.permissions.rights);
    }
    return opened;
  } catch (thrown) {
    for (const run of opened) run.close();
    onFailure?.(thrown);
    throw thrown;
  }
}

function findEnded(
  { deps, running }: EngineContext,
  { caller, field, reference, subagentType, outputSchema }: ResumeCall,
): TaskState | MusterError {
  const found = findVisibleTask(caller, running, { field, reference });
  if (found instanceof MusterError) return found;
  const { id } = found;
  if (found.kind === 'shell') {
    const message = `${field}: ${id} is a shell; only tasks can be resumed`;
    return new MusterError('INVALID_PARAM', message);
  }
  if (!knownDescendants(caller.state).includes(id)) {
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
    const recorded = schema === null ? 'has none' : 'has another one';
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
 * Returns true if a name means the recorded agent: it finds an agent of the recorded name now, or it finds no agent but fits
 * the recorded one, whose definition may have been deleted.
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

/** Returns the model that the call asks for, or null for the recorded one. */
function chosenModel(
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

/** The terms on which a task is resumed. */
interface ResumeTerms {
  /** A task id, or `user`. */
  readonly by: string;
  /** The call that resumes it, or null for a person. */
  readonly callId: string | null;
  /** The next message, or null for none. */
  readonly message: TaskInput | null;
  /** True if a task that has ended and gets no message is asked to continue. Default: true. */
  readonly isToldToGoOn?: boolean;
  /** The limit of its rights: it gets the recorded ones, narrowed to these. */
  readonly maxRights: Rights;
  /** Default: the recorded model. */
  readonly model?: ResolvedModel;
  readonly maxTurns?: number;
  /** The mode that a person chose. Default: the recorded one. */
  readonly mode?: PermissionMode;
  /** Set to only summarize the context of a task that has ended. */
  readonly compacts?: { readonly keep: string | null };
}

/** Writes the resume of a recovered task and its terms in one batch. A task that had not ended just continues. */
export function recordResume(deps: EngineDeps, run: TaskRun, order: ResumeTerms): void {
  const { by, callId } = order;
  const hasEnded = run.state.end !== null;
  const isConversation = run.spec.fanOut === undefined;
  const { compacts, isToldToGoOn: isWanted = true } = order;
  const isToldToGoOn = isWanted && hasEnded && isConversation && compacts === undefined;
  const message = order.message ?? (isToldToGoOn ? continueMessage() : null);
  const only = compacts === undefined ? {} : { compacts };
  // `task.resumed` comes last: after a crash in the middle of the batch the task is still ended and can be resumed.
  const events: readonly EventBody[] = [
    ...(hasEnded ? withdrawNotices(run) : []),
    ...changedMode(run, order),
    ...(message === null ? [] : [{ type: 'input.queued', input: message } as const]),
    ...changedTerms(deps, run, order),
    ...(run.parent === null ? flagGrantEvents(deps.inbox.modeGrants, run.state.modeGrants) : []),
    ...(hasEnded ? [{ type: 'task.resumed', by, callId, ...only } as const] : []),
  ];
  if (events.length > 0) run.journal.record(...events);
}

/** Withdraws queued notices of Muster, which are about the work that ended, such as a reached limit. */
function withdrawNotices({ state }: TaskRun): readonly EventBody[] {
  const { queued } = state.conversation;
  const ids = queued.flatMap(({ id, kind }) =>
    kind === 'notice' && !isModeNotice(id) && !isInterruptionNotice(id) ? [id] : [],
  );
  return ids.length === 0 ? [] : [{ type: 'input.withdrawn', ids }];
}

/** Creates the message for an ended task that is resumed without another message. */
export function continueMessage(): TaskInput {
  return { id: newId(), kind: 'message', from: 'user', text: 'Go on with the task.' };
}

/** Narrows the rights of a recovered descendant to those that its parent has now. */
function recordMaxRights(run: TaskRun, maxRights: Rights): void {
  const { limits, model } = run.spec;
  const rights = limitRightsToParent(run.spec.rights, maxRights, modeTerms(run));
  if (isDeepStrictEqual(rights, run.spec.rights)) return;
  run.journal.record({ type: 'terms.changed', rights, limits, model });
}

function changedTerms(deps: EngineDeps, run: TaskRun, order: ResumeTerms): readonly EventBody[] {
  const { spec, state } = run;
  const { settings } = deps;
  const rights = withMode(run, order);
  // A fallback model is used only until the end of the activation.
  const recorded =
    state.end === null ? spec.model : (state.activation.failedModels[0] ?? spec.model);
  const model = order.model ?? recorded;
  const hasNewLimits = state.end !== null || order.maxTurns !== undefined;
  const limits = hasNewLimits
    ? combineLimits({
        config: spec.parent === null ? settings.rootLimits : settings.taskLimits,
        definition: spec.agent.limits,
        call: order.maxTurns === undefined ? {} : { maxTurns: order.maxTurns },
      })
    : spec.limits;
  const before = { rights: spec.rights, limits: spec.limits, model: spec.model };
  if (isDeepStrictEqual({ rights, limits, model }, before)) return [];
  return [{ type: 'terms.changed', rights, limits, model }];
}

/** Tells a conversation about a changed mode, whether the person chose it for this message or with a flag. */
function changedMode(run: TaskRun, order: ResumeTerms): readonly EventBody[] {
  const { parent, fanOut, rights } = run.spec;
  const { mode } = withMode(run, order);
  if (parent !== null || fanOut !== undefined || mode === rights.mode) return [];
  return modeNoticeEvents(run, mode);
}

function modeTerms({ spec, permissions }: TaskRun): AgentGrant {
  return { definition: spec.agent, grant: permissions.modeGrant };
}

/** Returns the recorded rights narrowed to what is granted now, with the mode that the person chose. */
function withMode(run: TaskRun, { maxRights, mode }: ResumeTerms): Rights {
  const { spec } = run;
  const rights = limitRightsToParent(spec.rights, maxRights, modeTerms(run));
  return mode === undefined ? rights : { ...rights, mode: effectiveMode(spec.agent, mode) };
}

/**
 * Starts the loops of recovered tasks, after it has killed the processes that they left behind under the previous
 * owner, which would interfere.
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
