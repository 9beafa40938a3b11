import { MusterError } from '../../../base/errors.ts';
import type { EngineContext } from '../engine-context.ts';
import { chosenContext } from './chosen-context.ts';
import type { TransferredContext, TransferRequest, ChildPlan } from '../plan-child.ts';
import { quoteLastTurns, TRANSFER_SUMMARY_PROMPT } from '../../compaction/compaction-texts.ts';
import {
  estimatePrompt,
  inputToReserve,
  estimateRequestNeed,
  minimumExpense,
} from '../../limits/estimate.ts';
import type { TaskRun } from '../../task/task-run.ts';
import type {
  SummarizedConversation,
  ForkedConversation,
} from '../../../protocol/initial-context.ts';
import {
  userMessage,
  attachmentsOf,
  type Message,
  type ToolMessage,
} from '../../../protocol/message.ts';
import type { AgentDefinition } from '../../../protocol/agent.ts';
import { modelName } from '../../../protocol/model.ts';
import { findUnusableReason, type AgentSetup } from '../../prompt/prepare-agent.ts';
import { buildPromptParts } from '../../prompt/prompt.ts';

/**
 * Gathers the context that a call passes to its child, without a model request. Returns an error that names the
 * argument if something can't be passed on. Rejects if the caller is stopped meanwhile.
 */
export async function gatherTransferredContext(
  engine: EngineContext,
  request: TransferRequest,
): Promise<TransferredContext | MusterError> {
  const { caller, plan, context } = request;
  switch (context.kind) {
    case 'inherit':
      return forkContext(engine, request);
    case 'last': {
      const text = quoteLastTurns(caller.state.conversation.messages, context.turns);
      return { plan, initialContext: { text, read: [] }, resultTasks: [] };
    }
    case 'summary':
      return await summarizeContext(engine, request);
    case 'chosen':
      return await chosenContext(engine, request, context);
    default:
      return context satisfies never;
  }
}

/** Length of a conversation, in UTF-16 units, up to which a summary would hardly be shorter than its text. */
const SHORT_CONVERSATION = 6_000;

/**
 * Gives a child a summary of its parent's conversation. The child requests the summary itself before its first turn,
 * so that the request is limited, reported, stopped and resumed like the rest of its work. A short conversation is
 * passed on as text, without a request.
 */
async function summarizeContext(
  { deps }: EngineContext,
  { caller, plan }: TransferRequest,
): Promise<TransferredContext> {
  const text = quoteLastTurns(caller.state.conversation.messages, Infinity);
  if (text.length <= SHORT_CONVERSATION)
    return { plan, initialContext: { text, read: [] }, resultTasks: [] };
  const conversation = conversationToSummarize(caller);
  const { model, prefix, messages } = conversation;
  const modelDetails = await deps.models.details(model);
  const input = estimatePrompt(prefix, [...messages, userMessage(TRANSFER_SUMMARY_PROMPT)]);
  const least = minimumExpense(estimateRequestNeed(inputToReserve(input, null), modelDetails));
  const summarized = { conversation, minimumExpense: least, modelDetails };
  return { plan, summarized, resultTasks: [] };
}

function conversationToSummarize(caller: TaskRun): SummarizedConversation {
  const { spec, state, prefix } = caller;
  const { effort } = spec.agent;
  const messages = forkedMessages(caller);
  return {
    task: spec.id,
    turn: state.turns,
    agent: cachedAgentName(caller),
    messages,
    ...attachedBlobs(messages),
    prefix,
    model: spec.model,
    ...(effort === undefined ? {} : { effort }),
  };
}

/**
 * Gives a child its parent's conversation to continue. The child's requests begin with the bytes of the parent's, so
 * that the provider's cache serves them, and its own part follows. The parent's tools stay in the requests; the
 * child may call only those in its own plan.
 */
function forkContext(
  { prefixes }: EngineContext,
  { caller, plan, taskLine: line }: TransferRequest,
): TransferredContext | MusterError {
  const modelError = findModelError(caller, plan);
  if (modelError !== null) return modelError;
  const setup = withToolsOf(caller, plan.setup);
  const unusable = findUnusableReason(plan.agent, setup);
  if (unusable !== null) return new MusterError('INVALID_PARAM', `context: ${unusable}`);
  const ready = { ...plan, agent: withEffortOf(caller.spec.agent, plan.agent), setup };
  return {
    plan: ready,
    initialContext: { text: ownPart(caller, ready, line), read: [] },
    forked: { prefix: prefixes.add(caller.prefix), conversation: conversationToFork(caller) },
    resultTasks: [],
  };
}

/** Another model has nothing of the conversation in its cache and can't read the reasoning of this one. */
function findModelError(caller: TaskRun, { model }: ChildPlan): MusterError | null {
  const own = modelName(caller.spec.model);
  const requested = modelName(model);
  if (requested === own) return null;
  const message = `model: means ${requested}, but context: inherit continues your conversation, which runs on ${own}. Leave model or context out.`;
  return new MusterError('INVALID_PARAM', message);
}

/** Keeps the child's tools that are also in the parent's requests, in their order. */
function withToolsOf({ prefix }: TaskRun, { tools, dropped, ...rest }: AgentSetup): AgentSetup {
  const kept = prefix.tools.flatMap(({ name }) => tools.find((tool) => tool.name === name) ?? []);
  const lost = tools
    .filter((tool) => !kept.includes(tool))
    .map(({ name }) => ({
      name,
      reason: 'You do not have it, and context: inherit keeps your tools.',
    }));
  return { ...rest, tools: kept, dropped: [...dropped, ...lost] };
}

/** Gives the agent its parent's effort setting, which is a part of the request that the cache depends on. */
function withEffortOf({ effort }: AgentDefinition, agent: AgentDefinition): AgentDefinition {
  const { effort: _, ...rest } = agent;
  return effort === undefined ? rest : { ...rest, effort };
}

/**
 * Returns the caller's messages up to its newest answer. Each call of that answer gets the same short result, since
 * providers accept no call without one.
 */
function forkedMessages({ state }: TaskRun): readonly Message[] {
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

/** Returns the name of the agent under which the provider's cache has the conversation. */
function cachedAgentName({ spec }: TaskRun): string {
  return spec.inherited?.agent ?? spec.agent.name;
}

function conversationToFork(caller: TaskRun): ForkedConversation {
  const { spec, state } = caller;
  const { compaction } = state.conversation;
  const messages = forkedMessages(caller);
  return {
    task: spec.id,
    seq: state.lastSeq,
    agent: cachedAgentName(caller),
    messages,
    ...attachedBlobs(messages),
    ...(compaction.counted === null ? {} : { counted: compaction.counted }),
    said: compaction.said.map(({ at, from, text }) => ({ at, from, text })),
    known: [...state.knownFiles].flatMap(([path, hash]) => (hash === null ? [] : [{ path, hash }])),
  };
}

/** Returns the blobs of attachments in messages, which the log has to name since the messages may be in a blob. */
function attachedBlobs(messages: readonly Message[]): { readonly blobs?: readonly string[] } {
  const blobs = [...new Set(attachmentsOf(messages).map(({ blob }) => blob))];
  return blobs.length === 0 ? {} : { blobs };
}

/** The result that stands for each open call of the newest answer in a fork, the same in all of them. */
const HANDED_ON =
  '[Its outcome is not part of this conversation, which went on with a subagent here.]';

/** The names of the parts of a system prompt that are the child's own. */
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
  const own = buildPromptParts(setup.prompt).filter(
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
