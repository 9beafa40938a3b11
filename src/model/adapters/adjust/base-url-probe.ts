import { HttpStatusError, WrongServerError } from '../errors/answer-errors.ts';
import type { Endpoint } from '../protocol-adapter.ts';
import { extractErrorText } from '../errors/error-body.ts';

/**
 * Finds out under which of two base URLs a server has its API. If the server has no API under the first base URL, the
 * request is sent once to the other. The first answer of a model API decides which base URL is used from then on.
 */
export class BaseUrlProbe {
  private readonly server: Endpoint;
  private isDecided: boolean;
  /** The failure of the first base URL, after which the other is used; null: the first base URL is used. */
  private firstFailure: HttpStatusError | WrongServerError | null = null;

  constructor(server: Endpoint) {
    this.server = server;
    this.isDecided = server.otherBaseUrl === undefined;
  }

  /** The base URL that is used at present. */
  get baseUrl(): string {
    const { baseUrl, otherBaseUrl } = this.server;
    return this.firstFailure === null ? baseUrl : (otherBaseUrl ?? baseUrl);
  }

  /** Starts an attempt under the base URL that is used at present. */
  startAttempt(): BaseUrlAttempt {
    const usesOther = this.firstFailure !== null;
    return {
      toAddress: (url) => appendQuery(this.server.query, usesOther ? this.toOtherBase(url) : url),
      confirm: () => {
        this.isDecided = true;
        if (!usesOther) this.firstFailure = null;
      },
      judgeFailure: (thrown) => this.judge(thrown, usesOther),
    };
  }

  private toOtherBase(url: string): string {
    const { baseUrl, otherBaseUrl } = this.server;
    if (otherBaseUrl === undefined || !url.startsWith(baseUrl)) return url;
    return `${otherBaseUrl}${url.slice(baseUrl.length)}`;
  }

  private judge(thrown: unknown, usesOther: boolean): unknown {
    if (!isWrongAddress(thrown)) {
      // A server that refuses a request for another reason has its API at this address.
      if (thrown instanceof HttpStatusError && thrown.status < 500) this.isDecided = true;
      return thrown;
    }
    if (usesOther) {
      if (this.isDecided) return thrown;
      this.isDecided = true;
      const first = this.firstFailure;
      this.firstFailure = null;
      return first ?? thrown;
    }
    // Another request may have switched to the other base URL meanwhile.
    if (this.isDecided) return this.firstFailure === null ? thrown : null;
    this.firstFailure ??= thrown;
    return null;
  }
}

/** One attempt to send a request, under one of the two base URLs. */
export interface BaseUrlAttempt {
  /** Converts a URL that was built from the first base URL to a URL under the base URL of this attempt. */
  toAddress(url: string): string;
  /** Records that a model API has answered under the base URL of this attempt. */
  confirm(): void;
  /** Decides about a failed attempt. Returns the failure to report; null: the request should be sent once more. */
  judgeFailure(thrown: unknown): unknown;
}

function appendQuery(query: string | undefined, url: string): string {
  return query === undefined ? url : `${url}${url.includes('?') ? '&' : '?'}${query}`;
}

function isWrongAddress(thrown: unknown): thrown is HttpStatusError | WrongServerError {
  if (thrown instanceof WrongServerError) return true;
  if (!(thrown instanceof HttpStatusError) || (thrown.status !== 404 && thrown.status !== 405))
    return false;
  // A server whose error is about the model has understood the request, so the address is right.
  return !/\b(?:models?|deployment)\b|model_not_found/i.test(extractErrorText(thrown.responseBody));
}
