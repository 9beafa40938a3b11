/** Observes one request on the wire. The methods are called from inside the socket's read and must be quick. */
export interface TrafficObserver {
  /** The connection (TCP and TLS) is established and the request is being sent. */
  connected?(): void;
  /** A piece of the response body has arrived. The buffer may be overwritten after the call. */
  bytes?(chunk: Uint8Array): void;
}

/** An HTTP request without its URL. */
export interface HttpRequest {
  /** Default: GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** `manual`: a redirect is returned like any other response. Default: a redirect is an error. */
  readonly redirect?: 'error' | 'manual';
}

/** The body of a response, read piece by piece. */
export interface ResponseBody {
  /** Returns the next piece; null at the end. Rejects like `fetch` if the transfer failed. */
  read(): Promise<Uint8Array | null>;
  /** Ends the transfer. */
  cancel(): Promise<void>;
}

/** The part of the standard `Response` that Muster needs. */
export interface HttpResponse {
  readonly status: number;
  readonly statusText: string;
  /** 200 to 299. */
  readonly ok: boolean;
  readonly headers: Iterable<[string, string]> & { get(name: string): string | null };
  readonly body: ResponseBody | null;
  text(): Promise<string>;
  json(): Promise<unknown>;
}

/**
 * Sends an HTTP request. Rejects like `fetch`, or with a UsageError for a wrong proxy or CA file. A redirect is an
 * error unless the request says otherwise, because following it would send an API key to another server.
 */
export type HttpFetch = (
  url: string | URL,
  request?: HttpRequest,
  observer?: TrafficObserver,
) => Promise<HttpResponse>;

/** A request through a proxy that failed. The cause is the error of the connection. */
export class ProxiedRequestError extends Error {
  /** The address of the proxy, without a password. */
  readonly proxy: string;

  constructor({ protocol, host }: URL, cause: unknown) {
    super('fetch failed', { cause });
    this.proxy = `${protocol}//${host}`;
  }
}
