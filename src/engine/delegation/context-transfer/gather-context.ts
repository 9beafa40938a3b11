import { isMcpTool } from '../../prompt/listed-tools.ts';
import { isResourceTool, RESOURCE_TOOL } from '../../../protocol/tool-names.ts';
import { MusterError } from '../../../base/errors.ts';
import type { EngineContext } from '../engine-context.ts';
import { gatherChosenContext } from './chosen-context.ts';
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
 * argument if something can't be passed on. Rejects when the caller is stopped.
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
      return await gatherChosenContext(engine, request, context);
    default:
      return context satisfies never;
  }
}

/** The length of a conversation, in UTF-16 units, up to which a summary would hardly be shorter than the text. */
const SHORT_CONVERSATION_LENGTH = 6_000;

/**
 * Gives a child a summary of its parent's conversation. The child itself requests the summary before its first turn, so
 * that the request is limited, reported, stopped and resumed like the rest of the child's work. A short conversation is
 * passed on as text instead.
 */
async function summarizeContext(
  { deps }: EngineContext,
  { caller, plan }: TransferRequest,
): Promise<TransferredContext> {
  const text = quoteLastTurns(caller.state.conversation.messages, Infinity);
  if (text.length <= SHORT_CONVERSATION_LENGTH)
    return { plan, initialContext: { text, read: [] }, resultTasks: [] };
  const conversation = toSummarizedConversation(caller);
  const { model, prefix, messages } = conversation;
  const modelDetails = await deps.models.details(model);
  const input = estimatePrompt(prefix, [...messages, userMessage(TRANSFER_SUMMARY_PROMPT)]);
  const minExpense = minimumExpense(estimateRequestNeed(inputToReserve(input, null), modelDetails));
  const summarized = { conversation, minimumExpense: minExpense, modelDetails };
  return { plan, summarized, resultTasks: [] };
}

/** Returns the caller's conversation in the form in which the child requests its summary. */
function toSummarizedConversation(caller: TaskRun): SummarizedConversation {
  const { spec, state, prefix } = caller;
  const { effort } = spec.agent;
  const messages = listForkedMessages(caller);
  return {
    task: spec.id,
    turn: state.turns,
    agent: getCachedAgentName(caller),
    messages,
    ...toBlobsField(messages),
    prefix,
    model: spec.model,
    ...(effort === undefined ? {} : { effort }),
  };
}

/**
 * Lets a child continue its parent's conversation. The child's requests begin with the same bytes as the parent's
 * requests, so that the provider's cache serves them, and the child's own part follows. The requests contain all tools
 * of the parent, but the child may call only those in its own plan.
 */
function forkContext(
  { prefixes }: EngineContext,
  { caller, plan, taskLine: line }: TransferRequest,
): TransferredContext | MusterError {
  const modelError = findModelError(caller, plan);
  if (modelError !== null) return modelError;
  const setup = keepTools(caller, plan.setup);
  const unusable = findUnusableReason(plan.agent, setup);
  if (unusable !== null) return new MusterError('INVALID_PARAM', `context: ${unusable}`);
  const forkedPlan = { ...plan, agent: useEffortOfCaller(caller.spec.agent, plan.agent), setup };
  return {
    plan: forkedPlan,
    initialContext: { text: buildOwnPart(caller, forkedPlan, line), read: [] },
    forked: { prefix: prefixes.add(caller.prefix), conversation: toForkedConversation(caller) },
    resultTasks: [],
  };
}

/**
 * Returns an error if the child has another model, which has no cached conversation and can't read the reasoning in it.
 */
function findModelError(caller: TaskRun, { model }: ChildPlan): MusterError | null {
  const own = modelName(caller.spec.model);
  const requested = modelName(model);
  if (requested === own) return null;
  const message = `model: means ${requested}, but context: inherit continues your conversation, which runs on ${own}. Leave model or context out.`;
  return new MusterError('INVALID_PARAM', message);
}

/**
 * Keeps those tools of the child that the parent's requests list, in the order of these requests, and those tools of
 * servers that can be found and called by means of these requests.
 */
