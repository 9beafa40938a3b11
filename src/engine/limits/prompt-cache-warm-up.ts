import { deferred, onAbort, type Deferred } from '../../base/async.ts';
import type { Clock } from '../../base/clock.ts';
import type { Deadlines } from '../../base/deadlines.ts';

/** The time for which providers keep a prefix in the cache after its last use. */
const CACHE_LIFETIME_MS = 5 * 60_000;

/** The ports and the setting of the warm-up. */
export interface PromptCacheWarmUpParts {
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  /** The maximum time that requests wait for the first request with the same prefix; 0 if they don't wait. */
  readonly holdMs: number;
}

/** The first request with a prefix that is not cached yet. Other requests wait until it is accepted. */
export interface LeadingRequest {
  /** Called when the first byte of the response has arrived: from now on the cache serves other requests. */
  markAccepted(): void;
  /** Called when the request has ended in any way. If it was not accepted before, the next request leads. */
  markEnded(): void;
}

interface Lead {
  readonly ended: Deferred<void>;
  /** True after `holdMs`. From then on no request waits for this one. */
  isTooSlow: boolean;
}

/** The state of one prefix in the cache. */
interface CachedPrefix {
  /** The monotonic time until which the cache has the prefix. */
  warmUntil: number;
  /** The request that fills the cache now; null if there is none. */
  lead: Lead | null;
}

/**
 * Tracks which request prefixes of a tree are in a provider's prompt cache. Siblings that start at the same time would
 * each pay for writing the same prefix to the cache, so one of them goes first and the others wait.
 */
export class PromptCacheWarmUp {
  private readonly parts: PromptCacheWarmUpParts;
  private readonly prefixes = new Map<string, CachedPrefix>();

  constructor(parts: PromptCacheWarmUpParts) {
    this.parts = parts;
  }

  /**
   * Waits while another request with this prefix is the leading one. Then resolves with a `LeadingRequest` if the
   * caller's request becomes the leading one, and otherwise with null: the caller just sends its request. Resolves at
   * once when the signal aborts.
   */
  async enter(key: string, signal: AbortSignal): Promise<LeadingRequest | null> {
    const prefix = this.prefixes.get(key) ?? { warmUntil: -Infinity, lead: null };
    this.prefixes.set(key, prefix);
    const since = this.parts.clock.monotonic();
    for (let now = since; !signal.aborted && now >= prefix.warmUntil;) {
      if (prefix.lead === null) return this.lead(prefix);
      // The total wait is limited even if leading requests fail and others become the leading one.
      const remaining = this.parts.holdMs - (now - since);
      if (prefix.lead.isTooSlow || remaining <= 0) return null;
      await this.endOrAbort(prefix.lead.ended.promise, signal, remaining);
      now = this.parts.clock.monotonic();
    }
    return null;
  }

  private lead(prefix: CachedPrefix): LeadingRequest {
    const lead: Lead = { ended: deferred(), isTooSlow: false };
    prefix.lead = lead;
    const end = () => {
      slow.cancel();
      if (prefix.lead === lead) prefix.lead = null;
      lead.ended.resolve();
    };
    const slow = this.parts.deadlines.after(this.parts.holdMs, () => {
      lead.isTooSlow = true;
      lead.ended.resolve();
    });
    return {
      markAccepted: () => {
        prefix.warmUntil = this.parts.clock.monotonic() + CACHE_LIFETIME_MS;
        end();
      },
      markEnded: end,
    };
  }

  /** Resolves when `end` does, when the signal aborts, or after `ms` milliseconds. */
  private async endOrAbort(end: Promise<void>, signal: AbortSignal, ms: number): Promise<void> {
    const cut = deferred<void>();
    const forget = onAbort(signal, cut.resolve);
    const deadline = this.parts.deadlines.after(ms, cut.resolve);
    try {
      await Promise.race([end, cut.promise]);
    } finally {
      deadline.cancel();
      forget();
    }
  }
}
