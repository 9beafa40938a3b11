import { HttpStatusError, WrongServerError } from '../errors/answer-errors.ts';
import type { Endpoint } from '../protocol-adapter.ts';
import { errorText } from '../errors/error-body.ts';

/**
 * Finds out under which of two base URLs a server has its API. If the server has none under the first one, the
 * request is sent to the other one, once. The first answer settles it.
 */
export class BaseUrlProbe {
  private readonly server: Endpoint;
  private isSettled: boolean;
  /** The failure of the first base URL, after which the other one is used; null: the first one is used. */
  private firstFailure: HttpStatusError | WrongServerError | null = null;

  constructor(server: Endpoint) {
    this.server = server;
    this.isSettled = server.otherBaseUrl === undefined;
  }

  /** The base URL that seems right now. */
  get baseUrl(): string {
    const { baseUrl, otherBaseUrl } = this.server;
    return this.firstFailure === null ? baseUrl : (otherBaseUrl ?? baseUrl);
  }

  /** Begins an attempt under the base URL that seems right now. */
  attempt(): BaseUrlAttempt {
    const usesOther = this.firstFailure !== null;
    return {
      addressOf: (url) => appendQuery(this.server.query, usesOther ? this.toOtherBase(url) : url),
      confirm: () => {
        this.isSettled = true;
        if (!usesOther) this.firstFailure = null;
      },
      judgeFailure: (thrown) => this.failedWith(thrown, usesOther),
    };
  }

  private toOtherBase(url: string): string {
    const { baseUrl, otherBaseUrl } = this.server;
    if (otherBaseUrl === undefined || !url.startsWith(baseUrl)) return url;
    return `${otherBaseUrl}${url.slice(baseUrl.length)}`;
  }

  private failedWith(thrown: unknown, usesOther: boolean): unknown {
    if (!isWrongAddress(thrown)) {
      // A server that refuses a request for another reason knows its address.
      if (thrown instanceof HttpStatusError && thrown.status < 500) this.isSettled = true;
      return thrown;
    }
    if (usesOther) {
      if (this.isSettled) return thrown;
      this.isSettled = true;
      const first = this.firstFailure;
      this.firstFailure = null;
      return first ?? thrown;
    }
    // Another request may have switched to the other base URL meanwhile.
    if (this.isSettled) return this.firstFailure === null ? thrown : null;
    this.firstFailure ??= thrown;
    return null;
  }
}

/** One attempt to send a request, under one of the two base URLs. */
export interface BaseUrlAttempt {
  /** Converts an address that was built from the first base URL to the one that is used. */
  addressOf(url: string): string;
  /** Records that a model API has answered. */
  confirm(): void;
  /** Returns the failure to report for a failure of the request; null: the request should be sent once more. */
  judgeFailure(thrown: unknown): unknown;
}

function appendQuery(query: string | undefined, url: string): string {
  return query === undefined ? url : `${url}${url.includes('?') ? '&' : '?'}${query}`;
}

function isWrongAddress(thrown: unknown): thrown is HttpStatusError | WrongServerError {
  if (thrown instanceof WrongServerError) return true;
  if (!(thrown instanceof HttpStatusError) || (thrown.status !== 404 && thrown.status !== 405))
    return false;
  // A server that does not know the model has understood the request.
  return !/\b(?:models?|deployment)\b|model_not_found/i.test(errorText(thrown.body));
}
