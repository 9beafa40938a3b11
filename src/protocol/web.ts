/** A request to the public web. */
export interface WebRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal: AbortSignal;
  /** Tells whether a rule or a person names an address that is not public. */
  allowsPrivate(target: PrivateTarget): boolean;
  /**
   * Tells whether a redirect to another host may be followed. A redirect within the host is always followed, and so is
   * one from http to https of the same host.
   */
  followsRedirect(url: URL): boolean;
}

/** A host of the web that stands for an address that is not public. */
export interface PrivateTarget {
  /** The host as in the URL, in its normal form. */
  readonly host: string;
  /** The IP address for which the host stands. */
  readonly address: string;
}

/** The answer to a request to the web. */
export interface WebResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: WebHeaders;
  /** The URL from which the answer came, after all redirects that were followed. */
  readonly url: URL;
  /** The decompressed body. */
  readonly body: Buffer;
  /** True if the body was longer than the limit, so that its end is missing. */
  readonly isCut: boolean;
  /** The target of a redirect that was not followed. */
  readonly redirectTo?: URL;
}

/** The headers of an answer: pairs of names in lower case and values. `get` ignores the case of the name. */
export interface WebHeaders extends Iterable<[string, string]> {
  get(name: string): string | null;
}

/** The web client of a process. */
export interface WebAccess {
  send(request: WebRequest): Promise<WebResponse>;
  /**
   * Requests a page with GET, or returns the answer to an equal request that is at most fifteen minutes old. The answers
   * are kept for each tree of tasks.
   */
  getCached(tree: string, request: WebRequest): Promise<WebResponse>;
}

/**
 * Sends the requests of one call to the web, with the rights of its task. Rejects with a MusterError whose message is
 * for the model, or with the reason of the call's signal.
 */
export interface WebPort {
  /**
   * Requests a page with GET. All tasks of a tree share the answers, which may be up to fifteen minutes old: an equal
   * request returns the same object.
   */
  get(url: URL): Promise<WebResponse>;
  send(
    request: Omit<WebRequest, 'signal' | 'allowsPrivate' | 'followsRedirect'>,
  ): Promise<WebResponse>;
}

/** The domains that a search is limited to. */
export interface SearchDomains {
  /** The results come only from these domains and their subdomains. Empty: from all. */
  readonly allowedDomains: readonly string[];
  /** No result comes from these domains and their subdomains. */
  readonly blockedDomains: readonly string[];
}

/** The maximum number of searches of one request to a provider. Each costs about one US cent. */
export const MAX_PROVIDER_SEARCHES = 3;

/** A page of the web that a provider names as a source. */
export interface CitedPage {
  /** The address of the page. */
  readonly url: string;
  /** The title of the page. */
  readonly title: string;
  /** The host of the page if the URL only redirects to it; empty if it is not known. Default: the host of the URL. */
  readonly site?: string;
}
