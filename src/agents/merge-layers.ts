import type { AgentDefinition } from '../protocol/agent.ts';
import { TOOL_NAMES } from '../protocol/tool-names.ts';

/** The products that merge several files for the same agent. In all others, only the first file counts. */
const LAYERED: ReadonlySet<string> = new Set(['opencode', 'codex']);

/**
 * Adds to each agent what later files of its product deny to an agent of the same name, as the product itself does.
 * Nothing else in those files counts here. The order stays the same.
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
    // A mode is only taken over if the first file has none.
    ...(agent.permissionMode === null ? pick(other) : pick(agent)),
  };
  const isSame =
    denials.disallowedTools.length === agent.disallowedTools.length &&
    JSON.stringify(denials.rules) === JSON.stringify(agent.rules) &&
    denials.mode === agent.mode;
  if (isSame) return agent;
  const message = `${other.origin.path} also defines \`${agent.name}\`: what it denies is denied here, too, and nothing else in it counts.`;
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
