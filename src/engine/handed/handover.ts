import type { MusterError } from '../../base/errors.ts';
import type { GivenContext, InheritedConversation } from '../../protocol/given.ts';
import type { ChildPlan } from '../plan-child.ts';
import type { SharedPrefix } from '../prefix.ts';
import type { TaskRun } from '../task-run.ts';
import type { Workshop } from '../workshop.ts';
import { chosenContext } from './chosen.ts';
import type { ContextWish } from './context-wish.ts';
import { inherit } from './inherit.ts';
import { lastTurns } from './last-turns.ts';

/** What a child gets beside its prompt, ready to be frozen. */
export interface Handover {
  /** The child as it is to be made with that. */
  readonly plan: ChildPlan;
  readonly given?: GivenContext;
  readonly inherits?: {
    readonly prefix: SharedPrefix;
    readonly conversation: InheritedConversation;
  };
  /** Tasks whose results it gets: it may reach them. */
  readonly handed: readonly string[];
}

/** A Task call that wants its child to have more than the prompt. */
export interface HandoverRequest {
  readonly caller: TaskRun;
  /** The child: its id, and what was decided about it. */
  readonly id: string;
  readonly plan: ChildPlan;
  /** What its system prompt would end with: what is particular to this task. */
  readonly line: string;
  readonly wish: ContextWish;
}

/**
 * Gathers what a call hands to its child, without a model request. What can't be handed is the error
 * returned, which names the argument. Rejects when the caller is stopped meanwhile.
 */
export async function handOver(
  workshop: Workshop,
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
    case 'chosen':
      return await chosenContext(workshop, request, wish);
    default:
      return wish satisfies never;
  }
}
