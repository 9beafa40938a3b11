import { MusterError } from '../../base/errors.ts';
import { denialCovers, nameCovers } from '../../policy/rules/tool-cover.ts';
import type { AgentDefinition, ToolSelection } from '../../protocol/agent.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import { CORE_TOOLS, MEMORY_TOOLS } from '../../protocol/tool-names.ts';

/**
 * The definition that a skill's task runs with: its agent's, with no tool that the skill does not allow,
 * and the skill's model and effort in place of the agent's. Never has a tool that the agent has not;
 * where none is left, that is the error returned.
 */
export function skillAgent(
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
  // Its denials hold for all below it, also where it is a list that it is left with. Task may come to an
  // agent that does not list it (`nested`), as those of `memory` do, and a skill that leaves them out means it.
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
  // What the core set stands for is not all known here: the tools of servers.
  const wished = tools.mode === 'allow' ? tools.names : [...CORE_TOOLS, 'mcp__*'];
  const denied = tools.mode === 'deny' ? tools.names : [];
  const both = wished.flatMap((name) =>
    allowed.flatMap((each) => (nameCovers(each, name) ? [name] : narrower(name, each))),
  );
  return [...new Set(both)].filter((name) => !denied.some((each) => denialCovers(each, name)));
}

/** Of a server's tools some may be allowed; any other name in a definition stands for itself alone. */
function narrower(name: string, allowed: string): readonly string[] {
  return name.startsWith('mcp__') && nameCovers(name, allowed) ? [allowed] : [];
}
