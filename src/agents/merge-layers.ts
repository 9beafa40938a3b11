import type { AgentDefinition } from '../protocol/agent.ts';
import { TOOL_NAMES } from '../protocol/tool-names.ts';

/** Products that put what several files say of one agent together; everywhere else the first file counts. */
const LAYERED: ReadonlySet<string> = new Set(['opencode', 'codex']);

/**
 * The agents with what other files of their product, behind theirs, deny to the same name. There it would
 * hold, too; nothing else of those files counts here. In the same order.
 */
export function mergeLayers(agents: readonly AgentDefinition[]): readonly AgentDefinition[] {
  const layers = Map.groupBy(
    agents.filter(({ origin }) => LAYERED.has(origin.vendor)),
    ({ name, origin }) => `${origin.vendor} ${name.toLowerCase()}`,
  );
  const merged = new Map<AgentDefinition, AgentDefinition>();
  for (const [first, ...others] of layers.values()) {
    if (first === undefined || others.length === 0) continue;
    merged.set(first, others.reduce(withDenials, first));
  }
  return merged.size === 0 ? agents : agents.map((agent) => merged.get(agent) ?? agent);
}

type Denials = Pick<AgentDefinition, 'disallowedTools' | 'rules' | 'mode' | 'permissionMode'>;

function withDenials(agent: AgentDefinition, other: AgentDefinition): AgentDefinition {
  const denials: Denials = {
    disallowedTools: union(agent.disallowedTools, deniedBy(other)),
    ...rulesOf(agent, other),
    // A gap is filled; a mode that both name is the first one's.
    ...(agent.permissionMode === null ? pick(other) : pick(agent)),
  };
  const isSame =
    denials.disallowedTools.length === agent.disallowedTools.length &&
    JSON.stringify(denials.rules) === JSON.stringify(agent.rules) &&
    denials.mode === agent.mode;
  if (isSame) return agent;
  const message = `${other.origin.path} says more of \`${agent.name}\`: what it denies is denied here, too, and nothing else of it counts.`;
  const problem = { code: 'layered', message, path: agent.origin.path };
  return { ...agent, ...denials, problems: [...agent.problems, problem] };
}

function pick({ mode, permissionMode }: AgentDefinition): Pick<Denials, 'mode' | 'permissionMode'> {
  return { mode, permissionMode };
}

function deniedBy({ tools, disallowedTools }: AgentDefinition): readonly string[] {
  switch (tools.mode) {
    case 'all':
      return disallowedTools;
    case 'deny':
      return [...disallowedTools, ...tools.names];
    case 'allow': {
      const others = TOOL_NAMES.filter((name) => !tools.names.includes(name));
      const servers = tools.names.some((name) => name.startsWith('mcp__')) ? [] : ['mcp__*'];
      return [...disallowedTools, ...others, ...servers];
    }
    default:
      return tools.mode satisfies never;
  }
}

function rulesOf(agent: AgentDefinition, other: AgentDefinition): Pick<Denials, 'rules'> {
  const ask = union(agent.rules?.ask ?? [], other.rules?.ask ?? []);
  const deny = union(agent.rules?.deny ?? [], other.rules?.deny ?? []);
  return ask.length + deny.length === 0 ? {} : { rules: { ask, deny } };
}

function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])];
}
