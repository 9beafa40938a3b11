import { type ProtocolName } from '../settings/presets.ts';
import { UsageError } from '../../base/errors.ts';
import { withoutQuotes } from '../../base/text.ts';
import { OLLAMA_PORT, isPrivateHost, findVendorByUrl } from './vendors.ts';
import { isIP } from 'node:net';

/** A parsed base URL as a person has written it. */
export interface ParsedBaseUrl {
  /** The URL without an endpoint or a slash at the end of its path, with its query if it has one. */
  readonly url: URL;
  /** The protocol whose endpoint was at the end of the path; null: there was none. */
  readonly endpoint: ProtocolName | null;
}

/** The endpoints that people copy along with the base URL. */
const ENDPOINTS: readonly { readonly path: RegExp; readonly protocol: ProtocolName }[] = [
  { path: /\/(?:chat\/)?completions?$/i, protocol: 'openai-chat' },
  { path: /(?<=\/v\d+\w*)\/chat$/i, protocol: 'openai-chat' },
  { path: /\/responses$/i, protocol: 'openai-responses' },
  { path: /\/messages(?:\/count_tokens)?$/i, protocol: 'anthropic' },
  { path: /\/models\/[^/]+:(?:stream)?generateContent$/i, protocol: 'google' },
];

/**
 * A list of models, or one of them, which is no endpoint of one protocol. Without a version before it, `/models`
 * may be a base path.
 */
const MODELS = /(\/v\d+\w*)\/models(?:\/[^/]+)?$/i;

/** A version in capitals at the end of a path. No API writes it like that. */
const CAPITAL_VERSION = /\/V\d+\w*$/;

