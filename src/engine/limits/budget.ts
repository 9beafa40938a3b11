import { rejectOnAbort, deferred, type Deferred } from '../../base/async.ts';
import type { OutputCap } from '../../protocol/output-cap.ts';
import { decideOutput, minimumOutput, type BudgetRoom, type OutputDemand } from './output-cap.ts';
import { NO_WORK, NO_AMOUNT, type Amount, type Work } from '../../protocol/model.ts';
import type { LimitHit, Activation } from '../../protocol/state/activation.ts';

/** The resources that budgets count, used by a task or needed for a request. */
export type Expense = Amount & Work;

export const NO_EXPENSE: Expense = { ...NO_AMOUNT, ...NO_WORK };

/** Returns the expense of an activation so far. */
export function activationExpense({ spent, work }: Pick<Activation, 'spent' | 'work'>): Expense {
  return { ...spent, ...work };
}

/** The resources that a budget can cap. */
const MEASURES = ['tokens', 'costUsd', 'turns', 'toolBytes'] as const;
type Measure = (typeof MEASURES)[number];

/** A limit of a budget. */
export interface Cap {
  /** The name of the limit, as users set it. */
  readonly limit: string;
  readonly value: number;
}

/** The caps of one budget. A resource without an entry is not capped. */
export type BudgetCaps = Readonly<Partial<Record<Measure, Cap>>>;

/** The reservation of an expense for a request that is being sent. */
export interface Reservation {
  /** Releases the reservation and books the actual expense. Further calls do nothing. */
  settle(used: Expense): void;
}

/** The resources that a request needs, as they are known before it is sent. */
export interface RequestNeed {
  /** The maximum expense without the answer. */
  readonly input: Expense;
  /** The cost of one token of output. */
  readonly outputToken: Amount;
  /** The amount that should remain for a later request, so that the task can still give an answer. */
  readonly nextRequest: Amount;
  readonly output: OutputDemand;
}

/** The result of reserving the expense of a request. */
export type RequestReservation =
  | {
      readonly ok: true;
      readonly reservation: Reservation;
      /** The output cap, with the limit that lowered it; null if the request may use the full demand. */
      readonly outputCap: OutputCap | null;
    }
  | { readonly ok: false; readonly hit: LimitHit };

/** Returns the expense of a request whose answer has this number of tokens. */
export function requestExpense({ input, outputToken }: RequestNeed, tokens: number): Expense {
  return addExpenses(input, {
    ...NO_EXPENSE,
    tokens: outputToken.tokens * tokens,
    costUsd: outputToken.costUsd * tokens,
  });
}

/**
 * The budget of a task or a tree. Everything that is reserved or used here also counts in each budget above, so that
 * parallel children can't overspend together. Callers reserve before each request and settle in any case.
 */
export class Budget {
  private used = NO_EXPENSE;
  private reserved = NO_EXPENSE;
  /** The number of reservations that are not settled. */
  private openReservations = 0;
  private readonly caps: BudgetCaps;
  /** This budget, then each budget above it, from the nearest to the highest. */
  private readonly chain: readonly Budget[];
  /** The waits of requests for a change, resolved when an expense is booked here. */
  private waiting: Deferred<void>[] = [];

  constructor(caps: BudgetCaps, parent: Budget | null) {
    this.caps = caps;
    this.chain = [this, ...(parent?.chain ?? [])];
  }

  /** True if this budget or a budget above it has a cap. */
  get isBounded(): boolean {
    return this.chain.some(({ caps }) => MEASURES.some((measure) => caps[measure] !== undefined));
  }

  /** The nearest cap on cost, here or above, with the amount that is used; null if there is none. */
  get costCap(): LimitHit | null {
    for (const { caps, used } of this.chain) {
      if (caps.costUsd !== undefined) return { ...caps.costUsd, used: used.costUsd };
    }
    return null;
  }

  /** The caps of this budget alone, each with the amount that is used. */
  get capUses(): readonly LimitHit[] {
    return MEASURES.flatMap((measure) => {
      const cap = this.caps[measure];
      return cap === undefined ? [] : [{ ...cap, used: this.used[measure] }];
    });
  }

  /**
   * Reserves an expense. If a cap would be exceeded only because of other reservations, waits until they are settled,
   * since most requests cost much less than they reserve. Calls `onWait` before each wait. Fails with the cap that
   * would be exceeded even without reservations. Rejects when the signal aborts during a wait.
   */
  async reserve(
    expense: Expense,
    signal: AbortSignal,
    onWait: () => void = () => {},
  ): Promise<RequestReservation> {
    for (;;) {
      const hit = this.findExceededCap(expense);
      if (hit !== null) return { ok: false, hit };
      const { chain } = this;
      const full = chain.find((budget) => budget.findOwnHit(expense, budget.reserved) !== null);
      if (full === undefined) {
        return { ok: true, reservation: Budget.hold(chain, expense), outputCap: null };
      }
      onWait();
      await full.waitForChange(signal);
    }
  }

