import { hasCriteria } from '../../protocol/acceptance.ts';
import type { CallingTask } from '../permissions/prepare-call.ts';
import { type TaskArguments, DEFAULT_AGENT, type ContextArgument } from '../task/task-arguments.ts';
import { MusterError } from '../../base/errors.ts';
import { attenuate } from '../../policy/attenuate.ts';
import { findModeGrant, findModeToGrant } from '../../policy/mode-grants.ts';
import { effectiveMode } from '../../policy/modes.ts';
import { requestedModels, type AgentDefinition } from '../../protocol/agent.ts';
import { modelName, type ResolvedModel, type ModelDetails } from '../../protocol/model.ts';
import type { ModeGrant, ModeToGrant, PermissionMode, Rights } from '../../protocol/permission.ts';
import type { TaskLimits } from '../../protocol/task.ts';
import type { Isolation } from '../../protocol/workspace.ts';
import { planIsolation } from './plan-isolation.ts';
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

/** The properties of a delegating task that decide about its children. */
export interface Delegator {
  readonly agent: AgentDefinition;
  /** The current rights of the task. */
  readonly rights: Rights;
  readonly model: ResolvedModel;
  readonly cwd: string;
  /** The modes that the user grants to agents. */
  readonly modeGrants: readonly ModeGrant[];
  /** An object that the children of one message share, so that they get the same notes. Absent for a single child. */
  readonly moment?: object;
}

/** Returns the properties of a task that decide about its children. */
export function toDelegator(
  { spec: { agent, model, cwd }, permissions }: Pick<CallingTask, 'spec' | 'permissions'>,
  moment?: object,
): Delegator {
  const modeGrants = permissions.modeGrants();
  const by = { agent, model, cwd, rights: permissions.rights, modeGrants };
  return moment === undefined ? by : { ...by, moment };
}

/**
 * The child that a Task call requests. Without `subagentType`, the agent is `DEFAULT_AGENT`. A skill restricts the
 * tools of the agent.
 */
export type ChildRequest = Pick<
  TaskArguments,
  | 'prompt'
  | 'subagentType'
  | 'model'
  | 'laterModels'
  | 'accept'
  | 'maxTurns'
  | 'background'
  | 'isolation'
  | 'skill'
>;

/** Everything that is decided about a child before it is created. */
export interface ChildPlan {
  readonly agent: AgentDefinition;
  readonly rights: Rights;
  /** The grant that gives the child a wider mode, and the mode without this grant. Null if there is no such grant. */
  readonly raisedBy: { readonly grant: ModeGrant; readonly without: PermissionMode } | null;
  /** The mode that the definition requests and that only a grant could give. Null if the child gets that mode. */
  readonly modeToGrant: ModeToGrant | null;
  readonly model: ResolvedModel;
  /** The models that take over when the work is not accepted. */
  readonly laterModels: readonly ResolvedModel[];
  readonly limits: TaskLimits;
  readonly background: boolean;
  readonly isolation: Isolation;
  readonly setup: AgentSetup;
}

/** The plan of a child that may turn out to be unusable. */
export interface ChildOutline extends ChildPlan {
  /** The reason why the child can't be started, or null if it can. */
  readonly unusable: string | null;
}

/**
 * Loads the models and the tools of servers that a child may use. Must be called before `planChild`, which is
 * synchronous.
 */
export async function prepareDelegation(
  { agents, mcp, models, workspaces }: Pick<EngineDeps, 'agents' | 'mcp' | 'models' | 'workspaces'>,
  by: AgentDefinition,
  { subagentType = DEFAULT_AGENT, skill, isolation }: ChildRequest,
): Promise<void> {
  const found = findDelegable(subagentType, by, agents.agents());
  if (!found.ok) return;
  if ((isolation ?? found.agent.isolation) === 'worktree') await workspaces?.prepare();
  await mcp?.prepare(found.agent);
  const model = skill?.model;
  await models.prepare?.(model === undefined ? requestedModels(found.agent) : [model]);
}

/**
 * Decides everything about the child of a Task call, without creating it and without other effects. Returns the error
 * if the call is wrong. `prepareDelegation` must have been called.
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

/**
 * Plans a child like `planChild`, but returns a plan even if the agent can't be started, so that it can be explained.
 */
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
  const lookup = findDelegable(name, by.agent, deps.agents.agents());
  const { skill } = request;
  if (!lookup.ok) {
    return new MusterError(lookup.error.code, `${agentField(request)}: ${lookup.error.message}`);
  }
  const agent = skill === undefined ? lookup.agent : restrictAgentToSkill(lookup.agent, skill);
  return agent instanceof MusterError ? agent : planAgent(deps, by, agent, request);
}

