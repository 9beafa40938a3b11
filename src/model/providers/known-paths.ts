/** A path that ends with the version of its API. */
const VERSION = /\/v\d+\w*$/;

/** Returns true if a path ends with the version of an API. */
export function endsWithVersion(path: string): boolean {
  return VERSION.test(path);
}

/** Removes the version from the end of a path. */
export function removeVersion(path: string): string {
  return path.replace(VERSION, '');
}

/** Hosts that have their OpenAI-compatible API under another path than `/v1`. */
const KNOWN_PATHS: readonly {
  readonly host: RegExp;
  /** Matches the paths that people write, without a version. */
  readonly paths: RegExp;
  /** The path of the API. Default: the written one. */
  readonly path?: string;
}[] = [
  { host: /^api\.groq\.com$/, paths: /^(?:\/openai)?$/, path: '/openai/v1' },
  { host: /^openrouter\.ai$/, paths: /^(?:\/api)?$/, path: '/api/v1' },
  {
    host: /\.(?:openai|services\.ai|cognitiveservices)\.azure\.com$/,
    paths: /^(?:\/openai)?$/,
    path: '/openai/v1',
  },
  {
    host: /^dashscope[a-z-]*\.aliyuncs\.com$/,
    paths: /^(?:\/compatible-mode|\/api)?$/,
    path: '/compatible-mode/v1',
  },
  {
    host: /^(?:api\.z\.ai|open\.bigmodel\.cn)$/,
    paths: /^(?:\/api)?(?:\/paas)?$/,
    path: '/api/paas/v4',
  },
  {
    host: /^(?:api\.z\.ai|open\.bigmodel\.cn)$/,
    paths: /^\/api\/coding(?:\/paas)?$/,
    path: '/api/coding/paas/v4',
  },
  {
    host: /^ark\.[a-z\d.-]+\.(?:volces|bytepluses)\.com$/,
    paths: /^(?:\/api)?$/,
    path: '/api/v3',
  },
  {
    host: /^generativelanguage\.googleapis\.com$/,
    paths: /^(?:\/v1\w*)?(?:\/openai)?$/,
    path: '/v1beta/openai',
  },
  { host: /^api\.fireworks\.ai$/, paths: /^(?:\/inference)?$/, path: '/inference/v1' },
  { host: /^api\.deepinfra\.com$/, paths: /^(?:(?:\/v1)?\/openai)?$/, path: '/v1/openai' },
  {
    host: /^api\.cohere\.(?:ai|com)$/,
    paths: /^(?:\/compatibility)?$/,
    path: '/compatibility/v1',
  },
  { host: /^models\.github\.ai$/, paths: /^(?:\/inference)?$/, path: '/inference' },
  { host: /^api\.perplexity\.ai$/, paths: /^$/ },
  { host: /^api\.[a-z.]*githubcopilot\.com$/, paths: /^$/ },
  { host: /^gateway\.ai\.cloudflare\.com$/, paths: /^\/v1\/[^/]+\/[^/]+\/compat$/ },
];

/**
 * Returns the path under which a known host has its API. Returns null if the host is not known, or if people do
 * not write this path for its API. Another version of the same API is used as it is written.
 */
export function findKnownPath(host: string, path: string): string | null {
  const unversioned = removeVersion(path);
  const row = KNOWN_PATHS.find(
    (one) => one.host.test(host) && (one.paths.test(path) || one.paths.test(unversioned)),
  );
  if (row === undefined) return null;
  const known = row.path ?? unversioned;
  const isOtherVersion = endsWithVersion(known) && removeVersion(known) === unversioned;
  return isOtherVersion && endsWithVersion(path) ? path : known;
}

/** The endpoints of Ollama's native API. It also has an OpenAI-compatible one. */
const OLLAMA_ENDPOINT = /\/api\/(?:chat|generate|tags|embed|embeddings|show|ps|version)$/;

/** Returns the part of a path before that of Ollama's native API; null: it is no path of that API. */
export function findOllamaPrefix(path: string): string | null {
  if (OLLAMA_ENDPOINT.test(path)) return path.replace(OLLAMA_ENDPOINT, '');
  return path.endsWith('/api') ? path.slice(0, -'/api'.length) : null;
}

/** Returns true if a path is an endpoint of Ollama's native API. */
export function isOllamaEndpoint(path: string): boolean {
  return OLLAMA_ENDPOINT.test(path);
}
