import { MusterError } from '../../base/errors.ts';
import { foldLog } from '../task/fold-log.ts';
import { type TaskInput, DEFAULT_AGENT } from '../task/task-input.ts';
import type { EngineContext } from './engine-context.ts';
import { agentNames } from '../../agents/find-agent.ts';

/**
 * What the agent is called that a Task call would set to work, its name first, for rules to match: the
 * recorded one of a task that is resumed. Empty where that is not known: no rule that allows one agent
 * allows the call, and each that is about one could mean it.
 */
export function calledTypes(
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
