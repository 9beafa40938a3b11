/** The limits of requests to the web. Times are in milliseconds. */
export interface WebLimits {
  /** The time until the host is resolved, and the time until a connection to it is established. */
  readonly connectMs: number;
  /** The time for a request with all its redirects. It begins when the request is the first in its host's queue. */
  readonly totalMs: number;
  /** The size of a body, both as it is transferred and decompressed. The rest of a larger body is not read. */
  readonly bodyBytes: number;
  /** The size of the headers of one response. */
  readonly headerBytes: number;
  /** The number of redirects of a request. */
  readonly redirects: number;
  /** The number of connections to one host at the same time. */
  readonly connectionsPerHost: number;
  /** The longest time to wait for a server that is overloaded and says when to try again. */
  readonly retryWaitMs: number;
  /** The time to resolve a host on this machine although a proxy resolves it as well. */
  readonly proxiedLookupMs: number;
}

export const DEFAULT_WEB_LIMITS: WebLimits = {
  connectMs: 10_000,
  totalMs: 30_000,
  bodyBytes: 5 * 1024 * 1024,
  headerBytes: 64 * 1024,
  redirects: 5,
  connectionsPerHost: 2,
  retryWaitMs: 10_000,
  proxiedLookupMs: 2_000,
};
