import { agentNames } from '../agents/find-agent.ts';
import { MusterError } from '../base/errors.ts';
import { foldLog } from './fold-log.ts';
import { DEFAULT_AGENT } from './plan-child.ts';
import type { TaskInput } from './task-tools/task-input.ts';
import type { Workshop } from './workshop.ts';

/**
 * What the agent is called that a Task call would set to work, its name first, for rules to match: the
 * recorded one of a task that is resumed. Empty where that is not known: no rule that allows one agent
 * allows the call, and each that is about one could mean it.
 */
export function calledTypes(
  workshop: Pick<Workshop, 'deps' | 'running'>,
  { subagentType = DEFAULT_AGENT, resume }: Pick<TaskInput, 'subagentType' | 'resume'>,
): readonly string[] {
  const { agents } = workshop.deps;
  if (resume === undefined) return agentNames(subagentType, agents.agents());
  try {
    return agentNames(recordedType(workshop, resume), agents.agents());
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    // There is no such task: the call fails by itself.
    return thrown.code === 'NOT_FOUND' ? agentNames(subagentType, agents.agents()) : [];
  }
}

function recordedType({ deps, running }: Pick<Workshop, 'deps' | 'running'>, word: string): string {
  const id = deps.store.resolveId(word);
  const { spec } = running.get(id)?.state ?? foldLog(deps.store, id);
  return spec.agent.name;
}
