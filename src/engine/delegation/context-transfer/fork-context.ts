import { MusterError } from '../../../base/errors.ts';
import type { AgentDefinition } from '../../../protocol/agent.ts';
import type { ForkedConversation } from '../../../protocol/initial-context.ts';
import { attachmentsOf, type Message, type ToolMessage } from '../../../protocol/message.ts';
import { modelName } from '../../../protocol/model.ts';
import { whyUnusable, type AgentSetup } from '../../prompt/prepare-agent.ts';
import type { ChildPlan } from '../plan-child.ts';
import { promptParts } from '../../prompt/prompt.ts';
import type { TaskRun } from '../../task/task-run.ts';
import type { EngineContext } from '../engine-context.ts';
import type { TransferredContext, TransferRequest } from './transferred-context.ts';

/**
 * A child that goes on with its parent's conversation: its requests begin with the bytes of the parent's,
 * so that the provider's cache serves them, and what is the child's own comes after. The parent's tools
 * stay in its requests; which of them it may call its own plan says.
 */
export function forkContext(
  { prefixes }: EngineContext,
  { caller, plan, line }: TransferRequest,
): TransferredContext | MusterError {
  const other = otherModel(caller, plan);
  if (other !== null) return other;
  const setup = withToolsOf(caller, plan.setup);
  const unusable = whyUnusable(plan.agent, setup);
  if (unusable !== null) return new MusterError('INVALID_PARAM', `context: ${unusable}`);
  const ready = { ...plan, agent: asExerted(plan.agent, caller.spec.agent), setup };
  return {
    plan: ready,
    given: { text: ownPart(caller, ready, line), read: [] },
    inherits: { prefix: prefixes.keep(caller.prefix), conversation: conversationOf(caller) },
    handed: [],
  };
}

/** Another model's cache holds nothing of the conversation, and its thoughts are not that one's to read. */
function otherModel(caller: TaskRun, { model }: ChildPlan): MusterError | null {
  const own = modelName(caller.spec.model);
  const its = modelName(model);
  if (its === own) return null;
  return new MusterError(
    'INVALID_PARAM',
    `model: means ${its}; context: inherit goes on with your conversation, which is of ${own}. Leave model or context out.`,
  );
}

/** Of the child's tools those that stand in its requests, in their order. */
function withToolsOf({ prefix }: TaskRun, { tools, dropped, ...rest }: AgentSetup): AgentSetup {
  const kept = prefix.tools.flatMap(({ name }) => tools.find((tool) => tool.name === name) ?? []);
  const lost = tools
    .filter((tool) => !kept.includes(tool))
    .map(({ name }) => ({
      name,
      reason: 'You have it not, and context inherit keeps your tools.',
    }));
  return { ...rest, tools: kept, dropped: [...dropped, ...lost] };
}

/** How hard a model is to think is a part of the request that its cache goes by. */
function asExerted(agent: AgentDefinition, { effort }: AgentDefinition): AgentDefinition {
  const { effort: _, ...rest } = agent;
  return effort === undefined ? rest : { ...rest, effort };
}

/** To its newest answer, each call of that with the same short result: a provider takes none without one. */
export function forkedMessages({ state }: TaskRun): readonly Message[] {
  const { messages, openCalls } = state.conversation;
  const answered: ToolMessage = {
    role: 'tool',
    content: openCalls.map(({ id, name }) => ({
      type: 'tool_result',
      callId: id,
      name,
      text: HANDED_ON,
      isError: false,
    })),
  };
  return openCalls.length === 0 ? [...messages] : [...messages, answered];
}

/** The agent type that the provider's cache knows its conversation by. */
export function cachedAs({ spec }: TaskRun): string {
  return spec.inherited?.agent ?? spec.agent.name;
}

function conversationOf(caller: TaskRun): ForkedConversation {
  const { spec, state } = caller;
  const { compaction } = state.conversation;
  const messages = forkedMessages(caller);
  return {
    task: spec.id,
    seq: state.lastSeq,
    agent: cachedAs(caller),
    messages,
    ...blobsOf(messages),
    ...(compaction.counted === null ? {} : { counted: compaction.counted }),
    said: compaction.said.map(({ at, from, text }) => ({ at, from, text })),
    known: [...state.knownFiles].flatMap(([path, hash]) => (hash === null ? [] : [{ path, hash }])),
  };
}

/** What messages show is kept for the log that names it: they may be in a blob themselves. */
export function blobsOf(messages: readonly Message[]): { readonly blobs?: readonly string[] } {
  const blobs = [...new Set(attachmentsOf(messages).map(({ blob }) => blob))];
  return blobs.length === 0 ? {} : { blobs };
}

/** The outcome of each call of the newest answer, as its subagents see it: the same for all of them. */
const HANDED_ON =
  '[Its outcome is not part of this conversation, which went on with a subagent here.]';

/** Of a system prompt, what is the child's own and is not said of the conversation already. */
const OWN_PARTS: ReadonlySet<string> = new Set([
  'identity',
  'mode',
  'not available',
  'its prompt',
  'preloaded skill',
  'memory',
]);

function ownPart(caller: TaskRun, { setup }: ChildPlan, line: string): string {
  const { system } = caller.prefix;
  const own = promptParts(setup.prompt).filter(
    ({ name, text }) => OWN_PARTS.has(name) && !system.some((part) => part.includes(text)),
  );
  const names = setup.tools.map(({ name }) => name).join(', ');
  return [
    '<notice>Up to here this conversation was that of the agent which gives you the task below. It goes on with you, and this holds from here on:',
    ...own.map(({ text }) => text),
    `Your tools: ${names === '' ? 'none' : names}. Calls of other tools are refused.`,
    `${line}\n</notice>`,
  ].join('\n\n');
}
