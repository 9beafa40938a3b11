import type { Mention } from '../../protocol/state/conversation.ts';
import { toolCalls, type AssistantMessage, type ToolCallPart } from '../../protocol/message.ts';
import { canonicalToolName } from '../../protocol/tool-aliases.ts';
import type { EngineDeps } from '../task/deps.ts';
import { foldLog } from '../task/fold-log.ts';
import { describePrompt } from '../prompt/prompt.ts';
import type { TaskRun } from '../task/task-run.ts';
import { parseTaskInput, DEFAULT_AGENT } from '../task/task-input.ts';
import { lookUpAgent } from '../../agents/find-agent.ts';

/**
 * An answer as it is taken: with a Task call for each type that a person named and that it does not
 * call itself. A model is asked to and may do otherwise; whoever names a type gets it in any case.
 */
export function withMentioned(
  deps: Pick<EngineDeps, 'agents' | 'store'>,
  run: Pick<TaskRun, 'state' | 'view'>,
  { message, turn }: { readonly message: AssistantMessage; readonly turn: number },
): AssistantMessage {
  const { mentioned } = run.state.conversation;
  if (mentioned.length === 0 || !run.view.has('Task')) return message;
  const agents = deps.agents.agents();
  const nameOf = (word: string) => (lookUpAgent(word, agents)?.name ?? word).toLowerCase();
  const called = new Set(
    toolCalls(message)
      .flatMap((call) => calledType(deps, run, call) ?? [])
      .map(nameOf),
  );
  // Named in two messages, it gets the later one, which stands on the earlier.
  const byName = new Map(mentioned.map((mention) => [nameOf(mention.agent), mention]));
  const missing = [...byName].flatMap(([name, mention]) => (called.has(name) ? [] : [mention]));
  if (missing.length === 0) return message;
  const added = missing.map((mention, index) => callFor(mention, `mention_${turn}_${index}`));
  return { ...message, content: [...message.content, ...added] };
}

/** The type that a call delegates to; undefined where it delegates to nobody. */
function calledType(
  { store }: Pick<EngineDeps, 'store'>,
  { state }: Pick<TaskRun, 'state'>,
  call: ToolCallPart,
): string | undefined {
  if (canonicalToolName(call.name) !== 'Task' || call.malformed !== undefined) return undefined;
  const parsed = parseTaskInput(call.input);
  if (!parsed.ok) return undefined;
  const { subagentType, resume } = parsed.input;
  if (subagentType !== undefined || resume === undefined) return subagentType ?? DEFAULT_AGENT;
  const child = [...state.children.keys()].find((id) => id.startsWith(resume));
  return child !== undefined && store.exists(child)
    ? foldLog(store, child).spec.agent.name
    : undefined;
}

function callFor({ agent, text }: Mention, id: string): ToolCallPart {
  const prompt = `What the user said, naming you (@${agent}):\n\n${text}`;
  const input = { description: describePrompt(text), prompt, subagent_type: agent };
  return { type: 'tool_call', id, name: 'Task', input, by: 'user' };
}
