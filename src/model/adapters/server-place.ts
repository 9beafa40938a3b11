import { Refusal, WrongServer } from './answer-errors.ts';
import type { AskedServer } from './asked-server.ts';
import { errorWords } from './error-words.ts';

/**
 * Finds out under which of two base URLs a server has its API. The first answer settles it: a server that knows
 * nothing under the first is asked under the other one, once.
 */
export class ServerPlace {
  private readonly server: AskedServer;
  private isSettled: boolean;
  /** Why the first base URL was left; null: it was not. */
  private leftFor: Refusal | WrongServer | null = null;

  constructor(server: AskedServer) {
    this.server = server;
    this.isSettled = server.otherBaseUrl === undefined;
  }

  /** Begins to send a request, at the place that seems right now. */
  attempt(): PlacedAttempt {
    const isAtOther = this.leftFor !== null;
    return {
      addressOf: (url) => withQuery(this.server.query, isAtOther ? this.moved(url) : url),
      answered: () => {
        this.isSettled = true;
        if (!isAtOther) this.leftFor = null;
      },
      failedWith: (thrown) => this.failedWith(thrown, isAtOther),
    };
  }

  private moved(url: string): string {
    const { baseUrl, otherBaseUrl } = this.server;
    if (otherBaseUrl === undefined || !url.startsWith(baseUrl)) return url;
    return `${otherBaseUrl}${url.slice(baseUrl.length)}`;
  }

  private failedWith(thrown: unknown, isAtOther: boolean): unknown {
    if (!isUnknownPlace(thrown)) {
      // Whoever refuses a request knows what it is about.
      if (thrown instanceof Refusal && thrown.status < 500) this.isSettled = true;
      return thrown;
    }
    if (isAtOther) {
      if (this.isSettled) return thrown;
      this.isSettled = true;
      const first = this.leftFor;
      this.leftFor = null;
      return first ?? thrown;
    }
    // Another request may have left it meanwhile.
    if (this.isSettled) return this.leftFor === null ? thrown : null;
    this.leftFor ??= thrown;
    return null;
  }
}

/** One request, at one of the two places. */
export interface PlacedAttempt {
  /** Returns the address for one that was made from the first base URL. */
  addressOf(url: string): string;
  /** A response came that is one of a model's API. */
  answered(): void;
  /**
   * Returns what the request failed with, as a person is to hear it; null: it may succeed if it is sent once
   * more.
   */
  failedWith(thrown: unknown): unknown;
}

function withQuery(query: string | undefined, url: string): string {
  return query === undefined ? url : `${url}${url.includes('?') ? '&' : '?'}${query}`;
}

function isUnknownPlace(thrown: unknown): thrown is Refusal | WrongServer {
  if (thrown instanceof WrongServer) return true;
  if (!(thrown instanceof Refusal) || (thrown.status !== 404 && thrown.status !== 405))
    return false;
  // Who knows no such model has understood the request.
  return !/\b(?:models?|deployment)\b|model_not_found/i.test(errorWords(thrown.body));
}
