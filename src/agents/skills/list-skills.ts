import type { AgentProblem } from '../../protocol/agent.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import type { SkippedPath } from '../loader/walk.ts';
import {
  listDefinitions,
  type DiscoveryResult,
  type ListingState,
} from '../loader/discovery-result.ts';
import type { Effort } from '../../protocol/model.ts';

/** A skill as `skills list --json` prints it. */
interface SkillListing
  extends
    ListingState,
    Pick<SkillDefinition, 'name' | 'description' | 'path' | 'scope'>,
    Pick<SkillDefinition, 'disallowedTools' | 'modelInvocable'> {
  /** `fork` if the skill runs as a task of its own. */
  readonly context: 'fork' | null;
  /** The agent of this task, or null if the skill does not run as a task. */
  readonly agent: string | null;
  readonly model: string | null;
  readonly effort: Effort | null;
  readonly allowedTools: readonly string[] | null;
  readonly argumentHint: string | null;
  /** The number of characters of the instructions. */
  readonly length: number;
  readonly warnings: readonly AgentProblem[];
}

export interface SkillListings {
  /** All skills, the shadowed ones last. */
  readonly skills: readonly SkillListing[];
  readonly skipped: readonly SkippedPath[];
  readonly problems: readonly AgentProblem[];
}

/**
 * Describes all skills for a listing.
 *
 * @param defaultAgent the agent of a skill that runs as a task and does not name an agent
 */
export function listSkills(
  found: DiscoveryResult<SkillDefinition>,
  defaultAgent: string,
): SkillListings {
  const { skipped, problems } = found;
  const skills = listDefinitions(
    found,
    ({ path }) => path,
    (skill) => describeSkill(skill, defaultAgent),
  );
  return { skills, skipped, problems };
}

function describeSkill(
  skill: SkillDefinition,
  defaultAgent: string,
): Omit<SkillListing, keyof ListingState> {
  const isTask = skill.context === 'fork';
  return {
    name: skill.name,
    description: skill.description,
    path: skill.path,
    scope: skill.scope,
    context: skill.context ?? null,
    agent: isTask ? (skill.agent ?? defaultAgent) : null,
    model: skill.model ?? null,
    effort: skill.effort ?? null,
    allowedTools: skill.allowedTools ?? null,
    disallowedTools: skill.disallowedTools,
    modelInvocable: skill.modelInvocable,
    argumentHint: skill.argumentHint ?? null,
    length: skill.body.length,
    warnings: skill.problems,
  };
}
