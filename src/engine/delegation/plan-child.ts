import type { CallingTask } from '../permissions/prepare-call.ts';
import { type TaskArguments, DEFAULT_AGENT, type ContextArgument } from '../task/task-arguments.ts';
import { MusterError } from '../../base/errors.ts';
import { attenuate } from '../../policy/attenuate.ts';
import { findModeGrant, findModeToGrant } from '../../policy/mode-grants.ts';
import { effectiveMode } from '../../policy/modes.ts';
import { requestedModels, type AgentDefinition } from '../../protocol/agent.ts';
import type { ResolvedModel, ModelDetails } from '../../protocol/model.ts';
import type { ModeGrant, ModeToGrant, PermissionMode, Rights } from '../../protocol/permission.ts';
import type { TaskLimits } from '../../protocol/task.ts';
import { findDelegable } from '../prompt/agent-types.ts';
import type { EngineDeps } from '../task/deps.ts';
import { restrictAgentToSkill } from '../prompt/skills.ts';
import {
  prepareAgent,
  findUnusableReason,
  type AgentSetup,
  type SetupDeps,
} from '../prompt/prepare-agent.ts';
import { combineLimits } from '../limits/configured-limits.ts';
import type {
  InitialContext,
  ForkedConversation,
  SummarizedConversation,
} from '../../protocol/initial-context.ts';
import type { Expense } from '../limits/budget.ts';
import type { SharedPrefix } from '../prompt/prefix.ts';
import type { TaskRun } from '../task/task-run.ts';

/** The task that delegates, as far as it decides about its children. */
export interface Delegator {
  readonly agent: AgentDefinition;
  /** Its current rights. */
  readonly rights: Rights;
  readonly model: ResolvedModel;
  readonly cwd: string;
  /** The modes that the user grants to agents. */
  readonly modeGrants: readonly ModeGrant[];
  /** An object that the children of one message share. Absent if there is one child. */
  readonly moment?: object;
}

/** Describes a task as the delegator of its children. */
export function delegatorOf(
  { spec: { agent, model, cwd }, permissions }: Pick<CallingTask, 'spec' | 'permissions'>,
  moment?: object,
): Delegator {
  const modeGrants = permissions.modeGrants();
  const by = { agent, model, cwd, rights: permissions.rights, modeGrants };
  return moment === undefined ? by : { ...by, moment };
}

/**
 * The child that a Task call asks for. The agent is `DEFAULT_AGENT` if it names none, and a skill that it follows
 * narrows the agent.
 */
export type ChildRequest = Pick<
  TaskArguments,
  'prompt' | 'subagentType' | 'model' | 'maxTurns' | 'background' | 'skill'
>;

/** Everything that is decided about a child before it is created. */
export interface ChildPlan {
  readonly agent: AgentDefinition;
  readonly rights: Rights;
  /** The grant that makes its mode wider, and the mode that it has without. Null if there is no such grant. */
  readonly raisedBy: { readonly grant: ModeGrant; readonly without: PermissionMode } | null;
  /** The mode that its definition asks for and does not get without a grant. Null if it gets what it asks for. */
  readonly modeToGrant: ModeToGrant | null;
  readonly model: ResolvedModel;
  readonly limits: TaskLimits;
  readonly background: boolean;
  readonly setup: AgentSetup;
}

/** The plan of a child, whether or not it can be started. */
export interface ChildOutline extends ChildPlan {
  /** The reason why it can't be started, or null if it can. */
  readonly unusable: string | null;
}

/** Prepares the models that a child may use. This comes before `planChild`, which must not be interrupted. */
export async function prepareModels(
  { agents, models }: Pick<EngineDeps, 'agents' | 'models'>,
  by: AgentDefinition,
  { subagentType = DEFAULT_AGENT, skill }: ChildRequest,
): Promise<void> {
  if (models.prepare === undefined) return;
  const found = findDelegable(subagentType, by, agents.agents());
  if (!found.ok) return;
  const model = skill?.model;
  await models.prepare(model === undefined ? requestedModels(found.agent) : [model]);
}

