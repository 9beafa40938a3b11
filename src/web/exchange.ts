import { isIP, type LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { onAbort } from '../base/async.ts';
import { HeaderMap } from '../sys/http/header-map.ts';
import { createProxyAgent } from '../sys/http/proxy-client.ts';
import type { WebLimits } from './limits.ts';
import type { Hop } from './redirects.ts';
import type { Route } from './route.ts';

/** A response whose body has not been read yet, with the connection that belongs to it. */
export interface WebExchange {
  readonly status: number;
  readonly statusText: string;
  readonly headers: HeaderMap;
  readonly body: Readable;
  /** Closes the connection. Must be called in the end. */
  close(): Promise<void>;
}

interface ExchangeOptions {
  /** The headers on the wire. */
  readonly headers: Readonly<Record<string, string>>;
  readonly route: Route;
  readonly limits: WebLimits;
  readonly signal: AbortSignal;
}

/**
 * Sends one request and waits for the headers of its response. Each exchange has a connection of its own: a connection
 * that stays open could belong to an address that was checked for another task. Rejects with the errors of undici, or
 * with the signal's reason.
 */
export async function openExchange(hop: Hop, options: ExchangeOptions): Promise<WebExchange> {
  const sockets = new AbortController();
  const dispatcher = createDispatcher(options.route, options.limits, sockets.signal);
  // The library ends a request that waits for its connection only with the attempt to connect.
  const removeListener = onAbort(options.signal, () => sockets.abort());
  const close = async (): Promise<void> => {
    removeListener();
    // A connection that is being established would outlive its dispatcher.
    sockets.abort();
    await dispatcher.destroy();
  };
  try {
    const { origin, pathname, search } = hop.url;
    const response = await dispatcher.request({
      origin,
      path: `${pathname}${search}`,
      method: hop.method as Dispatcher.HttpMethod,
      headers: options.headers,
      body: hop.body ?? null,
      signal: options.signal,
    });
    const { statusCode: status, statusText, body } = response;
    // The stream reports the end of the connection, too, when nobody listens any more.
    body.on('error', () => {});
    return { status, statusText, headers: toHeaderMap(response.headers), body, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

function createDispatcher(route: Route, limits: WebLimits, signal: AbortSignal): Dispatcher {
  const { connectMs, headerBytes: maxHeaderSize } = limits;
  if (route.kind === 'proxy') {
    return createProxyAgent(route.proxy, { tunnelMs: connectMs, signal, maxHeaderSize });
  }
  return new Agent({
    // One connection for one request, which is closed after it.
    connections: 1,
    pipelining: 0,
    allowH2: false,
    // The time for everything is limited by the signal of the request.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize,
    connect: { timeout: connectMs, signal, lookup: lookupOnly(route.addresses) },
  });
}

/** Creates a function that "resolves" every host to the addresses that were checked. */
function lookupOnly(addresses: readonly string[]): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: isIP(address) }));
  return (host, { all }, callback) => {
    const [first] = entries;
    if (first === undefined) callback(new Error(`${host} has no address`), '');
    else if (all === true) callback(null, entries);
    else callback(null, first.address, first.family);
  };
}

function toHeaderMap(headers: Dispatcher.ResponseData['headers']): HeaderMap {
  const map = new HeaderMap();
  for (const [name, value] of Object.entries(headers)) {
    for (const each of [value ?? []].flat()) map.append(name, each);
  }
  return map;
}
