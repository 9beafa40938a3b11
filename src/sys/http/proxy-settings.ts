import net, { isIP } from 'node:net';
import { UsageError } from '../../base/errors.ts';
import { withoutQuotes } from '../../base/text.ts';
import type { Environment } from '../env.ts';

/** The proxies that the environment names. */
export interface ProxySettings {
  /** The proxy for HTTP requests; null for direct connections. */
  readonly http: URL | null;
  /** The proxy for HTTPS requests; null for direct connections. */
  readonly https: URL | null;
  /** The value of `NO_PROXY`. */
  readonly none: string;
}

const HTTP_VARIABLES = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'];
const HTTPS_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];

/**
 * Reads the proxies from the environment. Lower-case variables take precedence. Returns null if there are no
 * proxies.
 */
export function readProxySettings(env: Environment): ProxySettings | null {
  const http = readProxy(HTTP_VARIABLES, env);
  const https = readProxy(HTTPS_VARIABLES, env);
  if (http === null && https === null) return null;
  return { http, https, none: env['no_proxy'] || env['NO_PROXY'] || '' };
}

function readProxy(variables: readonly string[], env: Environment): URL | null {
  for (const variable of variables) {
    const text = withoutQuotes(env[variable]?.trim() ?? '');
    if (text !== '') return parseProxy(text, variable);
  }
  return null;
}

const SCHEMES = new Set(['http:', 'https:', 'socks5:', 'socks:']);

/** Parses the address of a proxy. Like curl, it assumes HTTP if the scheme is missing. */
function parseProxy(text: string, variable: string): URL {
  const hasScheme = /^[a-z][a-z\d+.-]*:\/\//i.test(text);
  const url = URL.parse(hasScheme ? text.replace(/^socks5h:/i, 'socks5:') : `http://${text}`);
  // The value may contain a password.
  const named = text.includes('@') ? 'its value' : `"${text}"`;
  if (url === null || url.hostname === '' || /\s/.test(text)) {
    throw new UsageError(
      `${variable} must be the address of a proxy, such as http://proxy.example:3128 or user:password@proxy.example:3128, but ${named} is not`,
    );
  }
  if (!SCHEMES.has(url.protocol)) {
    throw new UsageError(
      `${variable} names a proxy of an unknown kind, "${url.protocol}//": it must be http, https or socks5`,
    );
  }
  if (!isDecodable(url.username) || !isDecodable(url.password)) {
    throw new UsageError(
      `${variable} contains a "%" in its user name or password that does not begin an escape: write it as %25`,
    );
  }
  return url;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    // The text contains an invalid escape.
    return false;
  }
}

/** Returns the proxy for a request; null for a direct connection. */
export function selectProxy(url: URL, { http, https, none }: ProxySettings): URL | null {
  if (isLoopback(url) || isExemptFromProxy(url, none)) return null;
  return url.protocol === 'https:' ? https : http;
}

/** Requests to loopback addresses never use a proxy, which could not reach a model on this machine. */
function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

/**
 * Tells whether `NO_PROXY` names the host of a URL. Like in curl, a name covers the host and its subdomains,
 * with or without a dot or `*.` before it. Other entries are `*`, addresses, networks such as `10.0.0.0/8`, and
 * ports.
 */
export function isExemptFromProxy(url: URL, none: string): boolean {
  const host = normalizeHostname(url.hostname);
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return none
    .toLowerCase()
    .split(/[\s,;]+/)
    .some((entry) => entry !== '' && matchesEntry(entry, host, port));
}

function matchesEntry(given: string, host: string, port: string): boolean {
  if (given === '*') return true;
  const entry = given.replace(/^[a-z]+:\/\//, '').replace(/\/$/, '');
  const network = /^\[?([\da-f.:]+)\]?\/(\d{1,3})$/.exec(entry);
  if (network !== null) return isInNetwork(host, network[1] ?? '', Number(network[2]));
  const [, name = entry, ofPort] =
    isIP(entry) === 6 ? [] : (/^(.+?)(?::(\d+))?$/.exec(entry) ?? []);
  if (ofPort !== undefined && ofPort !== port) return false;
  const wanted = normalizeHostname(name.replace(/^\*?\./, ''));
  return host === wanted || (isIP(host) === 0 && host.endsWith(`.${wanted}`));
}

function isInNetwork(host: string, address: string, bits: number): boolean {
  const family = isIP(address);
  if (family === 0 || family !== isIP(host) || bits > (family === 4 ? 32 : 128)) return false;
  const network = new net.BlockList();
  const type = family === 4 ? 'ipv4' : 'ipv6';
  network.addSubnet(address, bits, type);
  return network.check(host, type);
}

/** Removes the brackets of an IPv6 address and the dot at the end of a host name. */
function normalizeHostname(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}
