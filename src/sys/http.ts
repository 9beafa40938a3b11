import { readFile } from 'node:fs/promises';
import { errorMessage, UsageError } from '../base/errors.ts';
import type { Environment } from './env.ts';

/** What can be seen of one request on the wire. Called from inside the socket's read: be quick. */
export interface TrafficObserver {
  /** TCP and TLS are up and the request is being sent. */
  connected?(): void;
  /** A piece of the answer's body arrived. */
  bytes?(): void;
}

/** `fetch` with one more argument. Rejects as `fetch` does; a wrong proxy or CA file is a UsageError. */
export type HttpFetch = (
  url: string | URL | Request,
  init?: RequestInit,
  observer?: TrafficObserver,
) => Promise<Response>;

/** The part of an undici dispatcher that `fetch` uses. */
interface Dispatcher {
  dispatch(options: object, handler: object): boolean;
}

/**
 * No time limit here: a slow local model may think for minutes before its first byte, and whoever
 * asks has limits of its own. Idle connections outlive a usual tool call. No cap on sockets.
 */
const AGENT_OPTIONS = {
  headersTimeout: 0,
  bodyTimeout: 0,
  connectTimeout: 60_000,
  keepAliveTimeout: 30_000,
  allowH2: false,
};

/**
 * The network for model providers: Node's own `fetch`, over the proxies and certificates that the
 * environment names (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY` in both cases,
 * `SSL_CERT_FILE`; `NODE_EXTRA_CA_CERTS` is Node's own). Loads nothing where none is named.
 */
export function createHttpFetch(env: Environment): HttpFetch {
  let prepared: Promise<Dispatcher> | null = null;
  let trusted: Promise<void> | null = null;
  return async (url, init = {}, observer) => {
    // Some 40 ms, so not for a plain connection.
    if (env.SSL_CERT_FILE && isHttps(url)) await (trusted ??= trustCertificates(env.SSL_CERT_FILE));
    prepared ??= prepare(env);
    const dispatcher = observing(await prepared, observer);
    return fetch(url, Object.assign({}, init, { dispatcher }));
  };
}

function isHttps(url: string | URL | Request): boolean {
  return (url instanceof Request ? url.url : String(url)).startsWith('https:');
}

async function prepare(env: Environment): Promise<Dispatcher> {
  const proxies = proxySettings(env);
  return proxies === null
    ? (builtInAgent() ?? (await packageAgent()))
    : await proxyDispatcher(proxies);
}

export interface ProxySettings {
  readonly http: string;
  readonly https: string;
  readonly none: string;
}

/** The proxies that the environment names, lower case first; null for none. Empty: no proxy. */
export function proxySettings(env: Environment): ProxySettings | null {
  const all = env.all_proxy || env.ALL_PROXY || '';
  const http = env.http_proxy || env.HTTP_PROXY || all;
  const https = env.https_proxy || env.HTTPS_PROXY || all;
  if (http === '' && https === '') return null;
  return { http, https, none: env.no_proxy || env.NO_PROXY || '' };
}

const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1');

/**
 * An agent of the undici that is inside Node, made from the class of the global one: importing the
 * package costs every start as much as all of Node's own. Null where the global one is something
 * else, since somebody has set another.
 */
function builtInAgent(): Dispatcher | null {
  // Older versions of Node set the global when they load what is behind `fetch`: this loads it.
  Reflect.construct(Headers, []);
  const shared: unknown = Reflect.get(globalThis, GLOBAL_DISPATCHER);
  if (!isDispatcher(shared) || shared.constructor.name !== 'Agent') return null;
  const agent: unknown = Reflect.construct(shared.constructor, [AGENT_OPTIONS]);
  return isDispatcher(agent) ? agent : null;
}

/** The package's agents have handlers of their own generation; the wrapper takes Node's as well. */
async function packageAgent(): Promise<Dispatcher> {
  const { Agent, Dispatcher1Wrapper } = await import('undici');
  return new Dispatcher1Wrapper(new Agent(AGENT_OPTIONS));
}

function isDispatcher(value: unknown): value is Dispatcher {
  return (
    typeof value === 'object' &&
    value !== null &&
    'dispatch' in value &&
    typeof value.dispatch === 'function'
  );
}

/** Loopback never goes through a proxy: there is no other way to a model on this machine. */
async function proxyDispatcher(proxies: ProxySettings): Promise<Dispatcher> {
  const direct = await packageAgent();
  const { EnvHttpProxyAgent, Dispatcher1Wrapper } = await import('undici');
  const proxied: Dispatcher = new Dispatcher1Wrapper(
    proxyAgent(EnvHttpProxyAgent, {
      ...AGENT_OPTIONS,
      httpProxy: proxies.http,
      httpsProxy: proxies.https,
      noProxy: proxies.none,
    }),
  );
  return {
    dispatch(options, handler) {
      const origin = 'origin' in options ? String(options.origin) : '';
      return (isLoopback(origin) ? direct : proxied).dispatch(options, handler);
    },
  };
}

function proxyAgent<A, O>(Agent: new (options: O) => A, options: O): A {
  try {
    return new Agent(options);
  } catch (thrown) {
    throw new UsageError(
      `The proxy in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY is not usable: ${errorMessage(thrown)}`,
      { cause: thrown },
    );
  }
}

function isLoopback(origin: string): boolean {
  const { hostname } = new URL(origin);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

/** Adds the certificates of a PEM file to those that this process trusts. */
async function trustCertificates(file: string): Promise<void> {
  const tls = await import('node:tls');
  let pem: string;
  try {
    pem = await readFile(file, 'utf8');
  } catch (thrown) {
    throw new UsageError(`SSL_CERT_FILE cannot be read: ${errorMessage(thrown)}`, {
      cause: thrown,
    });
  }
  const own = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (own === null) throw new UsageError(`SSL_CERT_FILE holds no PEM certificate: ${file}`);
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), ...own]);
}

function observing(dispatcher: Dispatcher, observer: TrafficObserver | undefined): Dispatcher {
  if (observer === undefined) return dispatcher;
  return {
    dispatch: (options, handler) => dispatcher.dispatch(options, observed(handler, observer)),
  };
}

/**
 * The handler as it was, telling the observer first. Node's `fetch` speaks one of two generations
 * of handlers by its version; each names its callbacks differently.
 */
function observed(handler: object, observer: TrafficObserver): object {
  const wrapper: object = Object.create(handler);
  before(wrapper, 'onConnect', () => observer.connected?.());
  before(wrapper, 'onRequestStart', () => observer.connected?.());
  before(wrapper, 'onData', () => observer.bytes?.());
  before(wrapper, 'onResponseData', () => observer.bytes?.());
  return wrapper;
}

function before(wrapper: object, name: string, tell: () => void): void {
  const callback: unknown = Reflect.get(wrapper, name);
  if (typeof callback !== 'function') return;
  const value = (...args: unknown[]): unknown => {
    tell();
    return Reflect.apply(callback, wrapper, args);
  };
  Object.defineProperty(wrapper, name, { value, configurable: true, writable: true });
}
