import { MusterError } from '../../base/errors.ts';
import { denialCovers, nameCovers } from '../../policy/rules/tool-cover.ts';
import type { AgentDefinition, ToolSelection } from '../../protocol/agent.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import { CORE_TOOLS, MEMORY_TOOLS } from '../../protocol/tool-names.ts';

/**
 * Returns the definition that a skill's task runs with: that of its agent, with only the tools that the skill also
 * allows, and with the skill's model and effort. Returns an error when no tool remains.
 */
export function restrictAgentToSkill(
  agent: AgentDefinition,
  skill: SkillDefinition,
): AgentDefinition | MusterError {
  const { allowedTools, disallowedTools, limitedTools, model, effort } = skill;
  const narrowed = allowedTools === undefined ? agent : withTools(agent, allowedTools);
  if (allowedTools !== undefined && narrowed.tools.names.length === 0) {
    const allowed = allowedTools.join(', ') || 'no tool that there is';
    return new MusterError(
      'INVALID_PARAM',
      `allowed-tools in ${skill.path}: it allows ${allowed}, of which \`${agent.name}\` has none. Do the work yourself.`,
    );
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

function withTools(agent: AgentDefinition, allowed: readonly string[]): AgentDefinition {
  const { tools, disallowedTools } = agent;
  // The agent's denials also apply to tasks below it, so they are kept beside the new list of tools. Task and the
  // memory tools are given to agents that do not list them, so they are denied unless the skill allows them.
  const unlisted = ['Task', ...(agent.memory === undefined ? [] : MEMORY_TOOLS)];
  const denied = [
    ...disallowedTools,
    ...(tools.mode === 'deny' ? tools.names : []),
    ...unlisted.filter((name) => !allowed.some((each) => nameCovers(each, name))),
  ];
  const names = toolsOfBoth(tools, allowed);
  return { ...agent, tools: { mode: 'allow', names }, disallowedTools: denied };
}

function toolsOfBoth(tools: ToolSelection, allowed: readonly string[]): readonly string[] {
  // The tools of servers are not known here, so a pattern stands for them.
  const requested = tools.mode === 'allow' ? tools.names : [...CORE_TOOLS, 'mcp__*'];
  const denied = tools.mode === 'deny' ? tools.names : [];
  const both = requested.flatMap((name) =>
    allowed.flatMap((each) => (nameCovers(each, name) ? [name] : narrower(name, each))),
  );
  return [...new Set(both)].filter((name) => !denied.some((each) => denialCovers(each, name)));
}

/** Returns the allowed tool when it is one of a server whose tools the definition names by a pattern. */
function narrower(name: string, allowed: string): readonly string[] {
  return name.startsWith('mcp__') && nameCovers(name, allowed) ? [allowed] : [];
}
