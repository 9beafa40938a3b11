import { agentNames } from '../agents/find.ts';
import type { AgentSource } from './deps.ts';
import { DEFAULT_AGENT } from './plan-child.ts';
import type { TaskInput } from './task-tools/task-input.ts';
import type { TaskStore } from '../store/task-store.ts';

/**
 * What the agent is called that a Task call would set to work, its name first, for rules to match: the
 * recorded one of a task that is resumed. Empty where an id may mean tasks of several: no rule that
 * allows one of them allows the call, and each that is about one could mean it.
 */
export function calledTypes(
  { agents, store }: { readonly agents: Pick<AgentSource, 'agents'>; readonly store: TaskStore },
  { subagentType = DEFAULT_AGENT, resume }: Pick<TaskInput, 'subagentType' | 'resume'>,
): readonly string[] {
  const recorded = resume === undefined ? [] : recordedTypes(store, resume);
  if (recorded.length > 1) return [];
  // An unknown id or type stays as it is: the call then fails by itself.
  return agentNames(recorded[0] ?? subagentType, agents.agents());
}

function recordedTypes(store: TaskStore, word: string): readonly string[] {
  const meant = store.list().filter(({ id }) => id.startsWith(word));
  return [...new Set(meant.map(({ agent }) => agent))];
}
