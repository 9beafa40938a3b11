import type { LimiterSettings } from './allowance.ts';
import { Limiter, type LimiterDeps } from './limiter.ts';

/** What a provider counts requests by. */
export interface Account {
  readonly baseUrl: string;
  /** Null: none is sent. */
  readonly apiKey: string | null;
}

/** Of the whole process: several sessions in it, or names for one provider, share what it allows. */
const limiters = new Map<string, Limiter>();

/** The one of an account, with these settings from now on. */
export function limiterOf(account: Account, settings: LimiterSettings, deps: LimiterDeps): Limiter {
  const name = JSON.stringify([account.baseUrl, account.apiKey]);
  const known = limiters.get(name);
  if (known !== undefined) {
    known.configure(settings);
    return known;
  }
  const limiter = new Limiter(settings, deps);
  limiters.set(name, limiter);
  return limiter;
}