  /**
   * Reserves the maximum expense of a request, with as many tokens of output as the limits here and above allow. If
   * only the reservations of running requests prevent that, waits until they are settled, and calls `onWait` before
   * each wait. Fails with the limit that allows no useful answer. Rejects when the signal aborts during a wait.
   */
  async reserveRequest(
    need: RequestNeed,
    signal: AbortSignal,
    onWait: () => void = () => {},
  ): Promise<RequestReservation> {
    const { chain } = this;
    for (;;) {
      const hit = this.findExceededCap(requestExpense(need, minimumOutput(need.output)));
      if (hit !== null) return { ok: false, hit };
      const rooms = this.roomsFor(need);
      const decision = decideOutput(
        rooms.map(({ room }) => room),
        need.output,
      );
      // `findExceededCap` found that each limit allows a useful answer, so only reservations are in the way.
      const full =
        decision.kind === 'granted'
          ? chain.find((budget) => budget.findOwnHit(need.input, budget.reserved) !== null)
          : rooms[decision.room]?.budget;
      if (decision.kind === 'granted' && full === undefined) {
        const reservation = Budget.hold(chain, requestExpense(need, decision.tokens));
        const by = decision.loweredBy === null ? undefined : rooms[decision.loweredBy];
        const outputCap = by === undefined ? null : { tokens: decision.tokens, ...by.capUse };
        return { ok: true, reservation, outputCap };
      }
      onWait();
      await (full ?? this).waitForChange(signal);
    }
  }

  /** Returns the room that each limit on tokens and cost, here and above, leaves for a request. */
  private roomsFor({ input, outputToken, nextRequest }: RequestNeed): readonly {
    readonly budget: Budget;
    readonly capUse: LimitHit;
    readonly room: BudgetRoom;
  }[] {
    return this.chain.flatMap((budget) =>
      (['tokens', 'costUsd'] as const).flatMap((measure) => {
        const cap = budget.caps[measure];
        if (cap === undefined || input[measure] + outputToken[measure] === 0) return [];
        const used = budget.used[measure];
        const room = {
          remaining: cap.value - used,
          held: budget.reserved[measure],
          inputCost: input[measure],
          outputTokenCost: outputToken[measure],
          nextRequest: nextRequest[measure],
          isShared: budget !== this,
        };
        return [{ budget, capUse: { ...cap, used }, room }];
      }),
    );
  }

  /**
   * Returns the cap, here or above, that an expense would exceed in addition to the used amount; null if none would.
   */
  findExceededCap(expense: Expense): LimitHit | null {
    return findFirstHit(this.chain, (budget) => budget.findOwnHit(expense, NO_EXPENSE));
  }

  /**
   * Books up to `wanted` bytes of tool results. Returns the number of granted bytes, and the cap that was hit if fewer
   * than `wanted` are granted.
   */
  useToolBytes(wanted: number): { readonly granted: number; readonly hit: LimitHit | null } {
    const { chain } = this;
    let granted = wanted;
    let hit: LimitHit | null = null;
    for (const { caps, used } of chain) {
      const { toolBytes: cap } = caps;
      if (cap === undefined || used.toolBytes + granted <= cap.value) continue;
      granted = Math.max(0, cap.value - used.toolBytes);
      hit = { ...cap, used: cap.value };
    }
    for (const budget of chain) budget.bookOwn({ ...NO_EXPENSE, toolBytes: granted });
    return { granted, hit };
  }

  /** The cap on tool results, here or above, that is used up; null if none is. */
  get usedUpToolBytesCap(): LimitHit | null {
    return findFirstHit(this.chain, ({ caps: { toolBytes: cap }, used }) =>
      cap === undefined || used.toolBytes < cap.value ? null : { ...cap, used: used.toolBytes },
    );
  }

  /** Books an expense from the log, which an earlier process made. */
  addEarlierUse(used: Expense): void {
    for (const budget of this.chain) budget.bookOwn(used);
  }

  /** Returns the cap of this budget that an expense would exceed in addition to the used and the reserved amount. */
  private findOwnHit(expense: Expense, reserved: Expense): LimitHit | null {
    for (const measure of MEASURES) {
      const cap = this.caps[measure];
      const needed = expense[measure];
      if (cap === undefined || needed === 0) continue;
      const used = this.used[measure];
      if (used + reserved[measure] + needed <= cap.value) continue;
      // Each request needs exactly one turn, so messages need not mention the needed number.
      return measure === 'turns' ? { ...cap, used } : { ...cap, used, needed };
    }
    return null;
  }

  private async waitForChange(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const turn = deferred<void>();
    this.waiting.push(turn);
    await rejectOnAbort(turn.promise, signal);
  }

  private hold(expense: Expense): void {
    this.openReservations += 1;
    this.reserved = addExpenses(this.reserved, expense);
  }

  private releaseOwn(expense: Expense): void {
    this.openReservations -= 1;
    // Otherwise rounding errors of fractions of a dollar would stay reserved forever.
    this.reserved =
      this.openReservations === 0 ? NO_EXPENSE : addExpenses(this.reserved, expense, -1);
  }

  private bookOwn(expense: Expense): void {
    this.used = addExpenses(this.used, expense);
    const { waiting } = this;
    this.waiting = [];
    for (const turn of waiting) turn.resolve();
  }

  /** Reserves an expense in each budget of the chain. */
  private static hold(chain: readonly Budget[], expense: Expense): Reservation {
    for (const budget of chain) budget.hold(expense);
    let isOpen = true;
    return {
      settle(used) {
        if (!isOpen) return;
        isOpen = false;
        for (const budget of chain) budget.releaseOwn(expense);
        for (const budget of chain) budget.bookOwn(used);
      },
    };
  }
}

/** Adds `times` times the second expense to the first one. */
export function addExpenses(a: Expense, b: Expense, times = 1): Expense {
  return {
    tokens: a.tokens + b.tokens * times,
    costUsd: a.costUsd + b.costUsd * times,
    turns: a.turns + b.turns * times,
    toolBytes: a.toolBytes + b.toolBytes * times,
  };
}

function findFirstHit(
  chain: readonly Budget[],
  findHit: (budget: Budget) => LimitHit | null,
): LimitHit | null {
  for (const budget of chain) {
    const hit = findHit(budget);
    if (hit !== null) return hit;
  }
  return null;
}
