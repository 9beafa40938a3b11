import { agentNames } from '../../agents/find.ts';
import { MusterError } from '../../base/errors.ts';
import type { EngineContext } from './engine-context.ts';
import type { EngineDeps } from '../task/deps.ts';
import { foldLog } from '../task/fold-log.ts';
import { type TaskInput, DEFAULT_AGENT } from '../task/task-input.ts';
import { decide } from '../../policy/decide.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { NO_ACCESS, type Decision, type Rights } from '../../protocol/permission.ts';

type Deps = Pick<EngineDeps, 'home' | 'settings' | 'stateDirectories'> & {
  readonly agents: Pick<EngineDeps['agents'], 'agents'>;
};

/** What is decided about a call of Task for an agent, by one with these rights that has the tool. */
export function decideDelegation(deps: Deps, rights: Rights, { name }: AgentDefinition): Decision {
  const { home, settings, stateDirectories } = deps;
  const [agent, ...agentWords] = agentNames(name, deps.agents.agents());
  const access = { ...NO_ACCESS, reads: [], writes: [], agent, agentWords };
  return decide(
    { tool: 'Task', kind: 'delegate', access, inToolSet: settings.taskTools },
    rights,
    // It runs no commands.
    { home, stateDirectories, shellParser: null, sandboxed: false },
  );
}

/**
 * What the agent is called that a Task call would set to work, its name first, for rules to match: the
 * recorded one of a task that is resumed. Empty where that is not known: no rule that allows one agent
 * allows the call, and each that is about one could mean it.
 */
export function calledAgentNames(
  engine: Pick<EngineContext, 'deps' | 'running'>,
  { subagentType = DEFAULT_AGENT, resume }: Pick<TaskInput, 'subagentType' | 'resume'>,
): readonly string[] {
  const { agents } = engine.deps;
  if (resume === undefined) return agentNames(subagentType, agents.agents());
  try {
    return agentNames(recordedType(engine, resume), agents.agents());
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    // There is no such task: the call fails by itself.
    return thrown.code === 'NOT_FOUND' ? agentNames(subagentType, agents.agents()) : [];
  }
}

function recordedType(
  { deps, running }: Pick<EngineContext, 'deps' | 'running'>,
  word: string,
): string {
  const id = deps.store.resolveId(word);
  const { spec } = running.get(id)?.state ?? foldLog(deps.store, id);
  return spec.agent.name;
}
