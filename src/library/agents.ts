import type { Message } from '../protocol/message.ts';
import type { Effort, Usage } from '../protocol/model.ts';
import type { Schema } from './standard-schema.ts';

/** An agent as an object, with the fields of an agent file (docs/agents.md). */
export interface AgentFields {
  /** The agent's part of its system prompt. */
  readonly prompt: string;
  /** When to use the agent, for the agents that may delegate to it. */
  readonly description: string;
  /** The names of its tools. Default: the core tools and the tools of the program. */
  readonly tools?: readonly string[] | '*';
  /** Tools that it and the tasks below it do not get. Default: none. */
  readonly disallowedTools?: readonly string[];
  /** A tier, a model's name, a name from `models`, or `inherit`. Default: the model of its parent. */
  readonly model?: string;
  /** The amount of thinking before an answer. Default: that of the model. */
  readonly effort?: Effort;
  /** Its permission mode, which is never wider than that of its parent. Default: that of its parent. */
  readonly permissionMode?: string;
  /** The agents to which it may delegate. Default: none, unless its tools contain `Task`. */
  readonly delegatesTo?: readonly string[];
  /** The maximum number of requests to the model of one task. Default: that of the configuration. */
  readonly maxTurns?: number;
  /** The maximum number of tokens of one task that are not read from a cache. Default: that of the configuration. */
  readonly maxTokens?: number;
  /** The maximum cost of one task in USD. Default: that of the configuration. */
  readonly maxCostUsd?: number;
  /** The time limit of one task in seconds. Default: that of the configuration. */
  readonly wallSeconds?: number;
  /** The maximum number of tokens of its answer that its parent gets. Default: that of the configuration. */
  readonly resultMaxTokens?: number;
  /** The schema of its answers, of which only the JSON Schema is used. Default: any text. */
  readonly outputSchema?: Schema;
  /** Rules that refuse calls of it and of the tasks below it. Default: none. */
  readonly denyRules?: readonly string[];
  /** Rules for calls of it and of the tasks below it that are asked about. Default: none. */
  readonly askRules?: readonly string[];
  /** True if it continues in the background while its parent goes on. Default: false. */
  readonly background?: boolean;
  /** `worktree`: it works in a worktree of its own; `process`: in a process of its own. Default: neither. */
  readonly isolation?: 'worktree' | 'process';
  /** False to leave out the context files and the state of git. Default: true. */
  readonly contextFiles?: boolean;
  /** Names of skills whose instructions are part of its prompt. Default: none. */
  readonly skills?: readonly string[];
}

/**
 * An agent of another library, as a function. Muster records its work, bounds it and can stop it.
 *
 * @example
 * import { createMuster, type AgentFunction } from 'muster-agent';
 *
 * const weather: AgentFunction = {
 *   description: 'Knows the weather in any city.',
 *   run: async (prompt, { signal }) => {
 *     const answer = await fetch(`https://example.org/weather?q=${encodeURIComponent(prompt)}`, { signal });
 *     return answer.text();
 *   },
 * };
 * await using muster = await createMuster({ model: 'offline', agents: { weather } });
 */
export interface AgentFunction {
  /** When to use the agent, for the agents that may delegate to it. */
  readonly description: string;
  /** Does the work of a task. The result is its answer, or the answer and the usage that counts for budgets. */
  run(
    prompt: string,
    context: {
      /** Aborts when the task is stopped or reaches a limit. The task ends then, even if the function goes on. */
      readonly signal: AbortSignal;
      /** The messages so far, if the task goes on with another message. The last one contains the prompt. */
      readonly messages: readonly Message[];
    },
  ): Promise<string | AgentFunctionResult>;
  /** The time limit of a task in seconds. Default: that of the configuration. */
  readonly wallSeconds?: number;
}

/** The result of an agent function. */
export interface AgentFunctionResult {
  /** The answer, which is the result of the task. */
  readonly text: string;
  /** The tokens that it has used. Default: not known, and estimated from the texts. */
  readonly usage?: Partial<Usage>;
}

/** Tells whether an agent is a function. */
export function isAgentFunction(agent: AgentFields | AgentFunction): agent is AgentFunction {
  return 'run' in agent;
}
