import { HttpRefusal, WrongServerError } from '../errors/answer-errors.ts';
import type { Endpoint } from '../protocol-adapter.ts';
import { errorText } from '../errors/error-body.ts';

/**
 * Finds out under which of two base URLs a server has its API. The first answer settles it: a server that knows
 * nothing under the first is asked under the other one, once.
 */
export class BaseUrlProbe {
  private readonly server: Endpoint;
  private isSettled: boolean;
  /** The failure for which the first base URL was given up; null: it was not. */
  private firstFailure: HttpRefusal | WrongServerError | null = null;

  constructor(server: Endpoint) {
    this.server = server;
    this.isSettled = server.otherBaseUrl === undefined;
  }

  /** Begins to send a request, under the base URL that seems right now. */
  attempt(): BaseUrlAttempt {
    const usesOther = this.firstFailure !== null;
    return {
      addressOf: (url) => withQuery(this.server.query, usesOther ? this.underOther(url) : url),
      answered: () => {
        this.isSettled = true;
        if (!usesOther) this.firstFailure = null;
      },
      failedWith: (thrown) => this.failedWith(thrown, usesOther),
    };
  }

  private underOther(url: string): string {
    const { baseUrl, otherBaseUrl } = this.server;
    if (otherBaseUrl === undefined || !url.startsWith(baseUrl)) return url;
    return `${otherBaseUrl}${url.slice(baseUrl.length)}`;
  }

  private failedWith(thrown: unknown, usesOther: boolean): unknown {
    if (!isUnknownAddress(thrown)) {
      // A server that refuses a request for another reason knows its address.
      if (thrown instanceof HttpRefusal && thrown.status < 500) this.isSettled = true;
      return thrown;
    }
    if (usesOther) {
      if (this.isSettled) return thrown;
      this.isSettled = true;
      const first = this.firstFailure;
      this.firstFailure = null;
      return first ?? thrown;
    }
    // Another request may have given it up meanwhile.
    if (this.isSettled) return this.firstFailure === null ? thrown : null;
    this.firstFailure ??= thrown;
    return null;
  }
}

/** One request, under one of the two base URLs. */
export interface BaseUrlAttempt {
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

function isUnknownAddress(thrown: unknown): thrown is HttpRefusal | WrongServerError {
  if (thrown instanceof WrongServerError) return true;
  if (!(thrown instanceof HttpRefusal) || (thrown.status !== 404 && thrown.status !== 405))
    return false;
  // A server that does not know the model has understood the request.
  return !/\b(?:models?|deployment)\b|model_not_found/i.test(errorText(thrown.body));
}
