import { agentWords } from '../agents/agent-id.ts';
import { mentionedAgents } from '../agents/mentions.ts';
import { newId } from '../base/ids.ts';
import type { TaskInput } from '../protocol/event.ts';
import type { AgentSource } from './deps.ts';

/** What a person's words ask of the agent types that they name. */
export interface Mentions {
  /** To be called by the next answer. */
  readonly mentions?: readonly string[];
  /** Why nothing comes of them. */
  readonly warning?: string;
}

/** `tools`: of the task that reads the words. One without Task can call nobody, and is not told to. */
export function mentionsIn(
  words: string,
  { agents, tools }: { readonly agents: AgentSource; readonly tools: readonly string[] },
): Mentions {
  const types = agents.agents();
  const mentioned = mentionedAgents(words, types);
  if (mentioned.length === 0) return {};
  const names = agentWords(types);
  const mentions = mentioned.map((agent) => names.get(agent) ?? agent.name);
  if (tools.includes('Task')) return { mentions };
  const shown = mentions.map((name) => `@${name}`).join(', ');
  return {
    warning: `${shown} is taken as text: whoever reads it has no Task tool and can't delegate`,
  };
}

/** What a person says to a task, for its next request. */
export function personMessage(text: string, { mentions }: Mentions): TaskInput {
  const named = mentions === undefined ? {} : { mentions };
  return { id: newId(), kind: 'message', from: 'user', text, ...named };
}
