import type { MusterError } from '../../../base/errors.ts';
import type { EngineContext } from '../engine-context.ts';
import { chosenContext } from './chosen-context.ts';
import type { Handover, HandoverRequest } from './transferred-context.ts';
import { inherit } from './fork-context.ts';
import { lastTurns } from '../../compaction/last-turns.ts';
import { summaryOf } from './summarized-context.ts';

/**
 * Gathers what a call hands to its child, without a model request. What can't be handed is the error
 * returned, which names the argument. Rejects when the caller is stopped meanwhile.
 */
export async function gatherHandover(
  workshop: EngineContext,
  request: HandoverRequest,
): Promise<Handover | MusterError> {
  const { caller, plan, wish } = request;
  switch (wish.kind) {
    case 'inherit':
      return inherit(workshop, request);
    case 'last': {
      const text = lastTurns(caller.state.conversation.messages, wish.turns);
      return { plan, given: { text, read: [] }, handed: [] };
    }
    case 'summary':
      return await summaryOf(workshop, request);
    case 'chosen':
      return await chosenContext(workshop, request, wish);
    default:
      return wish satisfies never;
  }
}
