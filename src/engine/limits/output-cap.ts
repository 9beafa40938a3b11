/**
 * The minimum output cap with which a request is worth its price: enough for a short answer with thinking. Anthropic
 * also accepts no thinking budget with a much lower cap: the budget is four fifths of the cap and must be at least
 * 1,024 tokens. If a limit allows less than this, the request is refused.
 */
const MIN_USEFUL_OUTPUT = 2_048;
/** The output cap that a request gets even if that uses up what later requests need. */
const NORMAL_OUTPUT = 4_096;
/**
 * The maximum share of the free part of a budget that one answer may reserve. A task may reserve half of its own
 * budget, since it makes one request at a time, and a quarter of a budget above it, which other tasks use at the same
 * time.
 */
const OWN_SHARE = 1 / 2;
const SHARED_SHARE = 1 / 4;

/** The part of one budget limit that a request may use, in the unit of that limit: tokens or US dollars. */
export interface BudgetRoom {
  /** The limit minus what is used. The reservations of running requests are not subtracted. */
  readonly remaining: number;
  /** The part of `remaining` that running requests have reserved. */
  readonly held: number;
  /** The maximum cost of the input of this request. */
  readonly inputCost: number;
  /** The cost of one token of output; 0 if output is free. */
  readonly outputTokenCost: number;
  /** The amount that should remain after this answer, so that another answer is possible. */
  readonly nextRequest: number;
  /** True if the limit belongs to a task above or to the tree, so that other tasks share it. */
  readonly isShared: boolean;
}

/** The output cap that a request asks for. */
export interface OutputDemand {
  /** The maximum number of tokens: the model's output limit, or the cap of an earlier try of the same request. */
  readonly maxTokens: number;
  /**
   * `turn`: later requests and other tasks need a part of the budget. `last`: no request follows, so all that remains
   * may be used. `repeat`: another try of a request, which gets the same cap or is not sent.
   */
  readonly kind: 'turn' | 'last' | 'repeat';
}

/** The decision about the output cap of a request. */
export type OutputDecision =
  | {
      readonly kind: 'granted';
      readonly tokens: number;
      /** The index of the room that lowered the cap; null if the full demand is granted. */
      readonly loweredBy: number | null;
    }
  /** Running requests have reserved the missing amount. Decide again when the room at this index has changed. */
  | { readonly kind: 'wait'; readonly room: number }
  /** The room at this index can't pay for a useful answer, which has at least this number of tokens. */
  | { readonly kind: 'refused'; readonly room: number; readonly minTokens: number };

/** Returns the minimum output cap, in tokens, with which a request with this demand is sent. */
export function minimumOutput({ maxTokens, kind }: OutputDemand): number {
  return kind === 'repeat' ? maxTokens : Math.min(MIN_USEFUL_OUTPUT, maxTokens);
}

/**
 * Decides how many tokens of output a request may ask for, so that all budget limits hold even if the answer has that
 * many tokens. With less room, the cap is never higher.
 */
export function decideOutput(rooms: readonly BudgetRoom[], demand: OutputDemand): OutputDecision {
  const { maxTokens } = demand;
  const minTokens = minimumOutput(demand);
  const normal = Math.min(NORMAL_OUTPUT, maxTokens);
  let tokens = maxTokens;
  let loweredBy: number | null = null;
  let wait: number | null = null;
  for (const [index, room] of rooms.entries()) {
    const affordable = affordableOutput(room, room.remaining);
    if (affordable < minTokens) return { kind: 'refused', room: index, minTokens };
    const free = affordableOutput(room, room.remaining - room.held);
    if (free < Math.min(normal, affordable) || (demand.kind === 'repeat' && free < maxTokens)) {
      wait ??= index;
    }
    const granted =
      demand.kind === 'turn' ? Math.min(free, Math.max(normal, getShare(room))) : free;
    if (granted < tokens) {
      tokens = granted;
      loweredBy = index;
    }
  }
  if (wait !== null) return { kind: 'wait', room: wait };
  return { kind: 'granted', tokens, loweredBy };
}

/** Returns the tokens of output that an amount pays for after the input; -1 if it does not pay for the input. */
function affordableOutput({ inputCost, outputTokenCost }: BudgetRoom, amount: number): number {
  const rest = amount - inputCost;
  if (rest < 0) return -1;
  return outputTokenCost === 0 ? Infinity : Math.floor(rest / outputTokenCost);
}

/** Returns the tokens of output that the share of this request in the room pays for. */
function getShare(room: BudgetRoom): number {
  const share = room.isShared ? SHARED_SHARE : OWN_SHARE;
  const free = room.remaining - room.held - room.inputCost - room.nextRequest;
  return room.outputTokenCost === 0 ? Infinity : Math.floor((free * share) / room.outputTokenCost);
}