/** Parses an http(s) base URL. `setting` is named in the UsageError that it throws for any other text. */
export function parseBaseUrl(text: string, setting: string): ParsedBaseUrl {
  const url = toUrl(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    // The value may contain a password.
    const shown = text.includes('@') ? 'its value is not' : `is "${text}"`;
    throw new UsageError(`${setting} must be a URL such as https://host/v1, but ${shown}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError(`${setting} must not hold a user name or password`);
  }
  url.hash = '';
  const path = url.pathname.replace(/\/{2,}/g, '/').replace(/\/$/, '');
  const endpoint = ENDPOINTS.find((one) => one.path.test(path));
  const base =
    endpoint === undefined ? path.replace(MODELS, '$1') : path.replace(endpoint.path, '');
  url.pathname = base.replace(CAPITAL_VERSION, (version) => version.toLowerCase());
  return { url, endpoint: endpoint?.protocol ?? null };
}

/** A scheme, or several if a full URL was pasted after one. Slashes may be missing or backslashes. */
const SCHEMES = /^(?:https?(?::[/\\]*|[/\\]{2}))*(https?)(?::[/\\]*|[/\\]{2})/i;

/** Parses a URL. Without a scheme, HTTP is used for this machine and network and HTTPS for any other host. */
function toUrl(text: string): URL | null {
  const trimmed = withoutQuotes(text.trim());
  if (SCHEMES.test(trimmed)) return URL.parse(trimmed.replace(SCHEMES, '$1://'));
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(trimmed)) return URL.parse(trimmed);
  if (!/^[^/]*[.:]/.test(trimmed)) return null;
  const plain = URL.parse(`http://${trimmed}`);
  return plain !== null && isPrivateHost(plain.href) ? plain : URL.parse(`https://${trimmed}`);
}

/** The addresses under which the API of a provider may be. */
export interface CandidateUrls {
  /** The base URL in the form that the provider package expects: it appends only the name of the endpoint. */
  readonly baseUrl: string;
  /** The base URL that is tried once if the server has no API under the first one. Default: there is no doubt. */
  readonly otherBaseUrl?: string;
  /** The query string that is appended to the address of every request. Default: none. */
  readonly query?: string;
}

/**
 * Finds the addresses that a base URL may mean. Some tools want the version segment in a base URL and others do
 * not, so both forms work. Servers that imitate OpenAI have their API under many paths: a path that a person has
 * written is tried first.
 */
export function findCandidateUrls(
  { url, endpoint }: ParsedBaseUrl,
  protocol: ProtocolName,
): CandidateUrls {
  const path = url.pathname.replace(/\/$/, '');
  const isVersioned = endsWithVersion(path);
  const hasEndpoint = endpoint === protocol;
  const atPath = (known: string): string => `${url.origin}${known}`;
  const query = url.search === '' ? {} : { query: url.search.slice(1) };
  /** Adds the address without the version, unless a full endpoint or a vendor's host leaves no doubt. */
  const withUnversioned = (): CandidateUrls => ({
    baseUrl: atPath(path),
    ...(endpoint !== null || findVendorByUrl(url) !== null
      ? {}
      : { otherBaseUrl: atPath(removeVersion(path)) }),
  });
  switch (protocol) {
    case 'google': {
      const isComplete = isVersioned || hasEndpoint || path.endsWith('/publishers/google');
      return { baseUrl: atPath(isComplete ? path : `${path}/v1beta`), ...query };
    }
    case 'anthropic':
      if (isVersioned) return { ...withUnversioned(), ...query };
      if (hasEndpoint)
        return { baseUrl: atPath(path), otherBaseUrl: atPath(`${path}/v1`), ...query };
      // Anthropic's own tools always add the version, so every server expects it.
      return { baseUrl: atPath(`${path}/v1`), ...query };
    case 'openai-responses':
    case 'openai-chat': {
      const known = findKnownPath(url.hostname, path);
      if (known !== null) {
        // A version that the host is not known to have is tried only if the known path is wrong.
        const other = isVersioned && path !== known ? { otherBaseUrl: atPath(path) } : {};
        return { baseUrl: atPath(known), ...other, ...query };
      }
      if (isVersioned) return { ...withUnversioned(), ...query };
      const ollamaPrefix = findOllamaPrefix(path);
      if (
        ollamaPrefix !== null &&
        !hasEndpoint &&
        (url.port === OLLAMA_PORT || isOllamaEndpoint(path))
      ) {
        const other = { otherBaseUrl: atPath(`${ollamaPrefix}/api`) };
        return { baseUrl: atPath(`${ollamaPrefix}/v1`), ...other, ...query };
      }
      const withVersion = atPath(`${path}/v1`);
      // Requests to a bare host, without an endpoint, go to its API.
      return path === '' && !hasEndpoint
        ? { baseUrl: withVersion, otherBaseUrl: atPath(path), ...query }
        : { baseUrl: atPath(path), otherBaseUrl: withVersion, ...query };
    }
  }
}

/**
 * Converts `OLLAMA_HOST` in any of its forms (host, host:port, :port, URL) to the URL of the API. The server
 * uses the same setting, in which `0.0.0.0` means every address; for a client that is this machine.
 */
export function parseOllamaHost(host: string): URL {
  const text = withoutQuotes(host.trim());
  const withScheme = /^[a-z]+:\/\//i.test(text) ? text : `http://${bracketIpv6(text)}`;
  const hostless = withScheme.replace(/^(https?:\/\/):/i, '$1127.0.0.1:');
  const { url } = parseBaseUrl(hostless, 'OLLAMA_HOST');
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1';
  const namesPort = /^[a-z]+:\/\/(\[[^\]]*\]|[^/:]*):\d+/i.test(hostless);
  // With a scheme, Ollama uses the default port of the scheme.
  if (!namesPort && withScheme !== text) url.port = OLLAMA_PORT;
  return toOllamaApiUrl(url);
}

/** Changes the URL to that of Ollama's OpenAI-compatible API. Its native API is under `/api`. */
export function toOllamaApiUrl(url: URL): URL {
  const trimmed = url.pathname.replace(/\/$/, '');
  const path = findOllamaPrefix(trimmed) ?? trimmed;
  url.pathname = endsWithVersion(path) ? path : `${path}/v1`;
  return url;
}

function bracketIpv6(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** A path that ends with the version of its API. */
const VERSION = /\/v\d+\w*$/;

/** Returns true if a path ends with the version of an API. */
function endsWithVersion(path: string): boolean {
  return VERSION.test(path);
}

/** Removes the version from the end of a path. */
function removeVersion(path: string): string {
  return path.replace(VERSION, '');
}

/**
 * The hosts that have their OpenAI-compatible API under another path than `/v1`: the paths that people write,
 * without a version, and the path of the API. Default for the path of the API: the written one.
 */
const KNOWN_PATHS: readonly (readonly [host: RegExp, written: RegExp, path?: string])[] = [
  [/^api\.groq\.com$/, /^(?:\/openai)?$/, '/openai/v1'],
  [/^openrouter\.ai$/, /^(?:\/api)?$/, '/api/v1'],
  [/\.(?:openai|services\.ai|cognitiveservices)\.azure\.com$/, /^(?:\/openai)?$/, '/openai/v1'],
  [/^dashscope[a-z-]*\.aliyuncs\.com$/, /^(?:\/compatible-mode|\/api)?$/, '/compatible-mode/v1'],
  [/^(?:api\.z\.ai|open\.bigmodel\.cn)$/, /^(?:\/api)?(?:\/paas)?$/, '/api/paas/v4'],
  [/^(?:api\.z\.ai|open\.bigmodel\.cn)$/, /^\/api\/coding(?:\/paas)?$/, '/api/coding/paas/v4'],
  [/^ark\.[a-z\d.-]+\.(?:volces|bytepluses)\.com$/, /^(?:\/api)?$/, '/api/v3'],
  [/^generativelanguage\.googleapis\.com$/, /^(?:\/v1\w*)?(?:\/openai)?$/, '/v1beta/openai'],
  [/^api\.fireworks\.ai$/, /^(?:\/inference)?$/, '/inference/v1'],
  [/^api\.deepinfra\.com$/, /^(?:(?:\/v1)?\/openai)?$/, '/v1/openai'],
  [/^api\.cohere\.(?:ai|com)$/, /^(?:\/compatibility)?$/, '/compatibility/v1'],
  [/^models\.github\.ai$/, /^(?:\/inference)?$/, '/inference'],
  [/^api\.perplexity\.ai$/, /^$/, '/v1'],
  [/^api\.[a-z.]*githubcopilot\.com$/, /^$/],
  [/^gateway\.ai\.cloudflare\.com$/, /^\/v1\/[^/]+\/[^/]+\/compat$/],
];

/**
 * Returns the path under which a known host has its API. Returns null if the host is not known, or if people do
 * not write this path for its API. Another version of the same API is used as it is written.
 */
function findKnownPath(host: string, path: string): string | null {
  const unversioned = removeVersion(path);
  const row = KNOWN_PATHS.find(
    ([hosts, paths]) => hosts.test(host) && (paths.test(path) || paths.test(unversioned)),
  );
  if (row === undefined) return null;
  const known = row[2] ?? unversioned;
  const isOtherVersion = endsWithVersion(known) && removeVersion(known) === unversioned;
  return isOtherVersion && endsWithVersion(path) ? path : known;
}

/** The endpoints of Ollama's native API. It also has an OpenAI-compatible one. */
const OLLAMA_ENDPOINT = /\/api\/(?:chat|generate|tags|embed|embeddings|show|ps|version)$/;

/** Returns the part of a path before that of Ollama's native API; null: it is no path of that API. */
function findOllamaPrefix(path: string): string | null {
  if (OLLAMA_ENDPOINT.test(path)) return path.replace(OLLAMA_ENDPOINT, '');
  return path.endsWith('/api') ? path.slice(0, -'/api'.length) : null;
}

/** Returns true if a path is an endpoint of Ollama's native API. */
function isOllamaEndpoint(path: string): boolean {
  return OLLAMA_ENDPOINT.test(path);
}
