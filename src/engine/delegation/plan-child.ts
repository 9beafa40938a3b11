import { MusterError } from '../../base/errors.ts';
import { attenuate } from '../../policy/attenuate.ts';
import { grantFor, modeToGrant } from '../../policy/mode-grants.ts';
import { effectiveMode } from '../../policy/modes.ts';
import { requestedModels, type AgentDefinition } from '../../protocol/agent.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import type { ModeGrant, ModeToGrant, PermissionMode, Rights } from '../../protocol/permission.ts';
import type { TaskLimits } from '../../protocol/task.ts';
import { findDelegable } from '../prompt/delegable-agents.ts';
import type { EngineDeps } from '../task/deps.ts';
import { skillAgent } from '../prompt/skill-agent.ts';
import {
  prepareAgent,
  whyUnusable,
  type AgentSetup,
  type PlanDeps,
} from '../prompt/prepare-agent.ts';
import { combineLimits } from '../limits/limits.ts';
import { DEFAULT_AGENT } from '../task/task-input.ts';

/** Who delegates. */
export interface Delegator {
  readonly agent: AgentDefinition;
  /** As they are now. */
  readonly rights: Rights;
  readonly model: ResolvedModel;
  readonly cwd: string;
  /** The modes that the user grants to agents. */
  readonly modeGrants: readonly ModeGrant[];
  /** What the children of one message have in common. Absent: there is one child. */
  readonly moment?: object;
}

/** What the call of Task says of the child. */
export interface ChildRequest {
  readonly prompt: string;
  /** Default: `DEFAULT_AGENT`. */
  readonly subagentType?: string;
  readonly model?: string;
  readonly maxTurns?: number;
  readonly background?: boolean;
  /** The skill that it is to follow, which narrows its agent. */
  readonly ofSkill?: SkillDefinition;
}

/** All that is decided about a child before it is made. */
export interface ChildPlan {
  readonly agent: AgentDefinition;
  readonly rights: Rights;
  /** The grant that makes its mode wider than it would be, and that mode. Null: none does. */
  readonly raisedBy: { readonly grant: ModeGrant; readonly without: PermissionMode } | null;
  /** The mode that its definition asks for and does not get without a grant. Null: it gets what it asks for. */
  readonly modeToGrant: ModeToGrant | null;
  readonly model: ResolvedModel;
  readonly limits: TaskLimits;
  readonly background: boolean;
  readonly setup: AgentSetup;
}

/** What is decided about a child whether or not it can be started. */
export interface ChildOutline extends ChildPlan {
  /** Why it can't be started; null: it can. */
  readonly unusable: string | null;
}

/** Before anything is decided: from there on nothing may come between. */
export async function prepareModels(
  { agents, models }: Pick<EngineDeps, 'agents' | 'models'>,
  by: AgentDefinition,
  { subagentType = DEFAULT_AGENT, ofSkill }: ChildRequest,
): Promise<void> {
  if (models.prepare === undefined) return;
  const found = findDelegable(subagentType, by, agents.agents());
  if (!found.ok) return;
  const model = ofSkill?.model;
  await models.prepare(model === undefined ? requestedModels(found.agent) : [model]);
}

/**
 * What a Task call would make, without making it: a spawn makes exactly this. What is wrong with the
 * call is the error returned. Pure as `equip` is; `models.prepare` goes before it.
 */
export function planChild(
  deps: PlanDeps,
  by: Delegator,
  wish: ChildRequest,
): ChildPlan | MusterError {
  const outline = outlineChild(deps, by, wish);
  if (outline instanceof MusterError) return outline;
  const { unusable, ...plan } = outline;
  return unusable === null
    ? plan
    : new MusterError('INVALID_PARAM', `${fieldOf(wish)}: ${unusable}`);
}

/** The same for an agent that can't be started, too: to tell what would be if it could. */
export function outlineChild(
  deps: PlanDeps,
  by: Delegator,
  wish: ChildRequest,
): ChildOutline | MusterError {
  const { depth, maxDepth } = by.rights;
  if (depth >= maxDepth) {
    return new MusterError(
      'LIMIT_EXCEEDED',
      `the limit max_depth = ${maxDepth} is reached: this task is at depth ${depth} and can't delegate. Do the work yourself.`,
    );
  }
  const word = wish.subagentType ?? DEFAULT_AGENT;
  const found = findDelegable(word, by.agent, deps.agents.agents());
  const { ofSkill } = wish;
  if (!found.ok) {
    return new MusterError(found.error.code, `${fieldOf(wish)}: ${found.error.message}`);
  }
  const agent = ofSkill === undefined ? found.agent : skillAgent(found.agent, ofSkill);
  if (agent instanceof MusterError) return agent;
  const { rights, ...modes } = rightsOfChild(by, agent);
  const { cwd, moment } = by;
  const sameMoment = moment === undefined ? {} : { moment };
  const model = deps.models.forTask({
    call: wish.model,
    definition: requestedModels(agent),
    agent,
    prompt: wish.prompt,
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
      call: wish.maxTurns === undefined ? {} : { maxTurns: wish.maxTurns },
    }),
    background: wish.background ?? agent.background ?? false,
    setup,
    unusable: whyUnusable(agent, setup),
  };
}

function rightsOfChild(
  { rights: above, modeGrants }: Delegator,
  agent: AgentDefinition,
): Pick<ChildPlan, 'rights' | 'raisedBy' | 'modeToGrant'> {
  const grant = grantFor(agent, modeGrants);
  const rights = attenuate(above, agent, { grant });
  const without = effectiveMode(agent, above.mode);
  return {
    rights,
    raisedBy: grant === null || rights.mode === without ? null : { grant, without },
    modeToGrant: above.mode === 'plan' ? null : modeToGrant(agent, rights),
  };
}

/** What named the agent. */
function fieldOf({ ofSkill }: ChildRequest): string {
  return ofSkill === undefined ? 'subagent_type' : `agent in ${ofSkill.path}`;
}
