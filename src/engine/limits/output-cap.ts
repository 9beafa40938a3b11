/**
 * The smallest output cap with which a request is worth its price: a short answer, thinking included. It
 * is also the smallest cap under which Anthropic accepts a thinking budget, which is four fifths of it
 * and must be at least 1,024 tokens. With less than this remaining, the request is refused.
 */
const USEFUL_OUTPUT = 2_048;
/** The output cap that a request gets even where that takes from what later requests need. */
const NORMAL_OUTPUT = 4_096;
/**
 * The share of a budget's free part that one answer may hold back: half of a task's own budget, since its
 * next turn comes after this one, and a quarter of a budget above it, which other tasks use meanwhile.
 */
const OWN_SHARE = 1 / 2;
const SHARED_SHARE = 1 / 4;

/** The rest of one budget limit that a request may use, in the unit of that limit: tokens or US dollars. */
export interface BudgetRoom {
  /** The limit minus what is used; requests under way are not subtracted. */
  readonly remaining: number;
  /** The part of it that requests under way hold. */
  readonly held: number;
  /** The most that the input of this request can cost. */
  readonly input: number;
  /** The cost of one token of output; 0 when output is free. */
  readonly outputToken: number;
  /** The part that should remain after this answer, so that another answer is possible. */
  readonly nextRequest: number;
  /** True when the limit is above the task, so that other tasks share it. */
  readonly isShared: boolean;
}

/** The output cap that a request asks for. */
export interface OutputDemand {
  /** The maximum number of tokens that it may ask for: the model's output limit, or the cap of an earlier try. */
  readonly most: number;
  /**
   * `turn`: later requests and other tasks need a part of the budget. `last`: no request follows, so the
   * whole rest may be used. `repeat`: a try of the same request, with the same cap or not at all.
   */
  readonly kind: 'turn' | 'last' | 'repeat';
}

export type OutputDecision =
  | {
      readonly kind: 'granted';
      readonly tokens: number;
      /** The index of the room that lowered the cap; null when the full demand is granted. */
      readonly loweredBy: number | null;
    }
  /** Requests under way hold what is missing: decide again once the room at this index has changed. */
  | { readonly kind: 'wait'; readonly room: number }
  /** The room at this index cannot hold a useful answer. `least`: the tokens of the smallest one. */
  | { readonly kind: 'refused'; readonly room: number; readonly least: number };

/** The smallest output cap that a request with this demand accepts, in tokens. */
export function minimumOutput({ most, kind }: OutputDemand): number {
  return kind === 'repeat' ? most : Math.min(USEFUL_OUTPUT, most);
}

/**
 * Decides how many tokens of output a request may ask for, so that all budget limits that apply to it hold
 * even if the answer uses them all. The cap never grows when less remains.
 */
export function decideOutput(rooms: readonly BudgetRoom[], demand: OutputDemand): OutputDecision {
  const { most } = demand;
  const least = minimumOutput(demand);
  const normal = Math.min(NORMAL_OUTPUT, most);
  let tokens = most;
  let loweredBy: number | null = null;
  let wait: number | null = null;
  for (const [index, room] of rooms.entries()) {
    const affordable = affordableOutput(room, room.remaining);
    if (affordable < least) return { kind: 'refused', room: index, least };
    const free = affordableOutput(room, room.remaining - room.held);
    if (free < Math.min(normal, affordable) || (demand.kind === 'repeat' && free < most)) {
      wait ??= index;
    }
    const granted = demand.kind === 'turn' ? Math.min(free, Math.max(normal, shareOf(room))) : free;
    if (granted < tokens) {
      tokens = granted;
      loweredBy = index;
    }
  }
  if (wait !== null) return { kind: 'wait', room: wait };
  return { kind: 'granted', tokens, loweredBy };
}

/** The tokens of output that an amount pays for beside the input; below 0 where not even that is paid. */
function affordableOutput({ input, outputToken }: BudgetRoom, amount: number): number {
  const rest = amount - input;
  if (rest < 0) return -1;
  return outputToken === 0 ? Infinity : Math.floor(rest / outputToken);
}

function shareOf(room: BudgetRoom): number {
  const share = room.isShared ? SHARED_SHARE : OWN_SHARE;
  const free = room.remaining - room.held - room.input - room.nextRequest;
  return room.outputToken === 0 ? Infinity : Math.floor((free * share) / room.outputToken);
}
