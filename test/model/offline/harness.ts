import { isJsonObject, type JsonObject } from '../../../src/base/json.ts';
import { createOfflineModel } from '../../../src/model/offline/engine.ts';
import {
  messageText,
  toolCalls,
  userMessage,
  type AssistantMessage,
  type Message,
  type ToolResultPart,
} from '../../../src/protocol/message.ts';
import type { ModelPart, ModelRequest, ToolSpec } from '../../../src/protocol/model.ts';
import { runSearchTool, SEARCH_TOOLS, TASK_TOOL, type CallResult } from './search-tools.ts';

export interface RunOptions {
  readonly root: string;
  readonly tools?: readonly ToolSpec[];
  /** Messages before the question. */
  readonly history?: readonly Message[];
  readonly agentType?: string;
  readonly execute?: (name: string, input: JsonObject) => Promise<CallResult>;
  /** The last turn comes without tools. */
  readonly toolsForbiddenFrom?: number;
}

export interface RunResult {
  readonly text: string;
  readonly messages: readonly Message[];
  /** Calls by turn. */
  readonly turns: readonly (readonly { readonly name: string; readonly input: JsonObject }[])[];
  readonly parts: readonly ModelPart[];
}

export function requestOf(
  messages: readonly Message[],
  options: Partial<RunOptions>,
): ModelRequest {
  const type =
    options.agentType === undefined ? '' : `# Agent type: ${options.agentType}\nExplore.\n\n`;
  return {
    model: { provider: 'offline', id: 'offline', chain: ['test'] },
    prefix: {
      system: [`You are Muster.\n\n${type}# Environment\nDirectory: ${options.root ?? '/w'}`],
      tools: options.tools ?? SEARCH_TOOLS,
    },
    messages,
    toolChoice: 'auto',
  };
}

/** The loop of any agent in its smallest form: a turn, its calls, the next turn. Task runs a child. */
export async function ask(question: string, options: RunOptions): Promise<RunResult> {
  const messages: Message[] = [...(options.history ?? []), userMessage(question)];
  const turns: { name: string; input: JsonObject }[][] = [];
  const parts: ModelPart[] = [];
  const execute = options.execute ?? ((name, input) => runTool(name, input, options));
  for (let turn = 0; turn < 12; turn += 1) {
    const request = requestOf(messages, options);
    const toolChoice = turn >= (options.toolsForbiddenFrom ?? Infinity) ? 'none' : 'auto';
    const message = await answerTo({ ...request, toolChoice }, parts);
    messages.push(message);
    const calls = toolCalls(message);
    if (calls.length === 0) return { text: messageText(message), messages, turns, parts };
    turns.push(calls.map(({ name, input }) => ({ name, input: isJsonObject(input) ? input : {} })));
    const content = await Promise.all(
      calls.map(async ({ id, name, input }): Promise<ToolResultPart> => {
        const { text, isError } = await execute(name, isJsonObject(input) ? input : {});
        return { type: 'tool_result', callId: id, name, text, isError };
      }),
    );
    messages.push({ role: 'tool', content });
  }
  throw new Error('the engine does not come to an answer');
}

async function answerTo(request: ModelRequest, parts: ModelPart[]): Promise<AssistantMessage> {
  for await (const part of createOfflineModel().stream(request, new AbortController().signal)) {
    parts.push(part);
    if (part.type === 'finished') return part.message;
    if (part.type === 'failed') throw new Error(part.failure.message);
  }
  throw new Error('the stream ended without a last part');
}

async function runTool(name: string, input: JsonObject, options: RunOptions): Promise<CallResult> {
  if (name !== TASK_TOOL.name) return runSearchTool(name, input, options.root);
  const { text } = await ask(String(input['prompt']), { root: options.root, agentType: 'Explore' });
  const facts =
    '[task abcdefgh1234 · Explore · offline/offline · 4 turns · 20 tool calls · no files changed]';
  return { text: `${text}\n\n${facts}`, isError: false };
}
