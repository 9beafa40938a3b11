import {
  toDelegator,
  type TransferredContext,
  planChild,
  type ChildPlan,
  type ChildRequest,
} from './plan-child.ts';
import { addSystemText, createTask } from './create-task.ts';
import { findFirstRequestHit, findUnpricedCap } from '../turn/request-budget.ts';
import { dropMissing } from '../../base/drop-missing.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { ModelDetails } from '../../protocol/model.ts';
import type { TaskSource } from '../../protocol/task.ts';
import { Budget } from '../limits/budget.ts';
import { taskCaps } from '../limits/configured-limits.ts';
import { recordLostChild } from './deliver-end.ts';
import { limitMessage } from '../limits/limit-message.ts';
import { describePrompt, formatTaskLine } from '../prompt/prompt.ts';
import { findRepetitionError, toRedactedDelegationKey } from './repeated-delegations.ts';
import { findSchemaProblem } from '../structured/check-answer.ts';
import { placeChild, type PlacedChild } from './place-child.ts';
import { findVisibleTasksInText } from './visible-tasks.ts';
import { outputSchemaOf } from '../task/output-schema.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { TaskArguments } from '../task/task-arguments.ts';
import type { EngineContext } from './engine-context.ts';

/** A Task call of a running task. */
export interface TaskCall {
  readonly caller: TaskRun;
  readonly callId: string;
  readonly input: TaskArguments;
}

/** A Task call that creates a child. */
export interface SpawnRequest extends TaskCall {
  /** The id that the call reserved before a crash, or null for a new child. */
  readonly reservedId: string | null;
}

/** Creates the child of a Task call, ready to run. Returns the error if the call is wrong. */
export async function spawnChild(
  engine: EngineContext,
  request: SpawnRequest,
): Promise<TaskRun | MusterError> {
  const { deps, running } = engine;
  const { caller, callId, input, reservedId } = request;
  const by = toDelegator(caller, caller.state.conversation.openCalls);
  const planned = planChild(deps, by, toChildRequest(input));
  if (planned instanceof MusterError) return planned;
  const schemaError = await findSchemaError(input, planned.agent);
  if (schemaError !== null) return schemaError;
  const id = reservedId ?? newId();
  const description = describeCall(input);
  const placed = placeChild(deps, { id, cwd: by.cwd, description, prompt: input.prompt }, planned);
  const child = { id, plan: placed.plan, line: buildTaskLine(input, placed) };
  const transferred = await transferContext(engine, request, child);
  if (transferred instanceof MusterError) return transferred;
  const { plan } = transferred;
  const modelDetails = await deps.models.details(plan.model);
  // From here to the creation nothing is awaited, so that no other task can use up the limits that are checked here.
  caller.cancellation.turnSignal.throwIfAborted();
  const delegated = { agent: plan.agent.name, prompt: input.prompt };
  const delegation = toRedactedDelegationKey(engine, delegated);
  // A reserved child passed these checks before the crash.
  if (reservedId === null) {
    const hit =
      findRepetitionError(engine, caller, { ...delegated, delegation }) ??
      findLimitError(engine, request, { transferred, modelDetails, line: child.line });
    if (hit !== null) return hit;
  }
  const named = findVisibleTasksInText(input.prompt, caller, running);
  try {
    return createTask(engine, caller.tree, {
      ...plan,
      id,
      description,
      prompt: placed.prompt,
      handed: [...new Set([...named, ...transferred.resultTasks])],
      transferred,
      cwd: placed.cwd,
      ...dropMissing({ workspace: placed.workspace }),
      source: toTaskSource(input),
      skills: input.skill === undefined ? [] : [input.skill.name],
      params: input.params,
      ...dropMissing({ outputSchema: input.outputSchema, accept: input.accept }),
      parent: { run: caller, callId, delegation },
    });
  } catch (thrown) {
    // Without this event the caller would wait for the child forever.
    recordLostChild(caller, id, errorMessage(thrown));
    // If the log can't be created (a full disk), the call fails, and the calling task continues.
    if (thrown instanceof MusterError) return thrown;
    throw thrown;
  }
}

