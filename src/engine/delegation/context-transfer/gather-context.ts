import type { MusterError } from '../../../base/errors.ts';
import type { EngineContext } from '../engine-context.ts';
import { chosenContext } from './chosen-context.ts';
import type { TransferredContext, TransferRequest } from './transferred-context.ts';
import { quoteLastTurns } from '../../compaction/last-turns.ts';
import { forkContext, attachedBlobs, cachedAgentName, forkedMessages } from './fork-context.ts';
import {
  estimatePrompt,
  inputToReserve,
  estimateRequestNeed,
  minimumExpense,
} from '../../limits/estimate.ts';
import type { TaskRun } from '../../task/task-run.ts';
import type { SummarizedConversation } from '../../../protocol/initial-context.ts';
import { userMessage } from '../../../protocol/message.ts';
import { TRANSFER_SUMMARY_PROMPT } from '../../compaction/compaction-texts.ts';

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
  const conversation = conversationOf(caller);
  const { model, prefix, messages } = conversation;
  const modelDetails = await deps.models.details(model);
  const input = estimatePrompt(prefix, [...messages, userMessage(TRANSFER_SUMMARY_PROMPT)]);
  const least = minimumExpense(estimateRequestNeed(inputToReserve(input, null), modelDetails));
  return {
    plan,
    summarized: { conversation, minimumExpense: least, modelDetails },
    resultTasks: [],
  };
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
