import { UsageError } from '../base/errors.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { checkFields } from './check-fields.ts';
import { checkBudget } from './check-run-options.ts';
import type { Muster, RunResult } from './contract.ts';
import type { RunBudget } from './options.ts';

/** The options of a task tool. */
export interface TaskToolOptions {
  /** The agents to which the other loop may delegate. Default: all agents of the instance. */
  readonly agents?: readonly string[];
  /** The limits of each task. Default: those of the configuration. */
  readonly budget?: RunBudget;
}

/** The arguments of a task tool. */
export interface TaskToolInput {
  /** The prompt, which is all that the agent knows about the task. */
  readonly prompt: string;
  /** The name of the agent. */
  readonly agent: string;
}

/** A tool with which the loop of another library, an MCP server, or a loop of your own delegates to the agents of Muster. */
export interface TaskTool {
  /** The name for the model. */
  readonly name: 'Task';
  /** The description for the model, with the list of agents. */
  readonly description: string;
  /** The JSON Schema of the arguments. */
  readonly inputSchema: JsonObject;
  /**
   * Runs a task and returns its result, whose `text` is for the model of the other loop. Rejects with UsageError for wrong
   * arguments, whose message is for that model, too. An abort of the signal stops the task.
   */
  execute(input: unknown, options?: { readonly signal?: AbortSignal }): Promise<RunResult>;
}

/**
 * Creates a tool that delegates to the agents of an instance, for a loop that is not Muster's. Throws UsageError for an unknown
 * agent or option.
 *
 * @example
 * import { taskTool, type Muster } from 'muster-agent';
 *
 * export async function answerCall(muster: Muster, input: unknown, signal: AbortSignal): Promise<string> {
 *   const task = taskTool(muster, { agents: ['Explore'], budget: { usd: 0.5 } });
 *   console.log(task.description, task.inputSchema);
 *   return (await task.execute(input, { signal })).text;
 * }
 */
export function taskTool(muster: Muster, options: TaskToolOptions = {}): TaskTool {
  checkFields(options, 'taskTool', { agents: 'array of strings', budget: 'object' });
  const { budget = {} } = options;
  // A copy, so that later changes of the program's array add no agents.
  const agents = [...(options.agents ?? muster.agents.map(({ name }) => name))];
  if (agents.length === 0)
    throw new UsageError('taskTool: agents must name an agent; leave it out for all agents');
  checkBudget(budget, 'taskTool');
  const offered = agents.map((name) => {
    const agent = muster.agents.find((each) => each.name === name);
    if (agent !== undefined) return agent;
    const valid = muster.agents.map((each) => each.name).join(', ');
    throw new UsageError(`taskTool: there is no agent ${JSON.stringify(name)}; valid: ${valid}`);
  });
  const list = offered.map(({ name, description }) => `- ${name}: ${description}`).join('\n');
  return {
    name: 'Task',
    description: `Give a task to a subagent, which works alone and returns only its answer. Agents:\n${list}`,
    inputSchema: {
      type: 'object',
      properties: {
        prompt: { type: 'string', description: 'all that the subagent needs to know' },
        agent: { type: 'string', enum: agents },
      },
      required: ['prompt', 'agent'],
      additionalProperties: false,
    },
    async execute(input, { signal } = {}) {
      const { prompt, agent } = readTaskInput(input, agents);
      return await muster.run(prompt, {
        agent,
        budget,
        ...(signal === undefined ? {} : { signal }),
      });
    },
  };
}

/** Reads the arguments of a call. Throws UsageError that says what is valid. */
export function readTaskInput(input: unknown, agents: readonly string[]): TaskToolInput {
  const { prompt, agent } = isJsonObject(input) ? input : {};
  if (typeof prompt !== 'string' || prompt.trim() === '')
    throw new UsageError('Task: prompt must be a text that is not empty');
  if (typeof agent !== 'string' || !agents.includes(agent))
    throw new UsageError(`Task: agent must be one of ${agents.join(', ')}`);
  return { prompt, agent };
}
