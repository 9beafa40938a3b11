import { decide } from '../../policy/decide.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { NO_ACCESS, type Decision, type Rights } from '../../protocol/permission.ts';
import type { EngineDeps } from '../task/deps.ts';
import { agentNames } from '../../agents/find-agent.ts';

type Deps = Pick<EngineDeps, 'home' | 'settings' | 'stateDirectories'> & {
  readonly agents: Pick<EngineDeps['agents'], 'agents'>;
};

/** What is decided about a call of Task for an agent, by one with these rights that has the tool. */
export function delegationVerdict(deps: Deps, rights: Rights, { name }: AgentDefinition): Decision {
  const { home, settings, stateDirectories } = deps;
  const [agent, ...agentWords] = agentNames(name, deps.agents.agents());
  const access = { ...NO_ACCESS, reads: [], writes: [], agent, agentWords };
  return decide(
    { tool: 'Task', kind: 'delegate', access, inToolSet: settings.taskTools },
    rights,
    // It runs no commands.
    { home, stateDirectories, shellParser: null, isSandboxed: false },
  );
}
