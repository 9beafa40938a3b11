import { UsageError } from '../../base/errors.ts';
import { withoutQuotes } from '../../base/text.ts';
import { OLLAMA_PORT, type ProtocolName, isPrivateHost, findVendorByUrl } from './vendors.ts';
import {
  findOllamaPrefix,
  endsWithVersion,
  isOllamaEndpoint,
  findKnownPath,
  removeVersion,
} from './known-paths.ts';
import { isIP } from 'node:net';

/** A base URL as a person has written it. */
export interface ParsedBaseUrl {
  /** Without the endpoint and a slash at the end; with its query, if it has one. */
  readonly url: URL;
  /** The protocol whose endpoint stood at its end; null: none did. */
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

/** A list of models, or one of them: no endpoint of one protocol. Elsewhere `/models` may be a base path. */
const MODELS = /(\/v\d+\w*)\/models(?:\/[^/]+)?$/i;

/** A version in capitals at the end of a path: no API has it so. */
const CAPITAL_VERSION = /\/V\d+\w*$/;

/** Reads a base URL of http(s); `where` names the setting in the error. */
export function parseBaseUrl(text: string, where: string): ParsedBaseUrl {
  const url = toUrl(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${where} must be a URL such as https://host/v1, but is "${text}"`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError(`${where} must not hold a user name or password`);
  }
  url.hash = '';
  const path = url.pathname.replace(/\/{2,}/g, '/').replace(/\/$/, '');
  const endpoint = ENDPOINTS.find((one) => one.path.test(path));
  const base =
    endpoint === undefined ? path.replace(MODELS, '$1') : path.replace(endpoint.path, '');
  url.pathname = base.replace(CAPITAL_VERSION, (version) => version.toLowerCase());
  return { url, endpoint: endpoint?.protocol ?? null };
}

/** A scheme, or several where a whole URL was pasted after one, with slashes missing or turned around. */
const SCHEMES = /^(?:https?(?::[/\\]*|[/\\]{2}))*(https?)(?::[/\\]*|[/\\]{2})/i;

/** Without a scheme, a server on this machine or network is asked over HTTP and any other one over HTTPS. */
function toUrl(text: string): URL | null {
  const given = withoutQuotes(text.trim());
  if (SCHEMES.test(given)) return URL.parse(given.replace(SCHEMES, '$1://'));
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(given)) return URL.parse(given);
  if (!/^[^/]*[.:]/.test(given)) return null;
  const plain = URL.parse(`http://${given}`);
  return plain !== null && isPrivateHost(plain.href) ? plain : URL.parse(`https://${given}`);
}

/** The addresses that requests go to. */
export interface CandidateUrls {
  /** As the package of the protocol wants it: it adds no more than the name of the endpoint. */
  readonly baseUrl: string;
  /** Tried once where the server knows nothing under the first. Absent: there is no doubt. */
  readonly otherBaseUrl?: string;
  /** Stands behind every address that is asked. Absent: nothing does. */
  readonly query?: string;
}

/**
 * Returns the addresses that a base URL may mean. Tools differ in whether they want the version segment in it,
 * so both work. Servers that imitate OpenAI have their API under many paths: one that a person has written is
 * asked first, a bare host is none.
 */
export function findCandidateUrls(
  { url, endpoint }: ParsedBaseUrl,
  protocol: ProtocolName,
): CandidateUrls {
  const path = url.pathname.replace(/\/$/, '');
  const isVersioned = endsWithVersion(path);
  const hasEndpoint = endpoint === protocol;
  const at = (known: string): string => `${url.origin}${known}`;
  const query = url.search === '' ? {} : { query: url.search.slice(1) };
  /** A full endpoint and a vendor's own address leave no doubt about the version. */
  const withoutVersionToo = (): CandidateUrls => ({
    baseUrl: at(path),
    ...(endpoint !== null || findVendorByUrl(url) !== null
      ? {}
      : { otherBaseUrl: at(removeVersion(path)) }),
  });
  switch (protocol) {
    case 'google': {
      const isComplete = isVersioned || hasEndpoint || path.endsWith('/publishers/google');
      return { baseUrl: at(isComplete ? path : `${path}/v1beta`), ...query };
    }
    case 'anthropic':
      if (isVersioned) return { ...withoutVersionToo(), ...query };
      if (hasEndpoint) return { baseUrl: at(path), otherBaseUrl: at(`${path}/v1`), ...query };
      // Anthropic's own tools add it always: every server is made for that.
      return { baseUrl: at(`${path}/v1`), ...query };
    case 'openai-responses':
    case 'openai-chat': {
      const known = findKnownPath(url.hostname, path);
      if (known !== null) {
        // A version that the host is not known to have is asked for only where the known path is wrong.
        const other = isVersioned && path !== known ? { otherBaseUrl: at(path) } : {};
        return { baseUrl: at(known), ...other, ...query };
      }
      if (isVersioned) return { ...withoutVersionToo(), ...query };
      const beforeApi = findOllamaPrefix(path);
      if (
        beforeApi !== null &&
        !hasEndpoint &&
        (url.port === OLLAMA_PORT || isOllamaEndpoint(path))
      ) {
        const other = { otherBaseUrl: at(`${beforeApi}/api`) };
        return { baseUrl: at(`${beforeApi}/v1`), ...other, ...query };
      }
      const withVersion = at(`${path}/v1`);
      // Requests to a bare host, without an endpoint, go to its API.
      return path === '' && !hasEndpoint
        ? { baseUrl: withVersion, otherBaseUrl: at(path), ...query }
        : { baseUrl: at(path), otherBaseUrl: withVersion, ...query };
    }
  }
}

/**
 * `OLLAMA_HOST` in any of its spellings (host, host:port, :port, URL) as a URL. It is the server's
 * setting too, where `0.0.0.0` means every address: for a client that is this machine.
 */
export function parseOllamaHost(host: string): URL {
  const text = withoutQuotes(host.trim());
  const withScheme = /^[a-z]+:\/\//i.test(text) ? text : `http://${bracketed(text)}`;
  const hostless = withScheme.replace(/^(https?:\/\/):/i, '$1127.0.0.1:');
  const { url } = parseBaseUrl(hostless, 'OLLAMA_HOST');
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1';
  const names = /^[a-z]+:\/\/(\[[^\]]*\]|[^/:]*):\d+/i.test(hostless);
  // With a scheme Ollama takes the scheme's own port.
  if (!names && withScheme !== text) url.port = OLLAMA_PORT;
  return toOllamaApiUrl(url);
}

/** Ollama's OpenAI-compatible API, which stands beside its own one under `/api`. */
export function toOllamaApiUrl(url: URL): URL {
  const given = url.pathname.replace(/\/$/, '');
  const path = findOllamaPrefix(given) ?? given;
  url.pathname = endsWithVersion(path) ? path : `${path}/v1`;
  return url;
}

function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}