/** Plans a child that is this agent, whether or not it could be chosen by name. Does not check the depth. */
export function planAgent(
  deps: SetupDeps,
  by: Delegator,
  agent: AgentDefinition,
  request: ChildRequest,
): ChildOutline | MusterError {
  const { rights, ...modes } = computeChildRights(by, agent);
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
  const laterModels = resolveLaterModels(deps, { by, agent, request, model });
  if (laterModels instanceof MusterError) return laterModels;
  const planned = planIsolation(deps, { cwd, agent, called: request.isolation });
  if (planned instanceof MusterError) return planned;
  const { isolation, ...refused } = planned;
  const isIsolated = isolation === 'worktree';
  const placement = {
    agent,
    rights,
    cwd,
    isRoot: false,
    model,
    isIsolated,
    ...refused,
    ...sameMoment,
  };
  const setup = prepareAgent(deps, placement);
  return {
    agent,
    rights,
    ...modes,
    model,
    laterModels,
    limits: combineLimits({
      config: deps.settings.taskLimits,
      definition: agent.limits,
      call: request.maxTurns === undefined ? {} : { maxTurns: request.maxTurns },
    }),
    background: request.background ?? agent.background ?? false,
    isolation,
    setup,
    unusable: findUnusableReason(agent, setup),
  };
}

/**
 * Resolves the models that take over when the work of a child is not accepted: those of the call, or the usable ones of
 * the definition.
 */
function resolveLaterModels(
  { models }: Pick<SetupDeps, 'models'>,
  child: {
    readonly by: Delegator;
    readonly agent: AgentDefinition;
    readonly request: ChildRequest;
    readonly model: ResolvedModel;
  },
): readonly ResolvedModel[] | MusterError {
  const { by, agent, request, model } = child;
  const accept = request.accept ?? agent.accept;
  const named = request.laterModels;
  if (named !== undefined && (accept === undefined || !hasCriteria(accept))) {
    const message =
      'models: several models need `accept`, which decides when the next one continues';
    return new MusterError('INVALID_PARAM', message);
  }
  if (accept === undefined || (named === undefined && request.model !== undefined)) return [];
  const later: ResolvedModel[] = [];
  for (const name of named ?? agent.models ?? []) {
    const resolved = models.forTask({
      call: named === undefined ? undefined : name,
      definition: [name],
      agent,
      prompt: request.prompt,
      parent: by.model,
    });
    if (resolved instanceof MusterError) {
      if (named !== undefined) return resolved;
      continue;
    }
    // A definition lists alternatives, of which some may not be configured here.
    const isUsable = named !== undefined || !resolved.warning;
    const isNew = ![model, ...later].some((each) => modelName(each) === modelName(resolved));
    if (isUsable && isNew) later.push(resolved);
  }
  return later;
}

function computeChildRights(
  { rights: parentRights, modeGrants }: Delegator,
  agent: AgentDefinition,
): Pick<ChildPlan, 'rights' | 'raisedBy' | 'modeToGrant'> {
  const grant = findModeGrant(agent, modeGrants);
  const rights = attenuate(parentRights, agent, grant);
  const without = effectiveMode(agent, parentRights.mode);
  return {
    rights,
    raisedBy: grant === null || rights.mode === without ? null : { grant, without: without },
    modeToGrant: parentRights.mode === 'plan' ? null : findModeToGrant(agent, rights),
  };
}

/** Names the argument or the file that chooses the agent, for messages. */
function agentField({ skill }: ChildRequest): string {
  return skill === undefined ? 'subagent_type' : `agent in ${skill.path}`;
}

/** The context that a child gets in addition to its prompt, complete and ready to be recorded. */
export interface TransferredContext {
  /** The plan of the child, with the changes that this context requires. */
  readonly plan: ChildPlan;
  readonly initialContext?: InitialContext;
  readonly forked?: { readonly prefix: SharedPrefix; readonly conversation: ForkedConversation };
  readonly summarized?: {
    readonly conversation: SummarizedConversation;
    /** The minimum expense of the request for the summary. */
    readonly minimumExpense: Expense;
    /** The details of the model that writes the summary. */
    readonly modelDetails: ModelDetails;
  };
  /** Ids of the tasks whose results the child gets. It may see these tasks. */
  readonly resultTasks: readonly string[];
}

/** A Task call that passes context to its child. */
export interface TransferRequest {
  readonly caller: TaskRun;
  /** The id of the child. */
  readonly id: string;
  readonly plan: ChildPlan;
  /** The last line of the child's system prompt, which describes its task. */
  readonly taskLine: string;
  readonly context: ContextArgument;
}
