/** A path that ends with the version of its API. */
const VERSION = /\/v\d+\w*$/;

export function endsWithVersion(path: string): boolean {
  return VERSION.test(path);
}

export function removeVersion(path: string): string {
  return path.replace(VERSION, '');
}

/** Hosts whose API, in OpenAI's protocols, is under another path than `/v1`. */
const KNOWN_PATHS: readonly {
  readonly host: RegExp;
  /** How people write the path, its version left out. */
  readonly given: RegExp;
  /** The path of the API. Absent: the given one. */
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
    given: /^(?:\/compatible-mode|\/api)?$/,
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
    given: /^(?:\/v1\w*)?(?:\/openai)?$/,
    path: '/v1beta/openai',
  },
  { host: /^api\.fireworks\.ai$/, given: /^(?:\/inference)?$/, path: '/inference/v1' },
  { host: /^api\.deepinfra\.com$/, given: /^(?:(?:\/v1)?\/openai)?$/, path: '/v1/openai' },
  { host: /^api\.cohere\.(?:ai|com)$/, given: /^(?:\/compatibility)?$/, path: '/compatibility/v1' },
  { host: /^models\.github\.ai$/, given: /^(?:\/inference)?$/, path: '/inference' },
  { host: /^api\.perplexity\.ai$/, given: /^$/ },
  { host: /^api\.[a-z.]*githubcopilot\.com$/, given: /^$/ },
  { host: /^gateway\.ai\.cloudflare\.com$/, given: /^\/v1\/[^/]+\/[^/]+\/compat$/ },
];

/**
 * Returns the path under which a known host has its API; null: the host is not known, or the path is not one
 * that is written in place of it. Another version of the same API is taken as it is given.
 */
export function findKnownPath(host: string, path: string): string | null {
  const unversioned = removeVersion(path);
  const row = KNOWN_PATHS.find(
    (one) => one.host.test(host) && (one.given.test(path) || one.given.test(unversioned)),
  );
  if (row === undefined) return null;
  const known = row.path ?? unversioned;
  const isOtherVersion = endsWithVersion(known) && removeVersion(known) === unversioned;
  return isOtherVersion && endsWithVersion(path) ? path : known;
}

/** The paths of Ollama's own API. It has another one for OpenAI's protocol beside it. */
const OLLAMA_ENDPOINT = /\/api\/(?:chat|generate|tags|embed|embeddings|show|ps|version)$/;

/** Returns what stands before the path of Ollama's own API; null: it is not one. */
export function findOllamaPrefix(path: string): string | null {
  if (OLLAMA_ENDPOINT.test(path)) return path.replace(OLLAMA_ENDPOINT, '');
  return path.endsWith('/api') ? path.slice(0, -'/api'.length) : null;
}

export function isOllamaEndpoint(path: string): boolean {
  return OLLAMA_ENDPOINT.test(path);
}
