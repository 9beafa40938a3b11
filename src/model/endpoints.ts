import { isIP } from 'node:net';
import { UsageError } from '../base/errors.ts';
import { OLLAMA_PORT, type Vendor } from './defaults.ts';

/** How a provider is spoken to. */
export type Protocol = 'anthropic' | 'openai-responses' | 'openai-chat' | 'google';

/** An absolute http(s) URL without a slash at the end; `where` names the setting in the error. */
export function parseBaseUrl(text: string, where: string): URL {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${where} must be a URL such as https://host/v1, but is "${text}"`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError(`${where} must not hold a user name or password`);
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  url.search = '';
  url.hash = '';
  return url;
}

/**
 * The base URL as its protocol's package wants it. Anthropic's and Google's own tools take it
 * without the version segment, other tools with it: both work. OpenAI's is taken as it is, but for
 * a bare host, which never is an API.
 */
export function versioned(url: URL, protocol: Protocol): string {
  const base = url.href.replace(/\/+$/, '');
  switch (protocol) {
    case 'anthropic':
      return /\/v\d+$/.test(base) ? base : `${base}/v1`;
    case 'google':
      return /\/v\d+\w*$/.test(base) ? base : `${base}/v1beta`;
    case 'openai-responses':
    case 'openai-chat':
      return url.pathname === '/' ? `${base}/v1` : base;
  }
}

/** What a base URL says about who answers there. */
export function vendorOf(url: URL): Vendor | null {
  if (url.hostname === 'api.openai.com') return 'openai';
  if (url.hostname === 'api.anthropic.com' || /\/anthropic(\/v1)?$/.test(url.pathname)) {
    return 'anthropic';
  }
  if (url.hostname === 'generativelanguage.googleapis.com') {
    return url.pathname.endsWith('/openai') ? null : 'google';
  }
  return null;
}

/**
 * `OLLAMA_HOST` in any of its spellings (host, host:port, :port, URL) as a URL. It is the server's
 * setting too, where `0.0.0.0` means every address: for a client that is this machine.
 */
export function ollamaUrl(host: string): URL {
  const text = host.trim();
  const withScheme = /^[a-z]+:\/\//i.test(text) ? text : `http://${bracketed(text)}`;
  const hostless = withScheme.replace(/^(https?:\/\/):/i, '$1127.0.0.1:');
  const url = parseBaseUrl(hostless, 'OLLAMA_HOST');
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1';
  const names = /^[a-z]+:\/\/(\[[^\]]*\]|[^/:]*):\d+/i.test(hostless);
  // With a scheme Ollama takes the scheme's own port.
  if (!names && withScheme !== text) url.port = OLLAMA_PORT;
  return url;
}

function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** Loopback, private and link-local addresses and names: a model there may be slow to start. */
export function isPrivateHost(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  // A URL's host is normalised: brackets mean IPv6, four numbers IPv4. `net.isIP` costs 5 ms at
  // its first call.
  if (hostname.startsWith('[')) return /^\[(::1\]|f[cd]|fe[89ab]|::ffff:)/i.test(hostname);
  if (!/^\d+(\.\d+){3}$/.test(hostname)) {
    return /^localhost$|\.(localhost|local|internal|lan)$/.test(hostname);
  }
  return /^(127|10|192\.168|169\.254|172\.(1[6-9]|2\d|3[01]))\./.test(hostname);
}
