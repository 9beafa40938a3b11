import { UsageError } from '../base/errors.ts';
import { isPrivateHost, type Protocol } from './endpoints.ts';

/** A base URL as a person has written it. */
export interface BaseUrl {
  /** Without the endpoint and a slash at the end; with its query, if it has one. */
  readonly url: URL;
  /** The protocol whose endpoint stood at its end; null: none did. */
  readonly endpoint: Protocol | null;
}

/** The endpoints that people copy along with the base URL. */
const ENDPOINTS: readonly { readonly path: RegExp; readonly protocol: Protocol }[] = [
  { path: /\/(?:chat\/)?completions$/, protocol: 'openai-chat' },
  { path: /\/responses$/, protocol: 'openai-responses' },
  { path: /\/messages(?:\/count_tokens)?$/, protocol: 'anthropic' },
  { path: /\/models\/[^/]+:(?:stream)?generateContent$/i, protocol: 'google' },
];

/** A list of models, or one of them: no endpoint of one protocol. Elsewhere `/models` may be a base path. */
const MODELS = /(\/v\d+\w*)\/models(?:\/[^/]+)?$/;

/** A path that ends with the version of its API. */
const VERSIONED = /\/v\d+\w*$/;

/** Reads a base URL of http(s); `where` names the setting in the error. */
export function parseBaseUrl(text: string, where: string): BaseUrl {
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
  url.pathname =
    endpoint === undefined ? path.replace(MODELS, '$1') : path.replace(endpoint.path, '');
  return { url, endpoint: endpoint?.protocol ?? null };
}

/** Without a scheme, a server on this machine or network is asked over HTTP and any other one over HTTPS. */
function toUrl(text: string): URL | null {
  const given = withoutQuotes(text.trim());
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(given)) return URL.parse(given);
  if (!/^[^/]*[.:]/.test(given)) return null;
  const plain = URL.parse(`http://${given}`);
  return plain !== null && isPrivateHost(plain.href) ? plain : URL.parse(`https://${given}`);
}

/** Files with `NAME="value"` that no shell reads leave the quotes in the value. */
export function withoutQuotes(text: string): string {
  const inner = /^(["'])(.*)\1$/s.exec(text)?.[2];
  return inner === undefined ? text : inner.trim();
}

/** Where requests go. */
export interface BaseUrls {
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
 * taken as it is, a bare host is none.
 */
export function baseUrls({ url, endpoint }: BaseUrl, protocol: Protocol): BaseUrls {
  const path = url.pathname.replace(/\/$/, '');
  const isWhole = endpoint === protocol || VERSIONED.test(path);
  const at = (known: string): string => `${url.origin}${known}`;
  const query = url.search === '' ? {} : { query: url.search.slice(1) };
  switch (protocol) {
    case 'google': {
      const whole = isWhole || path.endsWith('/publishers/google');
      return { baseUrl: at(whole ? path : `${path}/v1beta`), ...query };
    }
    case 'anthropic':
      if (VERSIONED.test(path)) return { baseUrl: at(path), ...query };
      if (isWhole) return { baseUrl: at(path), otherBaseUrl: at(`${path}/v1`), ...query };
      // Anthropic's own tools add it always: every server is made for that.
      return { baseUrl: at(`${path}/v1`), ...query };
    case 'openai-responses':
    case 'openai-chat': {
      const known = knownPath(url.hostname, path);
      if (known !== null) return { baseUrl: at(known), ...query };
      if (VERSIONED.test(path)) return { baseUrl: at(path), ...query };
      const withVersion = at(`${path}/v1`);
      // Requests to a bare host, without an endpoint, go to its API.
      return path === '' && !isWhole
        ? { baseUrl: withVersion, otherBaseUrl: at(path), ...query }
        : { baseUrl: at(path), otherBaseUrl: withVersion, ...query };
    }
  }
}

/** Hosts whose API, in OpenAI's protocols, is under another path than `/v1`. */
const KNOWN_PATHS: readonly {
  readonly host: RegExp;
  /** How people write it. */
  readonly given: RegExp;
  /** What it has to be. Absent: what is given. */
  readonly path?: string;
}[] = [
  { host: /^api\.groq\.com$/, given: /^(?:\/openai)?$/, path: '/openai/v1' },
  { host: /^openrouter\.ai$/, given: /^(?:\/api)?$/, path: '/api/v1' },
  {
    host: /\.(?:openai|services\.ai|cognitiveservices)\.azure\.com$/,
    given: /^(?:\/openai)?$/,
    path: '/openai/v1',
  },
  {
    host: /^dashscope[a-z-]*\.aliyuncs\.com$/,
    given: /^(?:\/compatible-mode)?$/,
    path: '/compatible-mode/v1',
  },
  {
    host: /^(?:api\.z\.ai|open\.bigmodel\.cn)$/,
    given: /^(?:\/api)?(?:\/paas)?$/,
    path: '/api/paas/v4',
  },
  {
    host: /^(?:api\.z\.ai|open\.bigmodel\.cn)$/,
    given: /^\/api\/coding(?:\/paas)?$/,
    path: '/api/coding/paas/v4',
  },
  { host: /^ark\.[a-z\d.-]+\.(?:volces|bytepluses)\.com$/, given: /^(?:\/api)?$/, path: '/api/v3' },
  {
    host: /^generativelanguage\.googleapis\.com$/,
    given: /^(?:\/v1beta)?(?:\/openai)?$/,
    path: '/v1beta/openai',
  },
  { host: /^api\.fireworks\.ai$/, given: /^(?:\/inference)?$/, path: '/inference/v1' },
  { host: /^api\.deepinfra\.com$/, given: /^(?:\/v1\/openai)?$/, path: '/v1/openai' },
  { host: /^api\.cohere\.(?:ai|com)$/, given: /^(?:\/compatibility)?$/, path: '/compatibility/v1' },
  { host: /^models\.github\.ai$/, given: /^(?:\/inference)?$/, path: '/inference' },
  { host: /^api\.perplexity\.ai$/, given: /^$/ },
  { host: /^api\.[a-z.]*githubcopilot\.com$/, given: /^$/ },
  { host: /^gateway\.ai\.cloudflare\.com$/, given: /^\/v1\/[^/]+\/[^/]+\/compat$/ },
];

function knownPath(host: string, path: string): string | null {
  const row = KNOWN_PATHS.find((one) => one.host.test(host) && one.given.test(path));
  return row === undefined ? null : (row.path ?? path);
}
