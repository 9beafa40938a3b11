import type { ReadableStreamDefaultReader } from 'node:stream/web';
import {
  buildConnector,
  Dispatcher,
  errors,
  fetch,
  Pool,
  ProxyAgent,
  Socks5ProxyAgent,
  type Response,
} from 'undici';
import type { HttpRequest, HttpResponse, ResponseBody, TrafficObserver } from './http-types.ts';
import { createFetchError } from './response-body.ts';

/** Responses have no time limit, and idle connections stay open for longer than a usual tool call takes. */
const AGENT_OPTIONS = {
  headersTimeout: 0,
  bodyTimeout: 0,
  connectTimeout: 60_000,
  keepAliveTimeout: 30_000,
  allowH2: false,
};
/**
 * The time in which a proxy must open a tunnel to a server. It is shorter than the time limits of those requests that
 * have one, so that their errors name the proxy.
 */
const TUNNEL_MS = 15_000;

/** A request and its observer. */
interface ObservedRequest {
  readonly request: HttpRequest;
  readonly observer: TrafficObserver | undefined;
}

/** Sends a request through a proxy. */
export type ProxyClient = (
  url: URL,
  proxy: URL,
  observed: ObservedRequest,
) => Promise<HttpResponse>;

/** Creates a client that keeps its connections to each proxy open. `tunnelMs`: default 15 s. */
export function createProxyClient({
  tunnelMs = TUNNEL_MS,
}: { readonly tunnelMs?: number } = {}): ProxyClient {
  const open = new Map<string, ProxyConnections>();
  return async (url, proxy, { request, observer }) => {
    const connections = open.get(proxy.href) ?? new ProxyConnections(proxy, tunnelMs);
    open.set(proxy.href, connections);
    const { agent } = connections;
    const finish = connections.start(() => open.delete(proxy.href));
    const dispatcher = observer === undefined ? agent : new ObservedDispatcher(agent, observer);
    try {
      const response = await fetch(url, { ...request, dispatcher, redirect: 'manual' });
      return httpResponse(response, () => finish({ isAbandoned: false }));
    } catch (thrown) {
      finish({ isAbandoned: true });
      if (!isTunnelTimeout(thrown)) throw thrown;
      const text = `the proxy has opened no connection to ${url.host} within ${tunnelMs / 1000} s`;
      throw createFetchError(new Error(text));
    }
  };
}

/** Only the request for a tunnel has a time limit for its headers. */
function isTunnelTimeout(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.cause instanceof errors.HeadersTimeoutError;
}

/**
 * The connections to one proxy. A connection that is being established stays when its request is cancelled, and would
 * keep the process from ending. So all connections are closed when no request is left that could use them.
 */
class ProxyConnections {
  readonly agent: Dispatcher;
  readonly #sockets = new AbortController();
  #running = 0;
  #hasAbandoned = false;

  constructor(proxy: URL, tunnelMs: number) {
    this.agent = createProxyAgent(proxy, { tunnelMs, signal: this.#sockets.signal });
  }

  /** Counts a request. The result ends it; `onClosed` is called if the connections are closed with it. */
  start(onClosed: () => void): (end: { readonly isAbandoned: boolean }) => void {
    this.#running += 1;
    let isRunning = true;
    return ({ isAbandoned }) => {
      if (!isRunning) return;
      isRunning = false;
      this.#running -= 1;
      this.#hasAbandoned ||= isAbandoned;
      if (this.#running > 0 || !this.#hasAbandoned) return;
      onClosed();
      this.#sockets.abort();
    };
  }
}

interface ProxyAgentOptions {
  /** The time in which the proxy must open a tunnel to a server. */
  readonly tunnelMs: number;
  /** Closes the sockets, also while they are being connected. */
  readonly signal: AbortSignal;
  /** The maximum size of the headers of a response. Default: that of Node. */
  readonly maxHeaderSize?: number;
}

/** Creates the agent that sends requests through a proxy. */
export function createProxyAgent(
  proxy: URL,
  { tunnelMs, signal, ...limits }: ProxyAgentOptions,
): Dispatcher {
  const uri = proxy.href;
  const settings = { ...AGENT_OPTIONS, ...limits };
  const socketOptions = { timeout: AGENT_OPTIONS.connectTimeout, signal };
  if (proxy.protocol.startsWith('socks')) {
    const connect = buildConnector(socketOptions);
    return new Socks5ProxyAgent(uri, { ...settings, connect });
  }
  return new ProxyAgent({
    ...settings,
    uri,
    proxyTls: socketOptions,
    clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: tunnelMs }),
    factory: (origin, options) => new Pool(origin, { ...settings, ...options }),
  });
}

/** `onEnd` is called when the body has ended, or is not read any more. */
function httpResponse(response: Response, onEnd: () => void): HttpResponse {
  const { status, statusText, ok, headers, body } = response;
  if (body === null) onEnd();
  return {
    status,
    statusText,
    ok,
    headers,
    body: body === null ? null : responseBody(body, onEnd),
    text: () => response.text().finally(onEnd),
    json: () => response.json().finally(onEnd),
  };
}

/**
 * Wraps the stream of a body. The reader is created at the first call, so that the response can also be read with
 * `text` or `json` instead.
 */
function responseBody(stream: NonNullable<Response['body']>, onEnd: () => void): ResponseBody {
  let reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  const getReader = () => (reader ??= stream.getReader());
  return {
    read: async () => {
      try {
        const { done, value } = await getReader().read();
        if (done) onEnd();
        return done ? null : value;
      } catch (thrown) {
        onEnd();
        throw thrown;
      }
    },
    cancel: () => getReader().cancel().finally(onEnd),
  };
}

/** A dispatcher that passes requests on and notifies the observer of their traffic. */
class ObservedDispatcher extends Dispatcher {
  private readonly agent: Dispatcher;
  private readonly observer: TrafficObserver;

  constructor(agent: Dispatcher, observer: TrafficObserver) {
    super();
    this.agent = agent;
    this.observer = observer;
  }

  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    return this.agent.dispatch(options, observed(handler, this.observer));
  }
}

/**
 * Wraps a handler so that the observer is notified first. The handler's methods share state, so all of them are
 * called on the handler itself.
 */
function observed(
  handler: Dispatcher.DispatchHandler,
  observer: TrafficObserver,
): Dispatcher.DispatchHandler {
  return new Proxy(handler, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        if (name === 'onRequestStart') observer.connected?.();
        // The arguments are the controller and the chunk.
        if (name === 'onResponseData' && args[1] instanceof Uint8Array) observer.bytes?.(args[1]);
        return Reflect.apply(member, target, args);
      };
    },
  });
}