function keepTools({ prefix, view }: TaskRun, { tools, dropped, ...rest }: AgentSetup): AgentSetup {
  const listed = prefix.tools.flatMap(({ name }) => tools.find((tool) => tool.name === name) ?? []);
  const canCall = (name: string): boolean => {
    const caller = isResourceTool(name) ? RESOURCE_TOOL : 'McpCall';
    return isMcpTool(name) && listed.some((tool) => tool.name === caller);
  };
  const others = tools.filter(
    (tool) => !listed.includes(tool) && canCall(tool.name) && view.has(tool.name),
  );
  const kept = [...listed, ...others];
  const lost = tools
    .filter((tool) => !kept.includes(tool))
    .map(({ name }) => ({
      name,
      reason: 'You do not have it, and context: inherit keeps your tools.',
    }));
  return { ...rest, tools: kept, dropped: [...dropped, ...lost] };
}

/** Gives the agent the effort setting of its parent, since cached requests are only reused with the same setting. */
function useEffortOfCaller({ effort }: AgentDefinition, agent: AgentDefinition): AgentDefinition {
  const { effort: _, ...rest } = agent;
  return effort === undefined ? rest : { ...rest, effort };
}

/**
 * Lists the caller's messages up to its newest answer. Each call of that answer gets the same short result, since
 * providers accept no call without a result.
 */
function listForkedMessages({ state }: TaskRun): readonly Message[] {
  const { messages, openCalls } = state.conversation;
  const answered: ToolMessage = {
    role: 'tool',
    content: openCalls.map(({ id, name }) => ({
      type: 'tool_result',
      callId: id,
      name,
      text: OPEN_CALL_RESULT,
      isError: false,
    })),
  };
  return openCalls.length === 0 ? [...messages] : [...messages, answered];
}

/** Returns the name of the agent under which the provider's cache has the conversation. */
function getCachedAgentName({ spec }: TaskRun): string {
  return spec.inherited?.agent ?? spec.agent.name;
}

/** Returns the caller's conversation in the form in which the child continues it. */
function toForkedConversation(caller: TaskRun): ForkedConversation {
  const { spec, state } = caller;
  const { compaction } = state.conversation;
  const messages = listForkedMessages(caller);
  return {
    task: spec.id,
    seq: state.lastSeq,
    agent: getCachedAgentName(caller),
    messages,
    ...toBlobsField(messages),
    ...(compaction.counted === null ? {} : { counted: compaction.counted }),
    said: compaction.said.map(({ at, from, text }) => ({ at, from, text })),
    known: [...state.knownFiles].flatMap(([path, hash]) => (hash === null ? [] : [{ path, hash }])),
    ...(state.foundTools.size === 0 ? {} : { foundTools: [...state.foundTools.values()] }),
  };
}

/**
 * Returns the blobs of the attachments in messages. The log has to name these blobs, since the messages themselves may
 * be stored in a blob.
 */
function toBlobsField(messages: readonly Message[]): { readonly blobs?: readonly string[] } {
  const blobs = [...new Set(attachmentsOf(messages).map(({ blob }) => blob))];
  return blobs.length === 0 ? {} : { blobs };
}

/** The result that each open call of the newest answer gets in a fork. It is the same in all forks. */
const OPEN_CALL_RESULT =
  '[Its outcome is not part of this conversation, which went on with a subagent here.]';

/** The names of the parts of a system prompt that differ between the child and its parent. */
const OWN_PART_NAMES: ReadonlySet<string> = new Set([
  'identity',
  'mode',
  'not available',
  'its prompt',
  'preloaded skill',
  'memory',
]);

/** Builds the text that tells the child which agent it is now, and which tools it has. */
function buildOwnPart(caller: TaskRun, { setup }: ChildPlan, line: string): string {
  const { system } = caller.prefix;
  const own = buildPromptParts(setup.prompt).filter(
    ({ name, text }) => OWN_PART_NAMES.has(name) && !system.some((part) => part.includes(text)),
  );
  const names = setup.tools.map(({ name }) => name).join(', ');
  return [
    '<notice>Up to here this conversation was that of the agent which gives you the task below. It goes on with you, and this holds from here on:',
    ...own.map(({ text }) => text),
    `Your tools: ${names === '' ? 'none' : names}. Calls of other tools are refused.`,
    `${line}\n</notice>`,
  ].join('\n\n');
}
