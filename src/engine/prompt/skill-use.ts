import { skillTextWithin } from '../../agents/skills/text.ts';
import { escapeTags } from '../../base/control-tags.ts';
import { isDisallowed, isWholeTool, ruleCovers } from '../../policy/tool-cover.ts';
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

/** What a model may call, and what its prompt says of that, a line each. */
interface Callable {
  readonly skills: readonly SkillDefinition[];
  readonly lines: readonly string[];
}

/** Of all skills, for those who may delegate and those who may not: thousands of tasks share them. */
const CALLABLE = new WeakMap<readonly SkillDefinition[], Map<boolean, Callable>>();

/** The skills that the model of a task with these rights may call: of those for tasks only if it may delegate. */
export function callableSkills({ skills, settings }: SkillDeps, rights: Rights): Callable {
  const all = skills.skills();
  const delegates = settings.taskTools && mayDelegate(rights);
  const known = CALLABLE.get(all) ?? new Map<boolean, Callable>();
  CALLABLE.set(all, known);
  const callable = known.get(delegates) ?? callableOf(all, { delegates });
  known.set(delegates, callable);
  return callable;
}

function callableOf(
  all: readonly SkillDefinition[],
  { delegates }: { readonly delegates: boolean },
): Callable {
  const skills = all.filter(
    ({ modelInvocable, context }) => modelInvocable && (delegates || context !== 'fork'),
  );
  return { skills, lines: listSkillsForPrompt(skills).map(escapeTags) };
}

function mayDelegate(rights: Rights): boolean {
  if (rights.depth >= rights.maxDepth || isDisallowed(rights, 'Task')) return false;
  return !rights.rules.deny.some((rule) => isWholeTool(rule) && ruleCovers(rule, 'Task', 'narrow'));
}

/** The skills that a definition preloads. */
export interface Preloaded {
  readonly names: readonly string[];
  /** What stands in the prompt of everyone of that type, a text a skill. */
  readonly texts: readonly string[];
  /** What it asks for and does not get, and why. */
  readonly warnings: readonly string[];
}

const NOTHING: Preloaded = { names: [], texts: [], warnings: [] };

export function preloadedSkills(
  { skills, settings }: SkillDeps,
  { name: agent, skills: wished = [] }: AgentDefinition,
): Preloaded {
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
 * Whether a path (absolute, real) belongs to a skill that a task uses: then it may be read although it
 * lies outside the roots. What its log says names the skill; where that lies, only what is installed.
 */
export function isSkillFile({ skills }: SkillDeps, state: TaskState, real: string): boolean {
  if (state.skills.size === 0) return false;
  return skills
    .skills()
    .some(({ name, directory }) => state.skills.has(name) && isInside(directory, real));
}
