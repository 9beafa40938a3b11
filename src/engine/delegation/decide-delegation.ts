import { MusterError } from '../../base/errors.ts';
import type { EngineContext } from './engine-context.ts';
import type { EngineDeps } from '../task/deps.ts';
import { foldLog } from '../task/fold-log.ts';
import { decide } from '../../policy/decide.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { NO_ACCESS, type Decision, type Rights } from '../../protocol/permission.ts';
import { agentNames } from '../../agents/find-agent.ts';
import { type TaskArguments, DEFAULT_AGENT } from '../task/task-arguments.ts';

type Deps = Pick<EngineDeps, 'home' | 'settings' | 'stateDirectories'> & {
  readonly agents: Pick<EngineDeps['agents'], 'agents'>;
};

/** Decides about a Task call for an agent, made by a task with these rights that has the tool. */
export function decideDelegation(deps: Deps, rights: Rights, { name }: AgentDefinition): Decision {
  const { home, settings, stateDirectories } = deps;
  const [agent, ...agentWords] = agentNames(name, deps.agents.agents());
  const access = { ...NO_ACCESS, reads: [], writes: [], agent, agentWords };
  return decide(
    { tool: 'Task', kind: 'delegate', access, inToolSet: settings.taskTools },
    rights,
    // A Task call runs no commands.
    { home, stateDirectories, shellParser: null, isSandboxed: false },
  );
}

/**
 * Returns the names of the agent that a Task call would start, for rules to match: its own name first, then its
 * aliases. For a resumed task this is the recorded agent. The list is empty if the agent is not known; then no
 * rule that allows a single agent allows the call, and every rule about an agent could mean it.
 */
export function calledAgentNames(
  engine: Pick<EngineContext, 'deps' | 'running'>,
  { subagentType = DEFAULT_AGENT, resume }: Pick<TaskArguments, 'subagentType' | 'resume'>,
): readonly string[] {
  const { agents } = engine.deps;
  if (resume === undefined) return agentNames(subagentType, agents.agents());
  try {
    return agentNames(recordedType(engine, resume), agents.agents());
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    // There is no such task, so the call itself fails.
    return thrown.code === 'NOT_FOUND' ? agentNames(subagentType, agents.agents()) : [];
  }
}

function recordedType(
  { deps, running }: Pick<EngineContext, 'deps' | 'running'>,
  idPrefix: string,
): string {
  const id = deps.store.resolveId(idPrefix);
  const { spec } = running.get(id)?.state ?? foldLog(deps.store, id);
  return spec.agent.name;
}
