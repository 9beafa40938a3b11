import { sanitizeLine } from '../base/terminal-text.ts';
import { listedTools, type AgentDefinition } from '../protocol/agent.ts';

/** Describes the tools that an agent asks for, on one line. */
export function formatTools(agent: Pick<AgentDefinition, 'tools' | 'limitedTools'>): string {
  const { mode, names } = agent.tools;
  const list = sanitizeLine(listedTools(agent).join(', '));
  if (mode === 'all') return 'the core set';
  if (mode === 'deny') return `the core set without ${list}`;
  return names.length === 0 ? 'none' : list;
}
