import type { MusterError } from '../../../base/errors.ts';
import type { EngineContext } from '../engine-context.ts';
import { chosenContext } from './chosen-context.ts';
import type { TransferredContext, TransferRequest } from './transferred-context.ts';
import { forkContext } from './fork-context.ts';
import { quoteLastTurns } from '../../compaction/last-turns.ts';
import { summaryOf } from './summarized-context.ts';

/**
 * Gathers what a call hands to its child, without a model request. What can't be handed is the error
 * returned, which names the argument. Rejects when the caller is stopped meanwhile.
 */
export async function gatherTransferredContext(
  engine: EngineContext,
  request: TransferRequest,
): Promise<TransferredContext | MusterError> {
  const { caller, plan, wish } = request;
  switch (wish.kind) {
    case 'inherit':
      return forkContext(engine, request);
    case 'last': {
      const text = quoteLastTurns(caller.state.conversation.messages, wish.turns);
      return { plan, given: { text, read: [] }, handed: [] };
    }
    case 'summary':
      return await summaryOf(engine, request);
    case 'chosen':
      return await chosenContext(engine, request, wish);
    default:
      return wish satisfies never;
  }
}
