import type { AgentDefinition } from '../../protocol/agent.ts';

/** The agent that talks to the user unless `--agent` names another one. */
export const MAIN_AGENT: AgentDefinition = {
  name: 'main',
  aliases: [],
  description: 'Talks to the user; works itself or delegates.',
  prompt: '',
  tools: { mode: 'all', names: [] },
  disallowedTools: [],
  permissionMode: null,
  mode: null,
  limits: {},
  origin: { scope: 'builtin', vendor: 'muster', path: 'builtin:main' },
  extra: {},
  problems: [],
};

/** Returns true for the definition of the main agent, even when it was read from a log. */
export function isMainAgent(agent: AgentDefinition): boolean {
  return agent.origin.path === MAIN_AGENT.origin.path;
}
