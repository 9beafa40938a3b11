import { skillTextWithin } from '../../agents/skills/text.ts';
import { escapeTags } from '../../base/control-tags.ts';
import { isToolDisallowed, coversWholeTool, ruleCovers } from '../../policy/rules/tool-cover.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { Rights } from '../../protocol/permission.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import { isInside } from '../../sys/files/paths.ts';
import type { EngineDeps, SkillSource } from '../task/deps.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { findSkill } from '../../agents/skills/find-skill.ts';
import { listSkillsForPrompt } from '../../agents/skills/prompt-list.ts';

interface SkillDeps extends Pick<EngineDeps, 'settings'> {
  readonly skills: Pick<SkillSource, 'skills'>;
}

/** The skills that a model may call, with a line about each for its prompt. */
interface CallableSkills {
  readonly skills: readonly SkillDefinition[];
  readonly lines: readonly string[];
}

/** The callable skills by the list of all skills and the right to delegate. Thousands of tasks share them. */
const CALLABLE = new WeakMap<readonly SkillDefinition[], Map<boolean, CallableSkills>>();

/** Finds the skills that a task with these rights may call. Skills that run as tasks need the right to delegate. */
export function findCallableSkills(
  { skills, settings }: SkillDeps,
  rights: Rights,
): CallableSkills {
  const all = skills.skills();
  const delegates = settings.taskTools && mayDelegate(rights);
  const known = CALLABLE.get(all) ?? new Map<boolean, CallableSkills>();
  CALLABLE.set(all, known);
  const callable = known.get(delegates) ?? callableOf(all, { delegates });
  known.set(delegates, callable);
  return callable;
}

function callableOf(
  all: readonly SkillDefinition[],
  { delegates }: { readonly delegates: boolean },
): CallableSkills {
  const skills = all.filter(
    ({ modelInvocable, context }) => modelInvocable && (delegates || context !== 'fork'),
  );
  return { skills, lines: listSkillsForPrompt(skills).map(escapeTags) };
}

function mayDelegate(rights: Rights): boolean {
  if (rights.depth >= rights.maxDepth || isToolDisallowed(rights, 'Task')) return false;
  return !rights.rules.deny.some(
    (rule) => coversWholeTool(rule) && ruleCovers(rule, 'Task', 'narrow'),
  );
}

/** The skills that a definition preloads. */
export interface PreloadedSkills {
  readonly names: readonly string[];
  /** The instructions of each skill, for the prompt. */
  readonly texts: readonly string[];
  /** The skills that it asks for and does not get, with the reasons. */
  readonly warnings: readonly string[];
}

const NOTHING: PreloadedSkills = { names: [], texts: [], warnings: [] };

/** Loads the skills that an agent's definition preloads. */
export function loadPreloadedSkills(
  { skills, settings }: SkillDeps,
  { name: agent, skills: wished = [] }: AgentDefinition,
): PreloadedSkills {
  if (wished.length === 0) return NOTHING;
  const found = [...new Set(wished)].map((name) => findSkill(name, skills.skills()));
  const loaded = found.flatMap((each) =>
    each.ok && each.skill.modelInvocable ? [each.skill] : [],
  );
  return {
    names: loaded.map(({ name }) => name),
    texts: loaded.map((skill) => escapeTags(skillTextWithin(skill, '', settings.caps.resultBytes))),
    warnings: found.flatMap((each) => {
      if (!each.ok)
        return [`agent ${agent} asks for a skill that it does not get: ${each.message}`];
      if (each.skill.modelInvocable) return [];
      return [
        `agent ${agent} does not get the skill ${each.skill.name}, which is for people alone (disable-model-invocation)`,
      ];
    }),
  };
}

/**
 * Returns true when a path (absolute, real) belongs to a skill that the task uses, so that it may be read although
 * it is outside the roots. The log only names the skill; its directory is that of the installed skill.
 */
export function isSkillFile({ skills }: SkillDeps, state: TaskState, real: string): boolean {
  if (state.skills.size === 0) return false;
  return skills
    .skills()
    .some(({ name, directory }) => state.skills.has(name) && isInside(directory, real));
}
