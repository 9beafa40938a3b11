/** What can be seen of one request on the wire. Called from inside the socket's read: be quick. */
export interface TrafficObserver {
  /** TCP and TLS are up and the request is being sent. */
  connected?(): void;
  /** A piece of the answer's body arrived. It is not the observer's: it may be written over later. */
  bytes?(chunk: Uint8Array): void;
}

export interface HttpRequest {
  /** Default GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

export interface ResponseBody {
  /** The next piece; null at the end. Rejects, as `fetch` does, with what broke it off. */
  read(): Promise<Uint8Array | null>;
  /** Ends the transfer: nobody reads on. */
  cancel(): Promise<void>;
}

/** The part of a `Response` that is needed. */
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
 * Rejects as `fetch` does; a wrong proxy or CA file is a UsageError. Redirects are errors: they
 * would carry a key to another server.
 */
export type HttpFetch = (
  url: string | URL,
  request?: HttpRequest,
  observer?: TrafficObserver,
) => Promise<HttpResponse>;
