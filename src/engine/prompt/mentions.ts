import type { AgentDefinition } from '../../protocol/agent.ts';
import type { QuotedItem } from '../../protocol/quoted-item.ts';
import type { TaskInput } from '../../protocol/input.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import { callableNames } from '../../agents/agent-id.ts';
import { findMentionedAgents } from '../../agents/mentions.ts';
import { newId } from '../../base/ids.ts';
import { delegableAgents } from './agent-types.ts';

/** The result of looking up the agents that a message mentions as @name. */
interface Mentions {
  /** The names of the agents that the next answer has to call. Absent if there are none. */
  readonly mentions?: readonly string[];
  /** Warnings about mentions that call no agent and stay plain text. */
  readonly warnings: readonly string[];
}

/** Returns the text in which agents are looked up: the words of the person, and the agents of the slash commands in it. */
export function mentioningText(words: string, items: readonly QuotedItem[]): string {
  const agents = items.flatMap(({ agent }) => (agent === undefined ? [] : [`@"${agent}"`]));
  // The agents come first, because an open code block in the words would hide them.
  return [...agents, words].join('\n');
}

/** The maximum number of agents that one message calls: the default of `max_parallel`. */
export const MAX_MENTIONS = 16;

/**
 * Finds the agents that a message mentions and that the task which reads the message can call. A task without the Task
 * tool can call none.
 *
 * @param agents all agents that can be chosen by name
 */
export function resolveMentions(
  text: string,
  agents: readonly AgentDefinition[],
  reader: Pick<TaskSpec, 'agent' | 'tools'>,
): Mentions {
  const mentioned = findMentionedAgents(text, agents);
  if (mentioned.length === 0) return { warnings: [] };
  const callNames = callableNames(agents);
  const toNames = (some: readonly AgentDefinition[]) =>
    some.map((agent) => callNames.get(agent) ?? agent.name);
  if (!reader.tools.includes('Task')) {
    const reason = "the task that reads the message has no Task tool and can't delegate";
    return { warnings: warnAboutText(toNames(mentioned), reason) };
  }
  const delegable = new Set(delegableAgents(reader.agent, agents));
  const callable = toNames(mentioned.filter((agent) => delegable.has(agent)));
  const others = toNames(mentioned.filter((agent) => !delegable.has(agent)));
  return {
    ...(callable.length === 0 ? {} : { mentions: callable.slice(0, MAX_MENTIONS) }),
    warnings: [
      ...warnAboutText(others, `the definition of ${reader.agent.name} does not list it`),
      ...warnAboutText(
        callable.slice(MAX_MENTIONS),
        `one message calls at most ${MAX_MENTIONS} agents by name`,
      ),
    ],
  };
}

/** The maximum number of names that a warning shows. */
const MAX_SHOWN_NAMES = 8;

/** Formats the warning that these mentions call no agent. */
function warnAboutText(names: readonly string[], reason: string): readonly string[] {
  if (names.length === 0) return [];
  const shown = names.slice(0, MAX_SHOWN_NAMES).map((name) => `@${name}`);
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
  return [
    `${shown.join(', ')}${more} ${names.length === 1 ? 'is' : 'are'} taken as text: ${reason}`,
  ];
}

/**
 * Creates the input for a person's message to a task. The input goes into the task's next request.
 *
 * @param quotedItems the items that the person sends along
 */
export function createUserMessage(
  text: string,
  { mentions }: Pick<Mentions, 'mentions'>,
  quotedItems: readonly QuotedItem[],
): TaskInput {
  return {
    id: newId(),
    kind: 'message',
    from: 'user',
    text,
    ...(mentions === undefined ? {} : { mentions }),
    ...(quotedItems.length === 0 ? {} : { enclosed: quotedItems }),
  };
}
