import { deferred, onAbort, type Deferred } from '../base/async.ts';
import { addAmounts, NOTHING, type Amount } from '../protocol/model.ts';
import type { LimitHit } from '../protocol/stint.ts';

/** Caps of one budget by the names that a user sets them by; null: none. */
export interface BudgetCaps {
  readonly tokens: { readonly limit: string; readonly value: number } | null;
  readonly costUsd: { readonly limit: string; readonly value: number } | null;
}

/** An amount held back for a request under way. */
export interface Reservation {
  /** Gives it back, with what was really spent. Once; later calls do nothing. */
  settle(spent: Amount): void;
}

export type ReserveResult =
  | { readonly ok: true; readonly reservation: Reservation }
  | { readonly ok: false; readonly hit: LimitHit };

/**
 * A budget with its ancestors: what is reserved or spent here counts in each of them, so parallel
 * children can't overspend together. Reserve, then settle on every path.
 */
export class Budget {
  private spent = NOTHING;
  private reserved = NOTHING;
  private readonly caps: BudgetCaps;
  private readonly parent: Budget | null;
  /** Woken when something is given back here. */
  private waiting: Deferred<void>[] = [];

  constructor(caps: BudgetCaps, parent: Budget | null) {
    this.caps = caps;
    this.parent = parent;
  }

  /** Whether a cap stands here or above. */
  get bounded(): boolean {
    return this.chain().some(({ caps }) => caps.tokens !== null || caps.costUsd !== null);
  }

  /**
   * Holds an amount back. Where only what others have reserved stands in the way, waits until they
   * have settled: most requests cost far less than they might. `onWait` is called before each wait.
   * Fails with the cap that what is spent already leaves no room under; rejects when the signal
   * aborts while it waits.
   */
  async reserve(
    amount: Amount,
    signal: AbortSignal,
    onWait: () => void = () => {},
  ): Promise<ReserveResult> {
    for (;;) {
      const chain = this.chain();
      const hit = firstHit(chain, (budget) =>
        budget.hitBy(addAmounts(budget.spent, amount), amount),
      );
      if (hit !== null) return { ok: false, hit };
      const full = chain.find(
        (budget) =>
          budget.hitBy(addAmounts(addAmounts(budget.spent, budget.reserved), amount), amount) !==
          null,
      );
      if (full === undefined) return { ok: true, reservation: hold(chain, amount) };
      onWait();
      await full.changed(signal);
    }
  }

  /** Spent here and below, reservations left out. */
  get total(): Amount {
    return this.spent;
  }

  /** What a log tells of earlier, under an owner that is gone. */
  recover(spent: Amount): void {
    for (const budget of this.chain()) budget.book(NOTHING, spent);
  }

  private chain(): readonly Budget[] {
    return [this, ...(this.parent?.chain() ?? [])];
  }

  /** The cap that a total with the amount would exceed, and what is spent by now. */
  private hitBy(total: Amount, amount: Amount): LimitHit | null {
    const { tokens, costUsd } = this.caps;
    if (tokens !== null && total.tokens > tokens.value) {
      return { ...tokens, used: this.spent.tokens, needed: amount.tokens };
    }
    if (costUsd !== null && total.costUsd > costUsd.value) {
      return { ...costUsd, used: this.spent.costUsd, needed: amount.costUsd };
    }
    return null;
  }

  private async changed(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const turn = deferred<void>();
    this.waiting.push(turn);
    const forget = onAbort(signal, () => turn.reject(signal.reason));
    await turn.promise.finally(forget);
  }

  /** For `hold` alone. */
  book(reserved: Amount, spent: Amount): void {
    this.reserved = addAmounts(this.reserved, reserved);
    this.spent = addAmounts(this.spent, spent);
    const { waiting } = this;
    this.waiting = [];
    for (const turn of waiting) turn.resolve();
  }
}

function firstHit(
  chain: readonly Budget[],
  hitOf: (budget: Budget) => LimitHit | null,
): LimitHit | null {
  for (const budget of chain) {
    const hit = hitOf(budget);
    if (hit !== null) return hit;
  }
  return null;
}

function hold(chain: readonly Budget[], amount: Amount): Reservation {
  for (const budget of chain) budget.book(amount, NOTHING);
  const giveBack = { tokens: -amount.tokens, costUsd: -amount.costUsd };
  let open = true;
  return {
    settle(spent) {
      if (!open) return;
      open = false;
      for (const budget of chain) budget.book(giveBack, spent);
    },
  };
}
