import { mentionedAgents } from '../../agents/mentions.ts';
import { newId } from '../../base/ids.ts';
import type { QuotedItem } from '../../protocol/quoted-item.ts';
import type { TaskInput } from '../../protocol/input.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import { delegableAgents } from './agent-types.ts';
import type { AgentSource } from '../task/deps.ts';
import { callableNames } from '../../agents/agent-id.ts';

/** The agents that a message mentions as @name. */
export interface Mentions {
  /** The agents that the next answer is to call. */
  readonly mentions?: readonly string[];
  /** Warnings about mentions that are taken as text. */
  readonly warnings: readonly string[];
}

/** The most agents that are called for one message: the default number of tasks that work at the same time. */
export const MAX_MENTIONS = 16;

/**
 * Finds the agents that a message mentions and that its reader can call. A task without the Task tool calls none.
 *
 * @param by the task that reads the message
 */
export function resolveMentions(
  words: string,
  {
    agents,
    by,
  }: {
    readonly agents: Pick<AgentSource, 'agents'>;
    readonly by: Pick<TaskSpec, 'agent' | 'tools'>;
  },
): Mentions {
  const types = agents.agents();
  const mentioned = mentionedAgents(words, types);
  if (mentioned.length === 0) return { warnings: [] };
  const known = callableNames(types);
  const named = (some: readonly AgentDefinition[]) =>
    some.map((agent) => known.get(agent) ?? agent.name);
  if (!by.tools.includes('Task')) {
    const because = "whoever reads it has no Task tool and can't delegate";
    return { warnings: takenAsText(named(mentioned), because) };
  }
  const delegable = new Set(delegableAgents(by.agent, types));
  const callable = named(mentioned.filter((agent) => delegable.has(agent)));
  const others = named(mentioned.filter((agent) => !delegable.has(agent)));
  return {
    ...(callable.length === 0 ? {} : { mentions: callable.slice(0, MAX_MENTIONS) }),
    warnings: [
      ...takenAsText(others, `the definition of ${by.agent.name} names whom it may delegate to`),
      ...takenAsText(
        callable.slice(MAX_MENTIONS),
        `one message calls at most ${MAX_MENTIONS} agents by name`,
      ),
    ],
  };
}

/** The most names that a warning shows. */
const SHOWN_NAMES = 8;

function takenAsText(names: readonly string[], because: string): readonly string[] {
  if (names.length === 0) return [];
  const shown = names.slice(0, SHOWN_NAMES).map((name) => `@${name}`);
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
  return [
    `${shown.join(', ')}${more} ${names.length === 1 ? 'is' : 'are'} taken as text: ${because}`,
  ];
}

/** Creates the input for a person's message to a task, which goes into the task's next request. */
export function createUserMessage(
  text: string,
  { mentions }: Pick<Mentions, 'mentions'>,
  enclosed: readonly QuotedItem[],
): TaskInput {
  const named = mentions === undefined ? {} : { mentions };
  const beside = enclosed.length === 0 ? {} : { enclosed };
  return { id: newId(), kind: 'message', from: 'user', text, ...named, ...beside };
}
