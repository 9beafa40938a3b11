import { rejectOnAbort } from '../base/async.ts';
import { MusterError, systemErrorCode } from '../base/errors.ts';
import type { WebRequest } from '../protocol/web.ts';
import {
  classifyAddress,
  isLocalhost,
  normalizeAddress,
  withoutBrackets,
  type AddressKind,
} from './address.ts';
import { webError } from './web-errors.ts';

/** Finds the IP addresses of a host. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** The way of a request: directly to one of the addresses that were checked, or through a proxy. */
export type Route =
  | { readonly kind: 'direct'; readonly addresses: readonly string[] }
  | { readonly kind: 'proxy'; readonly proxy: URL };

interface RouteOptions {
  /** The proxy that the user's environment names for the URL; null: there is none. */
  readonly proxy: URL | null;
  readonly resolve: ResolveHost;
  readonly allowsPrivate: WebRequest['allowsPrivate'];
  /** The time to resolve the host. */
  readonly lookupMs: number;
  /** The time to resolve a host that a proxy resolves as well. */
  readonly proxiedLookupMs: number;
  readonly signal: AbortSignal;
}

/** The addresses of `localhost` and all names below it, which no resolver is asked for (RFC 6761). */
const LOCALHOST_ADDRESSES = ['127.0.0.1', '::1'];

/**
 * Resolves the host of a URL and checks all of its addresses. Throws PERMISSION_DENIED if one of them is not public and
 * no rule names it.
 */
export async function findRoute(url: URL, options: RouteOptions): Promise<Route> {
  const host = withoutBrackets(url.hostname);
  const addresses = await findAddresses(url, host, options);
  for (const address of addresses) checkAddress(url, address, options.allowsPrivate);
  // A proxy would look for this machine at its own place.
  const isHere =
    addresses.length > 0 && addresses.every((each) => classifyAddress(each) === 'loopback');
  if (options.proxy !== null && !isHere) return { kind: 'proxy', proxy: options.proxy };
  return { kind: 'direct', addresses };
}

async function findAddresses(
  url: URL,
  host: string,
  options: RouteOptions,
): Promise<readonly string[]> {
  if (classifyAddress(host) !== 'invalid') return [host];
  if (isLocalhost(host)) return LOCALHOST_ADDRESSES;
  const { resolve, signal, proxy } = options;
  const limitMs = proxy === null ? options.lookupMs : options.proxiedLookupMs;
  const limit = AbortSignal.timeout(limitMs);
  try {
    const addresses = await rejectOnAbort(rejectOnAbort(resolve(host), limit), signal);
    if (addresses.length > 0 || proxy !== null) return addresses;
    throw webError('NOT_FOUND', url, `the host ${host} has no address; check its spelling`);
  } catch (thrown) {
    if (signal.aborted || thrown instanceof MusterError) throw thrown;
    // Behind a proxy, names of the web often cannot be resolved.
    if (proxy !== null) return [];
    throw describeLookupFailure(url, host, thrown);
  }
}

function describeLookupFailure(url: URL, host: string, thrown: unknown): MusterError {
  const code = systemErrorCode(thrown) ?? '';
  if (code === 'ENOTFOUND' || code === 'ENODATA') {
    const text = `there is no host ${host} (${code}); check its spelling`;
    return webError('NOT_FOUND', url, text, thrown);
  }
  const text = `the host ${host} could not be resolved${code === '' ? ' in time' : ` (${code})`}; the machine may be offline`;
  return webError(code === '' ? 'TIMEOUT' : 'PROVIDER_ERROR', url, text, thrown);
}

/** The names of kinds in messages. */
const KIND_NAMES: Readonly<Record<Exclude<AddressKind, 'public'>, string>> = {
  loopback: 'a loopback address (this machine)',
  private: 'an address of a private network',
  'link-local': 'a link-local address',
  metadata: 'an address of a cloud metadata service',
  unspecified: 'an unspecified address',
  multicast: 'a multicast or broadcast address',
  translated: 'an address that is translated into another one',
  reserved: 'a reserved address',
  invalid: 'not an IP address',
};

function checkAddress(url: URL, text: string, allowsPrivate: WebRequest['allowsPrivate']): void {
  const kind = classifyAddress(text);
  if (kind === 'public') return;
  const address = normalizeAddress(text);
  const host = url.hostname;
  if (kind !== 'invalid' && allowsPrivate({ host, address })) return;
  const isName = withoutBrackets(host) !== text;
  const subject = isName ? `${host} stands for ${address}, which` : address;
  const problem = `no request was sent: ${subject} is ${KIND_NAMES[kind]}. Only a permission rule of the user that names this address allows that.`;
  throw webError('PERMISSION_DENIED', url, problem);
}
