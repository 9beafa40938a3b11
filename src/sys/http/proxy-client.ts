import type { ReadableStreamDefaultReader } from 'node:stream/web';
import { Dispatcher, fetch, ProxyAgent, type Response } from 'undici';
import type { HttpRequest, HttpResponse, ResponseBody, TrafficObserver } from './http-types.ts';

/** Responses have no time limit, and idle connections stay open for longer than a usual tool call takes. */
const AGENT_OPTIONS = {
  headersTimeout: 0,
  bodyTimeout: 0,
  connectTimeout: 60_000,
  keepAliveTimeout: 30_000,
  allowH2: false,
};

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

/** Creates a client that keeps its connections to each proxy open. */
export function createProxyClient(): ProxyClient {
  const agents = new Map<string, ProxyAgent>();
  return async (url, proxy, { request, observer }) => {
    let agent = agents.get(proxy.href);
    if (agent === undefined) {
      agent = new ProxyAgent({ ...AGENT_OPTIONS, uri: proxy.href });
      agents.set(proxy.href, agent);
    }
    const dispatcher = observer === undefined ? agent : new ObservedDispatcher(agent, observer);
    return httpResponse(await fetch(url, { ...request, dispatcher, redirect: 'manual' }));
  };
}

function httpResponse(response: Response): HttpResponse {
  const { status, statusText, ok, headers, body } = response;
  return {
    status,
    statusText,
    ok,
    headers,
    body: body === null ? null : responseBody(body),
    text: () => response.text(),
    json: () => response.json(),
  };
}

/**
 * Wraps the stream of a body. The reader is created at the first call, so that the response can also be read with
 * `text` or `json` instead.
 */
function responseBody(stream: NonNullable<Response['body']>): ResponseBody {
  let reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  const getReader = () => (reader ??= stream.getReader());
  return {
    read: async () => {
      const { done, value } = await getReader().read();
      return done ? null : value;
    },
    cancel: () => getReader().cancel(),
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
