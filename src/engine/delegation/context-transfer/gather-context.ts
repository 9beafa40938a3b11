import type { MusterError } from '../../../base/errors.ts';
import { lastTurns } from '../../compaction/last-turns.ts';
import { TRANSFER_SUMMARY_PROMPT } from '../../compaction/summary-texts.ts';
import { chosenContext } from './chosen-context.ts';
import { forkContext, attachedBlobs, cachedAgentName, forkedMessages } from './fork-context.ts';
import type { TransferredContext, TransferRequest } from './transferred-context.ts';
import type { EngineContext } from '../engine-context.ts';
import {
  estimatePrompt,
  inputToReserve,
  leastExpense,
  requestNeed,
} from '../../limits/estimate.ts';
import type { TaskRun } from '../../task/task-run.ts';
import type { SummarizedConversation } from '../../../protocol/initial-context.ts';
import { userMessage } from '../../../protocol/message.ts';

/**
 * Gathers what a call hands to its child, without a model request. What can't be handed is the error
 * returned, which names the argument. Rejects when the caller is stopped meanwhile.
 */
export async function gatherTransferredContext(
  engine: EngineContext,
  request: TransferRequest,
): Promise<TransferredContext | MusterError> {
  const { caller, plan, context: wish } = request;
  switch (wish.kind) {
    case 'inherit':
      return forkContext(engine, request);
    case 'last': {
      const text = lastTurns(caller.state.conversation.messages, wish.turns);
      return { plan, initialContext: { text, read: [] }, resultTasks: [] };
    }
    case 'summary':
      return await summarizeContext(engine, request);
    case 'chosen':
      return await chosenContext(engine, request, wish);
    default:
      return wish satisfies never;
  }
}

/** UTF-16 units of a conversation as text: of a shorter one a summary would hardly be shorter. */
const FEW_WORDS = 6_000;

/**
 * A child that gets a summary of its parent's conversation, which it asks for itself before its first turn:
 * so what that costs is bounded, told, stopped and resumed as all that the child does. Of a short
 * conversation it gets the words, and nobody is asked.
 */
async function summarizeContext(
  { deps }: EngineContext,
  { caller, plan }: TransferRequest,
): Promise<TransferredContext> {
  const words = lastTurns(caller.state.conversation.messages, Infinity);
  if (words.length <= FEW_WORDS)
    return { plan, initialContext: { text: words, read: [] }, resultTasks: [] };
  const conversation = conversationOf(caller);
  const { model, prefix, messages } = conversation;
  const facts = await deps.models.facts(model);
  const input = estimatePrompt(prefix, [...messages, userMessage(TRANSFER_SUMMARY_PROMPT)]);
  const least = leastExpense(requestNeed(inputToReserve(input, null), facts));
  return { plan, summarized: { conversation, least, facts }, resultTasks: [] };
}

function conversationOf(caller: TaskRun): SummarizedConversation {
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
