import { userMessage } from '../../../protocol/message.ts';
import type { SummarizedConversation } from '../../../protocol/initial-context.ts';
import {
  estimatePrompt,
  inputToReserve,
  minimumExpense,
  estimateRequestNeed,
} from '../../limits/estimate.ts';
import type { TaskRun } from '../../task/task-run.ts';
import type { EngineContext } from '../engine-context.ts';
import type { TransferredContext, TransferRequest } from './transferred-context.ts';
import { blobsOf, cachedAs, forkedMessages } from './fork-context.ts';
import { quoteLastTurns } from '../../compaction/last-turns.ts';
import { TRANSFER_SUMMARY_PROMPT } from '../../compaction/compaction-texts.ts';

/** UTF-16 units of a conversation as text: of a shorter one a summary would hardly be shorter. */
const FEW_WORDS = 6_000;

/**
 * A child that gets a summary of its parent's conversation, which it asks for itself before its first turn:
 * so what that costs is bounded, told, stopped and resumed as all that the child does. Of a short
 * conversation it gets the words, and nobody is asked.
 */
export async function summaryOf(
  { deps }: EngineContext,
  { caller, plan }: TransferRequest,
): Promise<TransferredContext> {
  const words = quoteLastTurns(caller.state.conversation.messages, Infinity);
  if (words.length <= FEW_WORDS) return { plan, given: { text: words, read: [] }, handed: [] };
  const conversation = conversationOf(caller);
  const { model, prefix, messages } = conversation;
  const facts = await deps.models.details(model);
  const input = estimatePrompt(prefix, [...messages, userMessage(TRANSFER_SUMMARY_PROMPT)]);
  const least = minimumExpense(estimateRequestNeed(inputToReserve(input, null), facts));
  return { plan, summarises: { conversation, least, facts }, handed: [] };
}

function conversationOf(caller: TaskRun): SummarizedConversation {
  const { spec, state, prefix } = caller;
  const { effort } = spec.agent;
  const messages = forkedMessages(caller);
  return {
    task: spec.id,
    turn: state.turns,
    agent: cachedAs(caller),
    messages,
    ...blobsOf(messages),
    prefix,
    model: spec.model,
    ...(effort === undefined ? {} : { effort }),
  };
}
