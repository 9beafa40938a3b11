import { errorMessage } from '../base/errors.ts';
import type { Usage } from '../protocol/model.ts';
import type { AgentFunction } from './agents.ts';
import type { Muster } from './contract.ts';
import type { StandardResult } from './standard-schema.ts';
import { readTaskInput, taskTool, type TaskToolInput, type TaskToolOptions } from './task-tool.ts';

/** A tool in the form of the AI SDK 6 and 7, for the option `tools` of its functions and of `ToolLoopAgent`. */
export interface AiSdkTaskTool {
  readonly description: string;
  /** A Standard Schema with its JSON Schema. */
  readonly inputSchema: {
    readonly '~standard': {
      readonly version: 1;
      readonly vendor: string;
      readonly validate: (value: unknown) => StandardResult<TaskToolInput>;
      readonly types?: { readonly input: TaskToolInput; readonly output: TaskToolInput };
      readonly jsonSchema: {
        readonly input: () => Record<string, unknown>;
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
 * Creates a tool of the AI SDK that delegates to the agents of an instance.
 *
 * @example
 * const { text } = await generateText({ model, prompt, tools: { Task: aiSdkTaskTool(muster) }, stopWhen: isStepCount(5) });
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
  generate(options: { readonly prompt: string; readonly abortSignal?: AbortSignal }): PromiseLike<{
    readonly text: string;
    /** The usage of all steps. */
    readonly totalUsage?: AiSdkUsage | undefined;
    readonly usage?: AiSdkUsage | undefined;
  }>;
}

interface AiSdkUsage {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
}

/**
 * Makes an agent of the AI SDK an agent of Muster, for the option `agents` of `createMuster`.
 *
 * @example
 * const agents = { researcher: aiSdkAgent('Researches on the web.', new ToolLoopAgent({ model, tools })) };
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
