import type { AgentProblem, Effort } from '../../protocol/agent.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import type { SkippedPath } from '../loader/walk.ts';
import type { DiscoveredSkills } from './discover.ts';

/** One skill as `skills list --json` prints it. */
interface SkillListing {
  readonly name: string;
  readonly description: string;
  readonly path: string;
  readonly scope: SkillDefinition['scope'];
  /** `fork`: it runs as a task. */
  readonly context: 'fork' | null;
  /** The type of that task; null where it is no task. */
  readonly agent: string | null;
  readonly model: string | null;
  readonly effort: Effort | null;
  readonly allowedTools: readonly string[] | null;
  readonly disallowedTools: readonly string[];
  readonly modelInvocable: boolean;
  readonly argumentHint: string | null;
  /** Characters. */
  readonly length: number;
  readonly warnings: readonly AgentProblem[];
  /** Paths of the skills of the same name that it keeps from being used. */
  readonly shadows: readonly string[];
  /** The path of the skill that keeps this one from being used. */
  readonly shadowedBy: string | null;
}

export interface SkillListings {
  /** Shadowed ones too, after the others. */
  readonly skills: readonly SkillListing[];
  readonly skipped: readonly SkippedPath[];
  readonly problems: readonly AgentProblem[];
}

/** @param defaultAgent the type of a skill's task that names none */
export function listSkills(found: DiscoveredSkills, defaultAgent: string): SkillListings {
  const shadowedBy = Map.groupBy(found.shadowed, ({ by }) => by);
  const used = found.skills.map((skill) => ({
    ...describe(skill, defaultAgent),
    shadows: (shadowedBy.get(skill.path) ?? []).map((each) => each.skill.path),
    shadowedBy: null,
  }));
  const shadowed = found.shadowed.map(({ skill, by }) => ({
    ...describe(skill, defaultAgent),
    shadows: [],
    shadowedBy: by,
  }));
  return { skills: [...used, ...shadowed], skipped: found.skipped, problems: found.problems };
}

function describe(
  skill: SkillDefinition,
  defaultAgent: string,
): Omit<SkillListing, 'shadows' | 'shadowedBy'> {
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
