import { onAbort } from '../base/async.ts';
import type { Clock } from '../base/clock.ts';
import { Deadlines, sleep } from '../base/deadlines.ts';
import { MusterError } from '../base/errors.ts';
import { parseWebUrl } from './parse-url.ts';
import { formatDuration } from '../base/text.ts';
import type { WebRequest, WebResponse } from '../protocol/web.ts';
import type { Environment } from '../sys/env.ts';
import { HostQueue } from './host-queue.ts';
import { DEFAULT_WEB_LIMITS, type WebLimits } from './limits.ts';
import { planRedirect, type Hop } from './redirects.ts';
import { isReadingMethod, parseHeaders, parseMethod, wireHeaders } from './request-headers.ts';
import { planRetry } from './retry-after.ts';
import type { WebExchange } from './exchange.ts';
import { findRoute, type ResolveHost } from './route.ts';
import { cleanServerText, describeNetworkFailure, webError } from './web-errors.ts';

/** Sends requests to the public web, and to other addresses only if a rule names them. */
export interface WebClient {
  /** Sends a request. Rejects with a MusterError for every expected problem, or with the reason of the signal. */
  send(request: WebRequest): Promise<WebResponse>;
}

export interface WebClientOptions {
  /** The environment of the user, with proxies and certificates. */
  readonly env: Environment;
  readonly clock: Clock;
  /** Default: `DEFAULT_WEB_LIMITS`. */
  readonly limits?: Partial<WebLimits>;
  /** Default: the resolver of the system. */
  readonly resolve?: ResolveHost;
  /** Muster's version, for the user agent. */
  readonly version: string;
}

/** Creates a client for the web. Its heavy parts are loaded with the first request. */
export function createWebClient(options: WebClientOptions): WebClient {
  return new GuardedClient(options);
}

class GuardedClient implements WebClient {
  readonly #options: WebClientOptions;
  readonly #limits: WebLimits;
  readonly #queue: HostQueue;
  readonly #deadlines: Deadlines;
  readonly #resolve: ResolveHost;
  #certificates: Promise<void> | null = null;

