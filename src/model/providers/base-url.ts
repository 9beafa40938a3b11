import { type ProtocolName } from '../settings/presets.ts';
import { UsageError } from '../../base/errors.ts';
import { withoutQuotes } from '../../base/text.ts';
import { isSecretVariable } from '../../sys/secret-variables.ts';
import { OLLAMA_PORT, isPrivateHost, findVendorByUrl } from './vendors.ts';
import { isIP } from 'node:net';

/** A base URL from the configuration, split into the URL and the endpoint at its end. */
export interface ParsedBaseUrl {
  /** The URL with its query, but without an endpoint or a slash at the end of its path. */
  readonly url: URL;
  /** The protocol of the endpoint that was at the end of the path; null: there was no endpoint. */
  readonly endpoint: ProtocolName | null;
}

/** The endpoints that people copy together with the base URL. */
const ENDPOINTS: readonly { readonly path: RegExp; readonly protocol: ProtocolName }[] = [
  { path: /\/(?:chat\/)?completions?$/i, protocol: 'openai-chat' },
  { path: /(?<=\/v\d+\w*)\/chat$/i, protocol: 'openai-chat' },
  { path: /\/responses$/i, protocol: 'openai-responses' },
  { path: /\/messages(?:\/count_tokens)?$/i, protocol: 'anthropic' },
  { path: /\/models\/[^/]+:(?:stream)?generateContent$/i, protocol: 'google' },
];

/**
 * Matches the path of a list of models or of one model, which several protocols have in common. The path must
 * contain a version, because `/models` without a version may be a base path.
 */
const MODELS_PATH = /(\/v\d+\w*)\/models(?:\/[^/]+)?$/i;

/** Matches a version with a capital V at the end of a path. All APIs write it with a small v. */
const CAPITAL_VERSION = /\/V\d+\w*$/;

/** Parses an http(s) base URL. Throws UsageError for any other text. `setting`: the name of the setting, for the error. */
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
  const endpoint = ENDPOINTS.find((each) => each.path.test(path));
  const base =
    endpoint === undefined ? path.replace(MODELS_PATH, '$1') : path.replace(endpoint.path, '');
  url.pathname = base.replace(CAPITAL_VERSION, (version) => version.toLowerCase());
  return { url, endpoint: endpoint?.protocol ?? null };
}

/**
 * Throws UsageError if the query of a URL holds a key, since the URL is stored and shown. `setting` names the setting
 * and `remedy` says what to do, for the error.
 */
export function refuseSecretQuery({ url }: ParsedBaseUrl, setting: string, remedy: string): void {
  const secret = [...url.searchParams.keys()].find(
    (name) => isSecretVariable(name) || /^(?:key|sig|code|auth)$/i.test(name),
  );
  if (secret === undefined) return;
  throw new UsageError(`${setting} must not hold a key (${JSON.stringify(secret)}); ${remedy}`);
}

/** Matches a scheme, or several if a full URL was pasted behind a scheme. Slashes may be missing or be backslashes. */
const SCHEMES = /^(?:https?(?::[/\\]*|[/\\]{2}))*(https?)(?::[/\\]*|[/\\]{2})/i;

/** Parses a URL. If it has no scheme, HTTP is used for hosts of this machine and network, and HTTPS for all others. */
function toUrl(text: string): URL | null {
  const trimmed = withoutQuotes(text.trim());
  if (SCHEMES.test(trimmed)) return URL.parse(trimmed.replace(SCHEMES, '$1://'));
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(trimmed)) return URL.parse(trimmed);
  if (!/^[^/]*[.:]/.test(trimmed)) return null;
  const plain = URL.parse(`http://${trimmed}`);
  return plain !== null && isPrivateHost(plain.href) ? plain : URL.parse(`https://${trimmed}`);
}

/** The URLs under which a provider may serve its API. */
export interface CandidateUrls {
  /** The base URL in the form that the provider package expects: the package appends only the name of the endpoint. */
  readonly baseUrl: string;
  /** The base URL that is tried once if the server has no API under `baseUrl`. Default: only `baseUrl` is possible. */
  readonly otherBaseUrl?: string;
  /** The query string that is appended to the URL of every request. Default: none. */
  readonly query?: string;
}

