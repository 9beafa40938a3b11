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

/** The terms on which a task is resumed. */
interface ResumeTerms {
  /** A task id, or `user`. */
  readonly by: string;
  /** The id of the call that resumes the task, or null for a person. */
  readonly callId: string | null;
  /** The next message, or null for none. */
  readonly message: TaskInput | null;
  /** True to add a message that asks the task to continue, if it has ended and gets no other message. Default: true. */
  readonly asksToContinue?: boolean;
  /** The maximum rights. The task gets its recorded rights, narrowed to these. */
  readonly maxRights: Rights;
  /** Default: the recorded model. */
  readonly model?: ResolvedModel;
  readonly maxTurns?: number;
  /** The mode that a person chose. Default: the recorded mode. */
  readonly mode?: PermissionMode;
  /** Set to only summarize the context of a task that has ended. `keep` is what the summary has to keep. */
  readonly compacts?: { readonly keep: string | null };
}

/**
 * Records the resume of a recovered task and its terms in one batch. A task that had not ended needs no resume event.
 */
export function recordResume(deps: EngineDeps, run: TaskRun, terms: ResumeTerms): void {
  const { by, callId } = terms;
  const hasEnded = run.state.end !== null;
  const isConversation = run.spec.fanOut === undefined;
  const { compacts, asksToContinue = true } = terms;
  const needsMessage = asksToContinue && hasEnded && isConversation && compacts === undefined;
  const message = terms.message ?? (needsMessage ? createContinueMessage() : null);
  const compactsField = compacts === undefined ? {} : { compacts };
  // `task.resumed` comes last: after a crash in the middle of the batch the task is still ended and can be resumed.
  const events: readonly EventBody[] = [
    ...(hasEnded ? buildWithdrawalEvents(run) : []),
    ...buildModeEvents(run, terms),
    ...(message === null ? [] : [{ type: 'input.queued', input: message } as const]),
    ...toTermsEvents(deps, run, terms),
    ...(run.parent === null ? flagGrantEvents(deps.inbox.modeGrants, run.state.modeGrants) : []),
    ...(hasEnded ? [{ type: 'task.resumed', by, callId, ...compactsField } as const] : []),
  ];
  if (events.length > 0) run.journal.record(...events);
}

/**
 * Withdraws queued notices of Muster about the work that ended, such as a reached limit. Notices of a mode or an
 * interruption stay.
 */
function buildWithdrawalEvents({ state }: TaskRun): readonly EventBody[] {
  const { queued } = state.conversation;
  const ids = queued.flatMap(({ id, kind }) =>
    kind === 'notice' && !isModeNotice(id) && !isInterruptionNotice(id) ? [id] : [],
  );
  return ids.length === 0 ? [] : [{ type: 'input.withdrawn', ids }];
}

/** Creates the message for an ended task that is resumed without another message. */
export function createContinueMessage(): TaskInput {
  return { id: newId(), kind: 'message', from: 'user', text: 'Go on with the task.' };
}

/** Narrows the rights of a recovered descendant to the current rights of its parent. */
function recordNarrowedRights(run: TaskRun, maxRights: Rights): void {
  const { limits, model } = run.spec;
  const rights = limitRightsToParent(run.spec.rights, maxRights, toAgentGrant(run));
  if (isDeepStrictEqual(rights, run.spec.rights)) return;
  run.journal.record({ type: 'terms.changed', rights, limits, model });
}

/** Builds the event that records changed rights, limits or model, if there are any. */
function toTermsEvents(deps: EngineDeps, run: TaskRun, terms: ResumeTerms): readonly EventBody[] {
  const { spec, state } = run;
  const { settings } = deps;
  const rights = computeRights(run, terms);
  // A fallback model is used only until the end of the activation. Then the first model that failed is used again.
  const recorded =
    state.end === null ? spec.model : (state.activation.failedModels[0] ?? spec.model);
  const model = terms.model ?? recorded;
  const hasNewLimits = state.end !== null || terms.maxTurns !== undefined;
  const limits = hasNewLimits
    ? combineLimits({
        config: spec.parent === null ? settings.rootLimits : settings.taskLimits,
        definition: spec.agent.limits,
        call: terms.maxTurns === undefined ? {} : { maxTurns: terms.maxTurns },
      })
    : spec.limits;
  const before = { rights: spec.rights, limits: spec.limits, model: spec.model };
  if (isDeepStrictEqual({ rights, limits, model }, before)) return [];
  return [{ type: 'terms.changed', rights, limits, model }];
}

/**
 * Builds the notice about a changed mode for a conversation, whether the mode was chosen for this message or by a flag.
 */
function buildModeEvents(run: TaskRun, terms: ResumeTerms): readonly EventBody[] {
  const { parent, fanOut, rights } = run.spec;
  const { mode } = computeRights(run, terms);
  if (parent !== null || fanOut !== undefined || mode === rights.mode) return [];
  return modeNoticeEvents(run, mode);
}

function toAgentGrant({ spec, permissions }: TaskRun): AgentGrant {
  return { definition: spec.agent, grant: permissions.modeGrant };
}

/** Returns the recorded rights, narrowed to the maximum rights, with the mode that the person chose. */
function computeRights(run: TaskRun, { maxRights, mode }: ResumeTerms): Rights {
  const { spec } = run;
  const rights = limitRightsToParent(spec.rights, maxRights, toAgentGrant(run));
  return mode === undefined ? rights : { ...rights, mode: effectiveMode(spec.agent, mode) };
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
