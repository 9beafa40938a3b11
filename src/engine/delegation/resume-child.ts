import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../base/json.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import { requestedModels, type AgentDefinition } from '../../protocol/agent.ts';
import type { TaskInput } from '../../protocol/input.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import { isStartedBy } from '../../protocol/state/activation.ts';
import { recordLoss, tasksBelow } from './delivery.ts';
import { foldLog } from '../task/fold-log.ts';
import { recoverTasks } from './recover-task.ts';
import { findVisibleTask } from './visible-tasks.ts';
import { finishRewinds } from '../rewind/finish.ts';
import { outputSchemaOf } from '../task/output-schema.ts';
import { recordMaxRights, recordResume, startActivations } from './resume.ts';
import { delegationOf, repeatedDelegationError } from './check-repeated-delegations.ts';
import type { TaskRun } from '../task/task-run.ts';
import { waitForEnd } from '../task/wait-for-end.ts';
import type { EngineContext } from './engine-context.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { findAgent } from '../../agents/find-agent.ts';

/** A call that makes an ended task below the caller go on. */
export interface ResumeCall {
  /** Gets its result. */
  readonly caller: TaskRun;
  /** Of a person, who makes no call: any new id. */
  readonly callId: string;
  /** The caller's id, or `user`. */
  readonly by: string;
  /** The argument that names the task, and what it says. */
  readonly field: string;
  readonly word: string;
  readonly message: TaskInput;
  /** Absent: as its definition says. */
  readonly background?: boolean;
  /** What the call says of its type: an error unless it is the recorded one. */
  readonly subagentType?: string;
  /** What the call says of the form of its answer: an error unless it is the recorded one. */
  readonly outputSchema?: JsonObject;
  readonly model?: string;
  readonly maxTurns?: number;
}

/**
 * Sets an ended task to work again as a child of the caller, with its whole context, and returns it.
 * Safe to do again after a crash: what was written down the first time is not written twice.
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
    return await goOn(engine, call, { id, model, background, delegation });
  } catch (thrown) {
    if (thrown instanceof MusterError) return thrown;
    throw thrown;
  }
}

/** One whose end is about to be written can be gone on with as soon as it is. */
async function waitWhileEnding(
  { running }: EngineContext,
  { caller, field, word }: ResumeCall,
): Promise<void> {
  const found = findVisibleTask(caller, running, { field, word });
  const run = found instanceof MusterError ? undefined : running.get(found.id);
  if (run?.isEnding === true) await waitForEnd(run, caller.cancellation.signal);
}

interface GoOnTerms {
  readonly id: string;
  /** Null: as recorded. */
  readonly model: ResolvedModel | null;
  readonly background: boolean;
  /** Null: a person's. */
  readonly delegation: string | null;
}

/** A delegation like any other, in other words or the same; null: a person's. */
function delegationFor(
  engine: EngineContext,
  { by, caller, callId, message }: ResumeCall,
  { spec }: TaskState,
): string | null | MusterError {
  if (by === 'user') return null;
  const agent = spec.agent.name;
  const delegation = delegationOf(engine, { agent, prompt: message.text });
  // What was announced before a crash was let pass then.
  if (caller.state.children.get(spec.id)?.callId === callId) return delegation;
  return repeatedDelegationError(engine, caller, { agent, delegation }) ?? delegation;
}

async function goOn(
  engine: EngineContext,
  call: ResumeCall,
  { id, model, background, delegation }: GoOnTerms,
): Promise<TaskRun> {
  const { deps } = engine;
  const { caller, callId } = call;
  if (caller.isEnding) {
    throw new MusterError('CONFLICT', `task ${caller.spec.id}, which would be told, is ending`);
  }
  const opened = recoverTasks(engine, id, { tree: caller.tree, parent: caller });
  const [child, ...below] = opened;
  try {
    await finishRewinds(deps.store, opened);
    if (caller.state.children.get(id)?.callId !== callId) {
      const made = delegation === null ? {} : { delegation };
      caller.journal.record({ type: 'child.resumed', child: id, callId, background, ...made });
    }
    if (!isStartedBy(child.state.activation, call.by, callId)) {
      recordResume(deps, child, {
        by: call.by,
        callId,
        message: call.message,
        maxRights: caller.permissions.rights,
        ...(model === null ? {} : { model }),
        ...(call.maxTurns === undefined ? {} : { maxTurns: call.maxTurns }),
      });
    }
    for (const run of below)
      recordMaxRights(run, run.parent?.permissions.rights ?? caller.permissions.rights);
  } catch (thrown) {
    // Some log can't be written: nobody may wait for what will not go on.
    for (const run of opened) run.close();
    recordLoss(caller, id, errorMessage(thrown));
    throw thrown;
  }
  await startActivations(engine, opened);
  return child;
}

function findEnded(
  { deps, running }: EngineContext,
  { caller, field, word, subagentType, outputSchema }: ResumeCall,
): TaskState | MusterError {
  const found = findVisibleTask(caller, running, { field, word });
  if (found instanceof MusterError) return found;
  const { id } = found;
  if (found.kind === 'shell') {
    return new MusterError('INVALID_PARAM', `${field}: ${id} is a shell; only tasks go on`);
  }
  if (!tasksBelow(caller.state).includes(id)) {
    return new MusterError('NOT_FOUND', `${field}: task ${id} is not below you; only such go on`);
  }
  if (running.get(id) !== undefined) {
    return new MusterError(
      'CONFLICT',
      `${field}: task ${id} has not ended. TaskSend tells it something, TaskOutput waits for it.`,
    );
  }
  const state = foldLog(deps.store, id);
  const schema = outputSchemaOf(state.spec);
  if (outputSchema !== undefined && !isDeepStrictEqual(outputSchema, schema)) {
    const has = schema === null ? 'has none' : 'has another one';
    return new MusterError(
      'INVALID_PARAM',
      `output_schema: task ${id} ${has} and keeps to that; leave it out, or begin a new task`,
    );
  }
  const { agent: recorded } = state.spec;
  if (subagentType === undefined || meansAgent(subagentType, recorded, deps.agents.agents())) {
    return state;
  }
  return new MusterError(
    'INVALID_PARAM',
    `subagent_type: task ${id} is of type ${recorded.name} and stays so; leave it out`,
  );
}

/**
 * Whether a word means the recorded agent: it means an agent of that name now, or no single agent and
 * fits the recorded one, whose definition may be gone since.
 */
function meansAgent(
  word: string,
  recorded: AgentDefinition,
  agents: readonly AgentDefinition[],
): boolean {
  const found = findAgent(word, agents);
  return found.ok
    ? found.agent.name.toLowerCase() === recorded.name.toLowerCase()
    : findAgent(word, [recorded]).ok;
}

/** Null: as recorded. */
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
