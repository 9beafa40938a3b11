import { errorMessage, MusterError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { ModelDetails } from '../../protocol/model.ts';
import type { TaskSource } from '../../protocol/task.ts';
import { Budget } from '../limits/budget.ts';
import { taskCaps } from '../limits/budget-caps.ts';
import { createTask } from './create-task.ts';
import { recordLostChild } from './deliver-end.ts';
import {
  estimateInput,
  firstRequest,
  inputToReserve,
  leastExpense,
  requestNeed,
} from '../limits/estimate.ts';
import type { TransferredContext } from './context-transfer/transferred-context.ts';
import { limitMessage } from '../limits/limits.ts';
import { planChild, type ChildPlan, type ChildRequest } from './plan-child.ts';
import { describePrompt, taskLine } from '../prompt/prompt.ts';
import { visibleTasksNamedIn } from './visible-tasks.ts';
import { recordedDelegationKey, repeatedDelegationError } from './check-repeated-delegations.ts';
import { unpricedCap } from '../turn/spending.ts';
import { schemaProblem } from '../structured/check-answer.ts';
import { outputSchemaOf } from '../task/output-schema.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { TaskInput } from '../task/task-input.ts';
import type { EngineContext } from './engine-context.ts';

/** A Task call that makes a child. */
export interface SpawnRequest {
  readonly caller: TaskRun;
  readonly callId: string;
  readonly input: TaskInput;
  /** The id under which the call had announced it before a crash; null for a new one. */
  readonly reservedId: string | null;
}

/** Makes the child of a Task call, ready to run. What is wrong with the call is the error returned. */
export async function spawnChild(
  engine: EngineContext,
  request: SpawnRequest,
): Promise<TaskRun | MusterError> {
  const { deps, running } = engine;
  const { caller, callId, input, reservedId: announced } = request;
  const { agent, cwd, model } = caller.spec;
  const moment = caller.state.conversation.openCalls;
  const planned = planChild(
    deps,
    {
      agent,
      cwd,
      model,
      rights: caller.permissions.rights,
      modeGrants: caller.permissions.modeGrants(),
      moment,
    },
    wishOf(input),
  );
  if (planned instanceof MusterError) return planned;
  const wrong = await whyNoSchema(input, planned.agent);
  if (wrong !== null) return wrong;
  const id = announced ?? newId();
  const handover = await handedOver(engine, request, { id, plan: planned });
  if (handover instanceof MusterError) return handover;
  const { plan } = handover;
  const facts = await deps.models.facts(plan.model);
  // From here on nothing may come between.
  caller.cancellation.turnSignal.throwIfAborted();
  const delegated = { agent: plan.agent.name, prompt: input.prompt };
  const delegation = recordedDelegationKey(engine, delegated);
  // One that was announced has been let through, before a crash.
  if (announced === null) {
    const hit =
      repeatedDelegationError(engine, caller, { ...delegated, delegation }) ??
      whyNot(engine, request, { handover, facts });
    if (hit !== null) return hit;
  }
  try {
    return createTask(engine, caller.tree, {
      ...plan,
      id,
      description: descriptionOf(input),
      prompt: input.prompt,
      handed: [
        ...new Set([
          ...visibleTasksNamedIn(input.prompt, caller, running),
          ...handover.resultTasks,
        ]),
      ],
      transferred: handover,
      cwd,
      source: sourceOf(input),
      skills: input.ofSkill === undefined ? [] : [input.ofSkill.name],
      params: input.params,
      ...(input.outputSchema === undefined ? {} : { outputSchema: input.outputSchema }),
      parent: { run: caller, callId, delegation },
    });
  } catch (thrown) {
    // The caller would wait for it without end.
    recordLostChild(caller, id, errorMessage(thrown));
    // A log that can't be made (a full disk) is an error for the model, and no end of its task.
    if (thrown instanceof MusterError) return thrown;
    throw thrown;
  }
}

/** What is wrong with the schema of the answer, whoever gave it; null: nothing. */
async function whyNoSchema(
  { outputSchema }: TaskInput,
  agent: AgentDefinition,
): Promise<MusterError | null> {
  const schema = outputSchema ?? agent.outputSchema;
  const problem = schema === undefined ? null : await schemaProblem(schema);
  if (problem === null) return null;
  const by = outputSchema === undefined ? `of agent ${agent.name} ` : '';
  return new MusterError(
    'INVALID_PARAM',
    `output_schema: the schema ${by}can't be used: ${problem}`,
  );
}

/** Who goes on with a conversation does so on the model of that one, whatever its type runs on else. */
function wishOf(input: TaskInput): ChildRequest {
  return input.context?.kind === 'inherit' ? { model: 'inherit', ...input } : input;
}

/** What the child gets beside its prompt: for most nothing. */
async function handedOver(
  engine: EngineContext,
  { caller, input }: SpawnRequest,
  child: { readonly id: string; readonly plan: ChildPlan },
): Promise<TransferredContext | MusterError> {
  const { context: wish } = input;
  if (wish === undefined) return { plan: child.plan, resultTasks: [] };
  const { gatherTransferredContext: gatherHandover } =
    await import('./context-transfer/gather-context.ts');
  return await gatherHandover(engine, {
    ...child,
    caller,
    taskLine: lineOf(input, child.plan),
    context: wish,
  });
}

const SAY_IT_YOURSELF = 'Leave context out, and say in the prompt what matters.';

interface PlannedSpawn {
  readonly handover: TransferredContext;
  readonly facts: ModelDetails;
}

/** The limit of the tree, or the budget, that leaves no room for another task; null: none does. */
function whyNot(
  { prefixes }: EngineContext,
  { caller, input }: SpawnRequest,
  { handover, facts }: PlannedSpawn,
): MusterError | null {
  const { plan, initialContext: given, forked: inherits } = handover;
  const tasks = caller.tree.taskLimit();
  if (tasks !== null) {
    return new MusterError('LIMIT_EXCEEDED', `${limitMessage(tasks)}. Do the work yourself.`);
  }
  const budget = new Budget(taskCaps(plan.limits), caller.budget);
  const summary = handover.summarized;
  if (summary !== undefined) {
    const { conversation, least, facts: asked } = summary;
    const hit = unpricedCap(budget, conversation.model, asked) ?? budget.lacks(least);
    if (hit !== null) {
      const told = limitMessage(hit);
      return new MusterError('LIMIT_EXCEEDED', `context: summary: ${told}. ${SAY_IT_YOURSELF}`);
    }
  }
  const { prompt, tools } = plan.setup;
  const line = lineOf(input, plan);
  const { system, ...shared } = prefixes.get(prompt, tools).prefix;
  const prefix = inherits?.prefix.prefix ?? { ...shared, system: [...system, line] };
  const said = firstRequest(`${given?.text ?? ''}${input.prompt}`);
  const messages = [...(inherits?.conversation.messages ?? [])];
  const needed = inputToReserve(estimateInput({ ...said, messages }, prefix), null);
  const first = leastExpense(requestNeed(needed, facts));
  const hit = unpricedCap(budget, plan.model, facts) ?? budget.lacks(first);
  if (hit === null) return null;
  return new MusterError('LIMIT_EXCEEDED', `${limitMessage(hit)}.`);
}

function sourceOf({ ofSkill, ofTemplate }: TaskInput): TaskSource {
  if (ofTemplate !== undefined) return 'template';
  return ofSkill === undefined ? 'model' : 'skill';
}

function lineOf(input: TaskInput, { agent }: ChildPlan): string {
  return taskLine(descriptionOf(input), outputSchemaOf({ ...input, agent }));
}

function descriptionOf({ description, prompt }: TaskInput): string {
  return description ?? describePrompt(prompt);
}