  constructor(options: WebClientOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_WEB_LIMITS, ...options.limits };
    this.#queue = new HostQueue(this.#limits.connectionsPerHost);
    this.#deadlines = new Deadlines(options.clock);
    this.#resolve = options.resolve ?? resolveWithSystem;
  }

  async send(request: WebRequest): Promise<WebResponse> {
    const first = parseRequest(request);
    let leave = await this.#queue.enter(first.url.hostname, request.signal);
    const time = this.#startTime(first.url, request.signal);
    const run: Run = {
      request,
      time,
      enter: async (host) => {
        leave();
        leave = () => {};
        leave = await this.#queue.enter(host, time.signal);
      },
    };
    try {
      return await this.#follow(first, run);
    } catch (thrown) {
      request.signal.throwIfAborted();
      time.signal.throwIfAborted();
      throw thrown;
    } finally {
      leave();
      time.end();
    }
  }

  /** Limits the time of a request. The signal aborts with the request's own, or when the time is over. */
  #startTime(url: URL, signal: AbortSignal): TimeLimit {
    const { totalMs } = this.#limits;
    const { clock } = this.#options;
    const ended = new AbortController();
    const endsAt = clock.monotonic() + totalMs;
    const deadline = this.#deadlines.after(totalMs, () => {
      const text = `the answer was not complete after ${formatDuration(totalMs)}, the limit of a request`;
      ended.abort(webError('TIMEOUT', url, text));
    });
    const removeListener = onAbort(signal, () => ended.abort(signal.reason));
    return {
      signal: ended.signal,
      remaining: () => endsAt - clock.monotonic(),
      end: () => {
        deadline.cancel();
        removeListener();
      },
    };
  }

  /** Sends a request and those to which redirects lead. */
  async #follow(first: Hop, run: Run): Promise<WebResponse> {
    let hop = first;
    let hasWaited = false;
    for (let redirects = 0; ;) {
      const exchange = await this.#exchange(hop, run);
      try {
        const { status, headers } = exchange;
        const location = headers.get('location');
        const plan = planRedirect(hop, { status, location }, (url) =>
          run.request.followsRedirect(url),
        );
        if (plan.kind === 'stop') return await this.#read(hop, exchange, plan.target);
        if (plan.kind === 'follow') {
          redirects += 1;
          if (redirects > this.#limits.redirects) throw this.#tooManyRedirects(first, plan.hop);
          await exchange.close();
          if (plan.hop.url.hostname !== hop.url.hostname) await run.enter(plan.hop.url.hostname);
          hop = plan.hop;
          continue;
        }
        const retry = planRetry({
          status,
          retryAfter: headers.get('retry-after'),
          method: hop.method,
          hasWaited,
          now: this.#options.clock.now(),
          maxWaitMs: Math.min(this.#limits.retryWaitMs, run.time.remaining()),
        });
        if (retry.kind === 'fail') throw webError('LIMIT_EXCEEDED', hop.url, retry.text);
        if (retry.kind === 'use') return await this.#read(hop, exchange);
        hasWaited = true;
        await exchange.close();
        await sleep(this.#deadlines, retry.ms, run.time.signal);
      } finally {
        await exchange.close();
      }
    }
  }

  #tooManyRedirects(first: Hop, last: Hop): MusterError {
    const text = `there are more than ${this.#limits.redirects} redirects; the last one leads to ${cleanServerText(last.url.href)}`;
    return webError('LIMIT_EXCEEDED', first.url, text);
  }

  /** Checks the addresses of a host and sends one request to it. */
  async #exchange(hop: Hop, { request, time }: Run): Promise<WebExchange> {
    const { env, version } = this.#options;
    const { signal } = time;
    const limits = this.#limits;
    const proxy = await findProxy(hop.url, env);
    const route = await findRoute(hop.url, {
      proxy,
      resolve: this.#resolve,
      allowsPrivate: (target) => request.allowsPrivate(target),
      lookupMs: limits.connectMs,
      proxiedLookupMs: limits.proxiedLookupMs,
      signal,
    });
    await this.#trustCertificates(hop.url);
    const [{ openExchange }, { ACCEPTED_ENCODINGS }] = await Promise.all([
      import('./exchange.ts'),
      import('./body.ts'),
    ]);
    signal.throwIfAborted();
    const headers = wireHeaders(hop.headers, { version, encodings: ACCEPTED_ENCODINGS });
    try {
      return await openExchange(hop, { headers, route, limits, signal });
    } catch (thrown) {
      throw describeError(hop.url, thrown, route.kind === 'proxy' ? route.proxy : null);
    }
  }

  async #trustCertificates({ protocol }: URL): Promise<void> {
    const file = this.#options.env['SSL_CERT_FILE'] ?? '';
    if (protocol !== 'https:' || file === '') return;
    this.#certificates ??= import('../sys/http/trusted-certificates.ts').then(
      ({ trustCertificates }) => trustCertificates(file),
    );
    await this.#certificates;
  }

  async #read({ method, url }: Hop, exchange: WebExchange, redirectTo?: URL): Promise<WebResponse> {
    const { status, statusText, headers } = exchange;
    const { readBody } = await import('./body.ts');
    // The answer to HEAD has the headers of a body, but no body.
    const encoding = method === 'HEAD' ? null : headers.get('content-encoding');
    try {
      const { bytes, isCut } = await readBody(exchange.body, encoding, this.#limits.bodyBytes);
      return {
        status,
        statusText: cleanServerText(statusText),
        headers,
        url,
        body: bytes,
        isCut,
        ...(redirectTo === undefined ? {} : { redirectTo }),
      };
    } catch (thrown) {
      throw describeError(url, thrown, null);
    }
  }
}

/** A request with all its redirects. */
interface Run {
  readonly request: WebRequest;
  readonly time: TimeLimit;
  /** Leaves the queue of the current host and waits in that of another one. */
  enter(host: string): Promise<void>;
}

interface TimeLimit {
  readonly signal: AbortSignal;
  /** Returns the remaining time in milliseconds. */
  remaining(): number;
  end(): void;
}

/** Checks a request before anything is sent. Throws INVALID_PARAM. */
function parseRequest({ method: methodName, url, headers = {}, body }: WebRequest): Hop {
  const parsed = parseWebUrl(url.href);
  if (!parsed.ok) throw new MusterError('INVALID_PARAM', `url: ${parsed.problem}`);
  const method = parseMethod(methodName);
  if (body !== undefined && isReadingMethod(method)) {
    throw new MusterError('INVALID_PARAM', `body: cannot be sent with ${method}; use POST`);
  }
  return { method, url: parsed.url, headers: parseHeaders(headers), body };
}

async function findProxy(url: URL, env: Environment): Promise<URL | null> {
  if (!Object.keys(env).some((name) => /_proxy$/i.test(name))) return null;
  const { readProxySettings, selectProxy } = await import('../sys/http/proxy-settings.ts');
  const settings = readProxySettings(env);
  return settings === null ? null : selectProxy(url, settings);
}

async function resolveWithSystem(host: string): Promise<readonly string[]> {
  const { lookup } = await import('node:dns/promises');
  const found = await lookup(host, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
}

function describeError(url: URL, thrown: unknown, proxy: URL | null): MusterError {
  if (thrown instanceof MusterError) return webError(thrown.code, url, thrown.message, thrown);
  const { code, text } = describeNetworkFailure(thrown);
  const through = proxy === null ? '' : ` (through the proxy ${proxy.protocol}//${proxy.host})`;
  return webError(code, url, `${text}${through}`, thrown);
}
