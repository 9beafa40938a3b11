import { deferred, onAbort, type Deferred } from '../../base/async.ts';
import type { Clock } from '../../base/clock.ts';
import type { Deadlines } from '../../base/deadlines.ts';

/** The time for which providers keep a cached prefix that no request reads. */
const CACHE_LIFETIME_MS = 5 * 60_000;

export interface PromptCacheWarmUpParts {
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  /** The time for which requests wait for the first one with their prefix; 0: they don't wait. */
  readonly holdMs: number;
}

/** The first request with a prefix that is not cached yet. The others wait until it is accepted. */
export interface LeadingRequest {
  /** Notes that its first byte has arrived: from now on the cache serves the others. */
  accepted(): void;
  /** Notes that it is over, successful or not. Without `accepted`, the next request leads. */
  over(): void;
}

interface Lead {
  readonly ended: Deferred<void>;
  isTooSlow: boolean;
}

/** The state of one prefix. */
interface CachedPrefix {
  warmUntil: number;
  lead: Lead | null;
}

/**
 * Tracks which request prefixes of this tree a provider's prompt cache holds. Siblings that start at the same
 * time would each pay for writing the same prefix to the cache, so one of them goes first.
 */
export class PromptCacheWarmUp {
  private readonly parts: PromptCacheWarmUpParts;
  private readonly prefixes = new Map<string, CachedPrefix>();

  constructor(parts: PromptCacheWarmUpParts) {
    this.parts = parts;
  }

  /**
   * Waits while another request with this prefix is on its way. Returns a `LeadingRequest` when the caller's
   * request is the first one; null when it is to be sent without further ado. Returns at once when the signal
   * aborts.
   */
  async enter(key: string, signal: AbortSignal): Promise<LeadingRequest | null> {
    const prefix = this.prefixes.get(key) ?? { warmUntil: -Infinity, lead: null };
    this.prefixes.set(key, prefix);
    const since = this.parts.clock.monotonic();
    for (let now = since; !signal.aborted && now >= prefix.warmUntil;) {
      if (prefix.lead === null) return this.lead(prefix);
      // The whole wait is bounded, also when a leading request fails and another one takes the lead.
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
      accepted: () => {
        prefix.warmUntil = this.parts.clock.monotonic() + CACHE_LIFETIME_MS;
        end();
      },
      over: end,
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
