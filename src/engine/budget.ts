import type { LimitHit } from './limits.ts';

/** Paid tokens and USD; cost is 0 where no price is known. */
export interface Amount {
  readonly tokens: number;
  readonly costUsd: number;
}

/** Caps of one budget by the names that a user sets them by; null: none. */
export interface BudgetCaps {
  readonly tokens: { readonly limit: string; readonly value: number } | null;
  readonly costUsd: { readonly limit: string; readonly value: number } | null;
}

/** An amount held back for a request under way. Settle or release it, once; later calls do nothing. */
export interface Reservation {
  settle(spent: Amount): void;
  release(): void;
}

export type ReserveResult =
  | { readonly ok: true; readonly reservation: Reservation }
  | { readonly ok: false; readonly hit: LimitHit };

/**
 * A budget with its ancestors: what is reserved or spent here counts in each of them, so parallel
 * children can't overspend together. Reserve → settle, or release on every failing path.
 */
export class Budget {
  private spent: Amount = { tokens: 0, costUsd: 0 };
  private reserved: Amount = { tokens: 0, costUsd: 0 };
  private readonly caps: BudgetCaps;
  private readonly parent: Budget | null;

  constructor(caps: BudgetCaps, parent: Budget | null) {
    this.caps = caps;
    this.parent = parent;
  }

  /** Whether a cap stands here or above. */
  get bounded(): boolean {
    return this.chain().some(({ caps }) => caps.tokens !== null || caps.costUsd !== null);
  }

  reserve(amount: Amount): ReserveResult {
    const chain = this.chain();
    for (const budget of chain) {
      const hit = budget.wouldExceed(amount);
      if (hit !== null) return { ok: false, hit };
    }
    for (const budget of chain) budget.reserved = add(budget.reserved, amount);
    let open = true;
    const close = (spent: Amount) => {
      if (!open) return;
      open = false;
      for (const budget of chain) {
        budget.reserved = add(budget.reserved, negative(amount));
        budget.spent = add(budget.spent, spent);
      }
    };
    return {
      ok: true,
      reservation: { settle: close, release: () => close({ tokens: 0, costUsd: 0 }) },
    };
  }

  private chain(): readonly Budget[] {
    return [this, ...(this.parent?.chain() ?? [])];
  }

  private wouldExceed(amount: Amount): LimitHit | null {
    const { tokens, costUsd } = this.caps;
    const tokensHeld = this.spent.tokens + this.reserved.tokens;
    if (tokens !== null && tokensHeld + amount.tokens > tokens.value) {
      return { ...tokens, used: tokensHeld };
    }
    const costHeld = this.spent.costUsd + this.reserved.costUsd;
    if (costUsd !== null && costHeld + amount.costUsd > costUsd.value) {
      return { ...costUsd, used: costHeld };
    }
    return null;
  }
}

function add(a: Amount, b: Amount): Amount {
  return { tokens: a.tokens + b.tokens, costUsd: a.costUsd + b.costUsd };
}

function negative(a: Amount): Amount {
  return { tokens: -a.tokens, costUsd: -a.costUsd };
}