/** Returns the error of an answer schema that can't be used, from the call or the definition; null if it is valid. */
async function findSchemaError(
  { outputSchema }: TaskArguments,
  agent: AgentDefinition,
): Promise<MusterError | null> {
  const schema = outputSchema ?? agent.outputSchema;
  const problem = schema === undefined ? null : await findSchemaProblem(schema);
  if (problem === null) return null;
  const source = outputSchema === undefined ? `of agent ${agent.name} ` : '';
  const message = `output_schema: the schema ${source}can't be used: ${problem}`;
  return new MusterError('INVALID_PARAM', message);
}

/** Returns the child request of a call. A child that continues the caller's conversation uses the caller's model. */
function toChildRequest(input: TaskArguments): ChildRequest {
  return input.context?.kind === 'inherit' ? { model: 'inherit', ...input } : input;
}

/** Gathers the context that the child gets in addition to its prompt. Most calls request none. */
async function transferContext(
  engine: EngineContext,
  { caller, input }: SpawnRequest,
  child: { readonly id: string; readonly plan: ChildPlan; readonly line: string },
): Promise<TransferredContext | MusterError> {
  const { context } = input;
  if (context === undefined) return { plan: child.plan, resultTasks: [] };
  const { gatherTransferredContext } = await import('./context-transfer/gather-context.ts');
  const { id, plan, line: taskLine } = child;
  return await gatherTransferredContext(engine, { id, plan, caller, taskLine, context });
}

const LEAVE_CONTEXT_OUT = 'Leave context out, and say in the prompt what matters.';

/** The parts of a planned child that limits depend on. */
interface PlannedSpawn {
  readonly transferred: TransferredContext;
  readonly modelDetails: ModelDetails;
  /** The last line of the child's system prompt. */
  readonly line: string;
}

/** Returns the error if a limit of the tree or a budget leaves no room for another task; null otherwise. */
function findLimitError(
  { prefixes }: EngineContext,
  { caller, input }: SpawnRequest,
  { transferred, modelDetails, line }: PlannedSpawn,
): MusterError | null {
  const { plan, initialContext, forked, summarized } = transferred;
  const tasks = caller.tree.findTaskLimitHit();
  if (tasks !== null) {
    return new MusterError('LIMIT_EXCEEDED', `${limitMessage(tasks)}. Do the work yourself.`);
  }
  const budget = new Budget(taskCaps(plan.limits), caller.budget);
  if (summarized !== undefined) {
    const { conversation, minimumExpense: minExpense, modelDetails: summaryModel } = summarized;
    const hit =
      findUnpricedCap(budget, conversation.model, summaryModel) ??
      budget.findExceededCap(minExpense);
    if (hit !== null) {
      const message = `context: summary: ${limitMessage(hit)}. ${LEAVE_CONTEXT_OUT}`;
      return new MusterError('LIMIT_EXCEEDED', message);
    }
  }
  const { prompt, listedTools } = plan.setup;
  const hit = findFirstRequestHit(budget, {
    model: plan.model,
    details: modelDetails,
    prefix: forked?.prefix.prefix ?? addSystemText(prefixes.get(prompt, listedTools).prefix, line),
    messages: forked?.conversation.messages ?? [],
    prompt: `${initialContext?.text ?? ''}${input.prompt}`,
  });
  return hit === null ? null : new MusterError('LIMIT_EXCEEDED', `${limitMessage(hit)}.`);
}

function toTaskSource({ skill, templateName }: TaskArguments): TaskSource {
  if (templateName !== undefined) return 'template';
  return skill === undefined ? 'model' : 'skill';
}

function buildTaskLine(input: TaskArguments, placed: PlacedChild): string {
  const { agent } = placed.plan;
  return formatTaskLine(describeCall(input), outputSchemaOf({ ...input, agent }), placed);
}

function describeCall({ description, prompt }: TaskArguments): string {
  return description ?? describePrompt(prompt);
}