/**
 * Finds the URLs that a base URL may mean. Some tools want the version segment in a base URL and others do not, so
 * both forms work. Servers that imitate OpenAI serve their API under many paths, so a path in the configuration is
 * tried before a known or completed path.
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
  /** Adds the URL without the version, unless a full endpoint or the host of a vendor makes the version certain. */
  const withUnversioned = (): CandidateUrls => ({
    baseUrl: atPath(path),
    ...(endpoint !== null || findVendorByUrl(url) !== null
      ? {}
      : { otherBaseUrl: atPath(removeVersion(path)) }),
  });
  switch (protocol) {
    case 'bedrock-converse':
      return { baseUrl: atPath(path), ...query };
    case 'google': {
      const isComplete = isVersioned || hasEndpoint || path.endsWith('/publishers/google');
      return { baseUrl: atPath(isComplete ? path : `${path}/v1beta`), ...query };
    }
    case 'anthropic':
      if (isVersioned) return { ...withUnversioned(), ...query };
      if (hasEndpoint)
        return { baseUrl: atPath(path), otherBaseUrl: atPath(`${path}/v1`), ...query };
      // Anthropic's tools always add the version, so every server with this protocol expects it.
      return { baseUrl: atPath(`${path}/v1`), ...query };
    case 'openai-responses':
    case 'openai-chat': {
      const known = findKnownPath(url.hostname, path);
      if (known !== null) {
        // The configured version differs from the known one, so it is tried only if the known path is wrong.
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
      // If the URL is only a host, the path with the version is tried first.
      return path === '' && !hasEndpoint
        ? { baseUrl: withVersion, otherBaseUrl: atPath(path), ...query }
        : { baseUrl: atPath(path), otherBaseUrl: withVersion, ...query };
    }
  }
}

/**
 * Converts `OLLAMA_HOST` in any of its forms (host, host:port, :port, URL) to the URL of the API. The Ollama server
 * reads the same variable, in which `0.0.0.0` means every network address. A client connects to this machine then.
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

/** Changes the URL of an Ollama server to that of its OpenAI-compatible API. The native API of Ollama is under `/api`. */
export function toOllamaApiUrl(url: URL): URL {
  const trimmed = url.pathname.replace(/\/$/, '');
  const path = findOllamaPrefix(trimmed) ?? trimmed;
  url.pathname = endsWithVersion(path) ? path : `${path}/v1`;
  return url;
}

function bracketIpv6(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** Matches the version of an API at the end of a path. */
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
 * The hosts whose OpenAI-compatible API has another path than `/v1`. `written` matches the paths, without a version,
 * that people write into the configuration; `path` is the path of the API (default: the written path).
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
  [/^api\.deepseek\.com$/, /^$/],
  [/^api\.[a-z.]*githubcopilot\.com$/, /^$/],
  [/^gateway\.ai\.cloudflare\.com$/, /^\/v1\/[^/]+\/[^/]+\/compat$/],
];

/**
 * Returns the path under which a known host serves its API. Returns null if the host is not known, or if the path is
 * not among the paths that people write for its API. If the path contains another version of the same API, this
 * version is kept.
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

/** Matches the endpoints of Ollama's native API, in place of which the OpenAI-compatible API is used. */
const OLLAMA_ENDPOINT = /\/api\/(?:chat|generate|tags|embed|embeddings|show|ps|version)$/;

/** Returns the part of a path before the path of Ollama's native API; null: the path does not belong to that API. */
function findOllamaPrefix(path: string): string | null {
  if (OLLAMA_ENDPOINT.test(path)) return path.replace(OLLAMA_ENDPOINT, '');
  return path.endsWith('/api') ? path.slice(0, -'/api'.length) : null;
}

/** Returns true if a path is an endpoint of Ollama's native API. */
function isOllamaEndpoint(path: string): boolean {
  return OLLAMA_ENDPOINT.test(path);
}