/**
 * Decides everything about the child of a Task call, without creating it. Returns the error if the call is wrong.
 * It has no effects, as `prepareAgent` has none; `prepareModels` comes first.
 */
export function planChild(
  deps: SetupDeps,
  by: Delegator,
  request: ChildRequest,
): ChildPlan | MusterError {
  const outline = outlineChild(deps, by, request);
  if (outline instanceof MusterError) return outline;
  const { unusable, ...plan } = outline;
  return unusable === null
    ? plan
    : new MusterError('INVALID_PARAM', `${agentField(request)}: ${unusable}`);
}

/** Plans a child like `planChild`, even if its agent can't be started, so that the plan can be explained. */
export function outlineChild(
  deps: SetupDeps,
  by: Delegator,
  request: ChildRequest,
): ChildOutline | MusterError {
  const { depth, maxDepth } = by.rights;
  if (depth >= maxDepth) {
    const message = `the limit max_depth = ${maxDepth} is reached: this task is at depth ${depth} and can't delegate. Do the work yourself.`;
    return new MusterError('LIMIT_EXCEEDED', message);
  }
  const name = request.subagentType ?? DEFAULT_AGENT;
  const found = findDelegable(name, by.agent, deps.agents.agents());
  const { skill } = request;
  if (!found.ok) {
    return new MusterError(found.error.code, `${agentField(request)}: ${found.error.message}`);
  }
  const agent = skill === undefined ? found.agent : restrictAgentToSkill(found.agent, skill);
  if (agent instanceof MusterError) return agent;
  const { rights, ...modes } = rightsOfChild(by, agent);
  const { cwd, moment } = by;
  const sameMoment = moment === undefined ? {} : { moment };
  const model = deps.models.forTask({
    call: request.model,
    definition: requestedModels(agent),
    agent,
    prompt: request.prompt,
    parent: by.model,
  });
  if (model instanceof MusterError) return model;
  const { provider } = model;
  const setup = prepareAgent(deps, { agent, rights, cwd, isRoot: false, provider, ...sameMoment });
  return {
    agent,
    rights,
    ...modes,
    model,
    limits: combineLimits({
      config: deps.settings.taskLimits,
      definition: agent.limits,
      call: request.maxTurns === undefined ? {} : { maxTurns: request.maxTurns },
    }),
    background: request.background ?? agent.background ?? false,
    setup,
    unusable: findUnusableReason(agent, setup),
  };
}

function rightsOfChild(
  { rights: above, modeGrants }: Delegator,
  agent: AgentDefinition,
): Pick<ChildPlan, 'rights' | 'raisedBy' | 'modeToGrant'> {
  const grant = findModeGrant(agent, modeGrants);
  const rights = attenuate(above, agent, grant);
  const without = effectiveMode(agent, above.mode);
  return {
    rights,
    raisedBy: grant === null || rights.mode === without ? null : { grant, without },
    modeToGrant: above.mode === 'plan' ? null : findModeToGrant(agent, rights),
  };
}

/** Returns the argument or the file that names the agent. */
function agentField({ skill }: ChildRequest): string {
  return skill === undefined ? 'subagent_type' : `agent in ${skill.path}`;
}

/** The context that a child gets in addition to its prompt, ready to be frozen. */
export interface TransferredContext {
  /** The plan of the child, changed as this context needs it. */
  readonly plan: ChildPlan;
  readonly initialContext?: InitialContext;
  readonly forked?: { readonly prefix: SharedPrefix; readonly conversation: ForkedConversation };
  readonly summarized?: {
    readonly conversation: SummarizedConversation;
    /** The least that the request for the summary can cost. */
    readonly minimumExpense: Expense;
    /** The details of the model that writes the summary. */
    readonly modelDetails: ModelDetails;
  };
  /** Ids of the tasks whose results it gets: it may see these tasks. */
  readonly resultTasks: readonly string[];
}

/** A Task call that passes context to its child. */
export interface TransferRequest {
  readonly caller: TaskRun;
  /** The id of the child. */
  readonly id: string;
  readonly plan: ChildPlan;
  /** The last line of its system prompt, which describes this task. */
  readonly taskLine: string;
  readonly context: ContextArgument;
}
