import { rejectOnAbort } from '../base/async.ts';
import type { Clock } from '../base/clock.ts';
import { MusterError } from '../base/errors.ts';
import type { PrivateTarget, WebRequest, WebResponse } from '../protocol/web.ts';
import type { WebClient } from './client.ts';

/** The limits of a cache of pages. */
export interface PageCacheLimits {
  /** The time for which a page is kept, in milliseconds. */
  readonly ageMs: number;
  readonly entries: number;
  /** The size of all bodies together. */
  readonly bytes: number;
}

const DEFAULT_CACHE_LIMITS: PageCacheLimits = {
  ageMs: 15 * 60 * 1_000,
  entries: 50,
  bytes: 20 * 1024 * 1024,
};

interface PageCacheOptions {
  /** Sends the requests that the cache cannot answer. */
  readonly client: WebClient;
  readonly clock: Clock;
  /** Default: 15 minutes, 50 pages, 20 MB. */
  readonly limits?: Partial<PageCacheLimits>;
}

/**
 * Creates a client that keeps pages for a while, for all tasks of a tree. Only answers to GET with the status 200 are
 * kept, and only if the server does not forbid it. Requests for a page that is being fetched wait for it. The abort of one
 * of them does not end the transfer while another one waits.
 *
 * Tasks may have different rights. A page is given only to requests whose rights give the same answers as those of the
 * request with which it was fetched. Others fetch it themselves.
 */
export function createPageCache(options: PageCacheOptions): WebClient {
  return new PageCache(options);
}

/** A page that was fetched, and the answers of the rights with which it was fetched. */
interface FetchedPage {
  readonly response: WebResponse;
  readonly rights: RightsRecord;
}

interface CachedPage extends FetchedPage {
  readonly fetchedAt: number;
}

/** A transfer that several requests may wait for. */
interface Transfer {
  readonly page: Promise<FetchedPage>;
  /** Counts a request that waits. Returns the function that ends its wait. */
  join(): () => void;
}

class PageCache implements WebClient {
  readonly #client: WebClient;
  readonly #clock: Clock;
  readonly #limits: PageCacheLimits;
  /** The pages by key, the one that was used last at the end. */
  readonly #pages = new Map<string, CachedPage>();
  readonly #transfers = new Map<string, Transfer>();

  constructor({ client, clock, limits }: PageCacheOptions) {
    this.#client = client;
    this.#clock = clock;
    this.#limits = { ...DEFAULT_CACHE_LIMITS, ...limits };
  }

  async send(request: WebRequest): Promise<WebResponse> {
    const key = cacheKey(request);
    if (key === null) return await this.#client.send(request);
    request.signal.throwIfAborted();
    const cached = this.#find(key);
    if (cached !== null && cached.rights.areThoseOf(request)) return cached.response;
    const running = this.#transfers.get(key);
    if (running === undefined)
      return (await this.#wait(this.#start(key, request), request)).response;
    const shared = await this.#share(running, request);
    return shared ?? (await this.#client.send(request));
  }

  /** Waits for a transfer that another request began. Returns null if this request may not have its page. */
  async #share(transfer: Transfer, request: WebRequest): Promise<WebResponse | null> {
    try {
      const { response, rights } = await this.#wait(transfer, request);
      return rights.areThoseOf(request) ? response : null;
    } catch (thrown) {
      const isRefusal = thrown instanceof MusterError && thrown.code === 'PERMISSION_DENIED';
      if (isRefusal && !request.signal.aborted) return null;
      throw thrown;
    }
  }

  async #wait(transfer: Transfer, { signal }: WebRequest): Promise<FetchedPage> {
    const leave = transfer.join();
    return await rejectOnAbort(transfer.page, signal).finally(leave);
  }

  #start(key: string, request: WebRequest): Transfer {
    const ended = new AbortController();
    let waiting = 0;
    const page = this.#fetch(key, request, ended.signal).finally(() => forget());
    // Nobody waits any more if all requests were aborted.
    page.catch(() => {});
    const transfer: Transfer = {
      page,
      join: () => {
        waiting += 1;
        return () => {
          waiting -= 1;
          if (waiting > 0) return;
          // The next request begins a transfer of its own.
          forget();
          ended.abort();
        };
      },
    };
    const forget = (): void => {
      if (this.#transfers.get(key) === transfer) this.#transfers.delete(key);
    };
    this.#transfers.set(key, transfer);
    return transfer;
  }

  async #fetch(key: string, request: WebRequest, signal: AbortSignal): Promise<FetchedPage> {
    const rights = new RightsRecord();
    const response = await this.#client.send({ ...request, ...rights.record(request), signal });
    const page = { response, rights };
    if (mayBeKept(response)) this.#keep(key, { ...page, fetchedAt: this.#clock.monotonic() });
    return page;
  }

  #find(key: string): CachedPage | null {
    const page = this.#pages.get(key);
    if (page === undefined) return null;
    this.#pages.delete(key);
    if (this.#clock.monotonic() - page.fetchedAt >= this.#limits.ageMs) return null;
    this.#pages.set(key, page);
    return page;
  }

  #keep(key: string, page: CachedPage): void {
    this.#pages.delete(key);
    this.#pages.set(key, page);
    for (const [oldest] of this.#pages) {
      const sizes = [...this.#pages.values()].map(({ response }) => response.body.length);
      const bytes = sizes.reduce((sum, size) => sum + size, 0);
      if (sizes.length <= this.#limits.entries && bytes <= this.#limits.bytes) return;
      this.#pages.delete(oldest);
    }
  }
}

/** Returns the key of the page that a request is for; null: its answer is never shared. */
function cacheKey({ method, url, headers = {}, body }: WebRequest): string | null {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const isPersonal = names.some((name) => !SHARED_HEADERS.has(name));
  if (method.toUpperCase() !== 'GET' || body !== undefined || isPersonal) return null;
  const page = new URL(url);
  page.hash = '';
  const sent = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return JSON.stringify([page.href, sent.toSorted()]);
}

/** The headers that belong to the key of a page. Any other one may contain a key or ask for something special. */
const SHARED_HEADERS: ReadonlySet<string> = new Set(['accept', 'accept-language']);

function mayBeKept({ status, headers }: WebResponse): boolean {
  return status === 200 && !/\bno-store\b/i.test(headers.get('cache-control') ?? '');
}

/** The questions about rights that a transfer asked, with their answers. */
class RightsRecord {
  readonly #targets: { readonly target: PrivateTarget; readonly answer: boolean }[] = [];
  readonly #redirects: { readonly url: URL; readonly answer: boolean }[] = [];

  /** Returns the rights of a request, whose answers are recorded. */
  record(request: WebRequest): Pick<WebRequest, 'allowsPrivate' | 'followsRedirect'> {
    return {
      allowsPrivate: (target) => {
        const answer = request.allowsPrivate(target);
        this.#targets.push({ target, answer });
        return answer;
      },
      followsRedirect: (url) => {
        const answer = request.followsRedirect(url);
        this.#redirects.push({ url, answer });
        return answer;
      },
    };
  }

  /** Tells whether the rights of a request give the same answers. */
  areThoseOf(request: WebRequest): boolean {
    return (
      this.#targets.every(({ target, answer }) => request.allowsPrivate(target) === answer) &&
      this.#redirects.every(({ url, answer }) => request.followsRedirect(url) === answer)
    );
  }
}
