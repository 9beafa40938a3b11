import { formatSkillTextWithin } from '../../agents/skills/text.ts';
import { escapeTags } from '../../base/control-tags.ts';
import {
  isToolDisallowed,
  coversWholeTool,
  ruleCovers,
  denialCovers,
  nameCovers,
} from '../../policy/rules/tool-cover.ts';
import type { AgentDefinition, ToolSelection } from '../../protocol/agent.ts';
import type { Rights } from '../../protocol/permission.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import { isInside } from '../../base/path-inside.ts';
import type { EngineDeps, SkillSource } from '../task/deps.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { findSkill } from '../../agents/skills/find-skill.ts';
import { listSkillsForPrompt } from '../../agents/skills/prompt-list.ts';
import { MusterError } from '../../base/errors.ts';
import { CORE_TOOLS, MEMORY_TOOLS } from '../../protocol/tool-names.ts';

interface SkillDeps extends Pick<EngineDeps, 'settings'> {
  readonly skills: Pick<SkillSource, 'skills'>;
}

/** The skills that a model may call, with a line about each for its prompt. */
interface CallableSkills {
  readonly skills: readonly SkillDefinition[];
  readonly lines: readonly string[];
}

/**
 * The callable skills, by the list of all skills and whether the task may delegate. Thousands of tasks share the
 * entries.
 */
const CALLABLE_SKILLS = new WeakMap<readonly SkillDefinition[], Map<boolean, CallableSkills>>();

/**
 * Finds the skills that a task with these rights may call. A skill that runs as a task needs the right to delegate.
 */
export function findCallableSkills(
  { skills, settings }: SkillDeps,
  rights: Rights,
): CallableSkills {
  const all = skills.skills();
  const delegates = settings.taskTools && mayDelegate(rights);
  const known = CALLABLE_SKILLS.get(all) ?? new Map<boolean, CallableSkills>();
  CALLABLE_SKILLS.set(all, known);
  const callable = known.get(delegates) ?? selectCallableSkills(all, { delegates });
  known.set(delegates, callable);
  return callable;
}

function selectCallableSkills(
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
  /** The requested skills that are not loaded, with the reasons. */
  readonly warnings: readonly string[];
}

const NO_SKILLS: PreloadedSkills = { names: [], texts: [], warnings: [] };

/** Loads the skills that an agent's definition preloads. */
export function loadPreloadedSkills(
  { skills, settings }: SkillDeps,
  { name: agent, skills: requested = [] }: AgentDefinition,
): PreloadedSkills {
  if (requested.length === 0) return NO_SKILLS;
  const found = [...new Set(requested)].map((name) => findSkill(name, skills.skills()));
  const loaded = found.flatMap((each) =>
    each.ok && each.skill.modelInvocable ? [each.skill] : [],
  );
  return {
    names: loaded.map(({ name }) => name),
    texts: loaded.map((skill) =>
      escapeTags(formatSkillTextWithin(skill, '', settings.caps.resultBytes)),
    ),
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
 * Returns true when a path (absolute, real) belongs to a skill that the task uses. Such a file can be read although
 * it is outside the roots. The log contains only the name of the skill; its directory is that of the installed skill.
 */
export function isSkillFile({ skills }: SkillDeps, state: TaskState, real: string): boolean {
  if (state.skills.size === 0) return false;
  return skills
    .skills()
    .some(({ name, directory }) => state.skills.has(name) && isInside(directory, real));
}

/**
 * Returns the definition for the task of a skill: the definition of its agent, with only the tools that the skill
 * also allows, and with the skill's model and effort. Returns an error when no tool remains.
 */
export function restrictAgentToSkill(
  agent: AgentDefinition,
  skill: SkillDefinition,
): AgentDefinition | MusterError {
  const { allowedTools, disallowedTools, limitedTools, model, effort } = skill;
  const narrowed = allowedTools === undefined ? agent : restrictTools(agent, allowedTools);
  if (allowedTools !== undefined && narrowed.tools.names.length === 0) {
    const allowed = allowedTools.join(', ') || 'no tool that there is';
    const message = `allowed-tools in ${skill.path}: it allows ${allowed}, of which \`${agent.name}\` has none. Do the work yourself.`;
    return new MusterError('INVALID_PARAM', message);
  }
  return {
    ...narrowed,
    ...(limitedTools === undefined
      ? {}
      : { limitedTools: [...(narrowed.limitedTools ?? []), limitedTools] }),
    disallowedTools: [...new Set([...narrowed.disallowedTools, ...disallowedTools])],
    ...(model === undefined ? {} : { model, models: [model] }),
    ...(effort === undefined ? {} : { effort }),
  };
}

function restrictTools(agent: AgentDefinition, allowed: readonly string[]): AgentDefinition {
  const { tools, disallowedTools } = agent;
  // The agent's denials also apply to descendants, so they are kept beside the new list of tools. Task and the memory
  // tools are given even to agents that do not list them, so they are denied unless the skill allows them.
  const unlisted = ['Task', ...(agent.memory === undefined ? [] : MEMORY_TOOLS)];
  const denied = [
    ...disallowedTools,
    ...(tools.mode === 'deny' ? tools.names : []),
    ...unlisted.filter((name) => !allowed.some((each) => nameCovers(each, name))),
  ];
  const names = intersectTools(tools, allowed);
  return { ...agent, tools: { mode: 'allow', names }, disallowedTools: denied };
}

function intersectTools(tools: ToolSelection, allowed: readonly string[]): readonly string[] {
  // The tools of MCP servers are not known at this point, so a pattern represents them.
  const requested = tools.mode === 'allow' ? tools.names : [...CORE_TOOLS, 'mcp__*'];
  const denied = tools.mode === 'deny' ? tools.names : [];
  const both = requested.flatMap((name) =>
    allowed.flatMap((each) => (nameCovers(each, name) ? [name] : selectIfNarrower(name, each))),
  );
  return [...new Set(both)].filter((name) => !denied.some((each) => denialCovers(each, name)));
}

/**
 * Returns the allowed tool if it belongs to an MCP server and the definition names the tools of that server by a
 * pattern.
 */
function selectIfNarrower(name: string, allowed: string): readonly string[] {
  return name.startsWith('mcp__') && nameCovers(name, allowed) ? [allowed] : [];
}
