import { deferred, onAbort, type Deferred } from '../../base/async.ts';
import type { Clock } from '../../base/clock.ts';
import type { Deadlines } from '../../base/deadlines.ts';

/** How long the providers keep what no request reads any more. */
const KEPT_MS = 5 * 60_000;

export interface PromptCacheWarmUpParts {
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  /** How long requests are held for the first of their prefix; 0: never. */
  readonly holdMs: number;
}

/** The first request with a prefix that no cache holds: the others are held until it is accepted. */
export interface LeadingRequest {
  /** Its first byte has come: from here on the cache serves the others. */
  accepted(): void;
  /** It is over, whatever came of it. Without `accepted` the next one leads. */
  over(): void;
}

interface Lead {
  readonly ended: Deferred<void>;
  isTooSlow: boolean;
}

interface Warmth {
  warmUntil: number;
  lead: Lead | null;
}

/**
 * Which prefixes of requests a provider's prompt cache holds by now, as far as this tree has sent them.
 * Siblings that start at once would each pay for writing the same prefix: so one goes first.
 */
export class PromptCacheWarmUp {
  private readonly parts: PromptCacheWarmUpParts;
  private readonly known = new Map<string, Warmth>();

  constructor(parts: PromptCacheWarmUpParts) {
    this.parts = parts;
  }

  /**
   * Held here while another request with this prefix is on its way. The request leads where one is
   * returned; null: it goes as it is. Returns at once when the signal aborts.
   */
  async enter(key: string, signal: AbortSignal): Promise<LeadingRequest | null> {
    const warmth = this.known.get(key) ?? { warmUntil: -Infinity, lead: null };
    this.known.set(key, warmth);
    const since = this.parts.clock.monotonic();
    for (let now = since; !signal.aborted && now >= warmth.warmUntil;) {
      if (warmth.lead === null) return this.lead(warmth);
      // One that follows another that failed holds nobody for as long again.
      const left = this.parts.holdMs - (now - since);
      if (warmth.lead.isTooSlow || left <= 0) return null;
      await this.endOrAbort(warmth.lead.ended.promise, signal, left);
      now = this.parts.clock.monotonic();
    }
    return null;
  }

  private lead(warmth: Warmth): LeadingRequest {
    const lead: Lead = { ended: deferred(), isTooSlow: false };
    warmth.lead = lead;
    const end = () => {
      slow.cancel();
      if (warmth.lead === lead) warmth.lead = null;
      lead.ended.resolve();
    };
    const slow = this.parts.deadlines.after(this.parts.holdMs, () => {
      lead.isTooSlow = true;
      lead.ended.resolve();
    });
    return {
      accepted: () => {
        warmth.warmUntil = this.parts.clock.monotonic() + KEPT_MS;
        end();
      },
      over: end,
    };
  }

  /** Or when so many milliseconds have passed. */
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
