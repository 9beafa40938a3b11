import { errorMessage } from '../base/errors.ts';
import type { Usage } from '../protocol/model.ts';
import type { AgentFunction } from './agents.ts';
import type { Muster } from './contract.ts';
import type { StandardResult } from './standard-schema.ts';
import { readTaskInput, taskTool, type TaskToolInput, type TaskToolOptions } from './task-tool.ts';

/** A tool in the form of the AI SDK 6 and 7, for the option `tools` of its functions and of `ToolLoopAgent`. */
export interface AiSdkTaskTool {
  /** The description for the model, with the list of agents. */
  readonly description: string;
  /** A Standard Schema with its JSON Schema. */
  readonly inputSchema: {
    /** The schema in the form that libraries read. */
    readonly '~standard': {
      /** The version of Standard Schema. */
      readonly version: 1;
      /** The name of the library, which is `muster`. */
      readonly vendor: string;
      /** Checks the arguments of a call. */
      readonly validate: (value: unknown) => StandardResult<TaskToolInput>;
      /** The types of the arguments, which exist only for the compiler. */
      readonly types?: { readonly input: TaskToolInput; readonly output: TaskToolInput };
      /** The functions that return the JSON Schema of the arguments. */
      readonly jsonSchema: {
        /** Returns the JSON Schema of the arguments. */
        readonly input: () => Record<string, unknown>;
        /** Returns the same schema, because nothing is transformed. */
        readonly output: () => Record<string, unknown>;
      };
    };
  };
  /** Runs a task and returns its answer for the model. */
  execute(
    input: TaskToolInput,
    options: { readonly abortSignal?: AbortSignal | undefined },
  ): Promise<string>;
}

/**
 * Creates a tool of the AI SDK that delegates to the agents of an instance. Throws UsageError for an unknown agent or option.
 *
 * @example
 * import { generateText, isStepCount, type LanguageModel } from 'ai';
 * import type { Muster } from 'muster-agent';
 * import { aiSdkTaskTool } from 'muster-agent/ai-sdk';
 *
 * export async function ask(muster: Muster, model: LanguageModel, prompt: string): Promise<string> {
 *   const tools = { Task: aiSdkTaskTool(muster, { agents: ['Explore'] }) };
 *   return (await generateText({ model, prompt, tools, stopWhen: isStepCount(5) })).text;
 * }
 */
export function aiSdkTaskTool(muster: Muster, options: TaskToolOptions = {}): AiSdkTaskTool {
  const task = taskTool(muster, options);
  const agents = options.agents ?? muster.agents.map(({ name }) => name);
  return {
    description: task.description,
    inputSchema: {
      '~standard': {
        version: 1,
        vendor: 'muster',
        validate(value) {
          try {
            return { value: readTaskInput(value, agents) };
          } catch (thrown) {
            return { issues: [{ message: errorMessage(thrown) }] };
          }
        },
        jsonSchema: {
          input: () => ({ ...task.inputSchema }),
          output: () => ({ ...task.inputSchema }),
        },
      },
    },
    async execute(input, { abortSignal }) {
      const signal = abortSignal === undefined ? {} : { signal: abortSignal };
      return (await task.execute(input, signal)).text;
    },
  };
}

/** An agent of the AI SDK, such as `ToolLoopAgent`. */
export interface AiSdkAgent {
  /** Does the work of a task. It must end soon after the signal aborts. */
  generate(options: { readonly prompt: string; readonly abortSignal?: AbortSignal }): PromiseLike<{
    /** The answer. */
    readonly text: string;
    /** The usage of all steps. */
    readonly totalUsage?: AiSdkUsage | undefined;
    /** The usage of the last step, which counts if there is no `totalUsage`. */
    readonly usage?: AiSdkUsage | undefined;
  }>;
}

/** The tokens that an agent of the AI SDK has used. */
export interface AiSdkUsage {
  /** The tokens of the prompts. Default: not known. */
  readonly inputTokens?: number | undefined;
  /** The tokens of the answers. Default: not known. */
  readonly outputTokens?: number | undefined;
}

/**
 * Makes an agent of the AI SDK an agent of Muster, for the option `agents` of `createMuster`. `description`: when to use the
 * agent, for the agents that may delegate to it.
 *
 * @example
 * import { ToolLoopAgent, type LanguageModel } from 'ai';
 * import { createMuster, type Muster } from 'muster-agent';
 * import { aiSdkAgent } from 'muster-agent/ai-sdk';
 *
 * export async function open(model: LanguageModel): Promise<Muster> {
 *   const researcher = aiSdkAgent('Answers questions about history.', new ToolLoopAgent({ model }));
 *   return createMuster({ model: 'anthropic/claude-sonnet-4-5', agents: { researcher } });
 * }
 */
export function aiSdkAgent(description: string, agent: AiSdkAgent): AgentFunction {
  return {
    description,
    async run(prompt, { signal }) {
      const { text, totalUsage, usage } = await agent.generate({ prompt, abortSignal: signal });
      const counted = toUsage(totalUsage ?? usage);
      return counted === null ? text : { text, usage: counted };
    },
  };
}

function toUsage(usage: AiSdkUsage | undefined): Partial<Usage> | null {
  const { inputTokens, outputTokens } = usage ?? {};
  if (inputTokens === undefined && outputTokens === undefined) return null;
  return { input: inputTokens ?? 0, output: outputTokens ?? 0 };
}
