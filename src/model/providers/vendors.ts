import type { Tier } from '../../protocol/model.ts';

export type Vendor = 'anthropic' | 'openai' | 'google';

interface VendorDefaults {
  readonly baseUrl: string;
  /** The environment variable that may hold a bearer token, which goes before the keys. Absent: there is none. */
  readonly token?: string;
  /** Environment variables that hold a key, the first that is set wins. */
  readonly keys: readonly string[];
  readonly baseUrlKey: string;
  /**
   * A good model of each tier for a first run: ids that the provider package knows and, but where
   * the vendor's best is newer than the catalogue, that the catalogue has a price for.
   */
  readonly tiers: Readonly<Record<Tier, string>>;
  /** What the vendor's own ids look like: how a bare id finds its provider. */
  readonly ids: RegExp;
}

export const VENDORS: Readonly<Record<Vendor, VendorDefaults>> = {
  anthropic: {
    baseUrl: 'https://api.anthropic.com/v1',
    // Claude Code's order: https://code.claude.com/docs/en/authentication
    token: 'ANTHROPIC_AUTH_TOKEN',
    keys: ['ANTHROPIC_API_KEY'],
    baseUrlKey: 'ANTHROPIC_BASE_URL',
    tiers: { fast: 'claude-haiku-4-5', balanced: 'claude-sonnet-5', powerful: 'claude-opus-5-5' },
    ids: /^claude-/,
  },
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    keys: ['OPENAI_API_KEY'],
    baseUrlKey: 'OPENAI_BASE_URL',
    tiers: { fast: 'gpt-6-luna', balanced: 'gpt-6-sol', powerful: 'gpt-6-astra' },
    ids: /^(gpt-|chatgpt-|codex-|o\d)/,
  },
  google: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    baseUrlKey: 'GOOGLE_GEMINI_BASE_URL',
    tiers: {
      fast: 'gemini-3.5-flash-lite',
      balanced: 'gemini-3.8-flash',
      powerful: 'gemini-4-argon',
    },
    ids: /^(gemini-|gemma-)/,
  },
};

export const OLLAMA_PORT = '11434';
export const LM_STUDIO_PORT = '1234';

/** The protocol in which a provider is spoken to. */
export type ProtocolName = 'anthropic' | 'openai-responses' | 'openai-chat' | 'google';

/** Returns the vendor whose server a base URL belongs to; null: another one's, or not known. */
export function findVendorByUrl(url: URL): Vendor | null {
  if (url.hostname === 'api.openai.com') return 'openai';
  if (url.hostname === 'api.anthropic.com' || /\/anthropic(\/v1)?$/.test(url.pathname)) {
    return 'anthropic';
  }
  if (url.hostname === 'generativelanguage.googleapis.com') {
    return url.pathname.endsWith('/openai') ? null : 'google';
  }
  return null;
}

/** Whether Google itself answers there: the Gemini API or Vertex AI. */
export function isGoogleHost(baseUrl: string): boolean {
  return /(?:^|[.-])(?:generativelanguage|aiplatform)\.googleapis\.com$/.test(
    new URL(baseUrl).hostname,
  );
}

/** Loopback, private and link-local addresses and names: a model there may be slow to start. */
export function isPrivateHost(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  // A URL's host is normalised: brackets mean IPv6, four numbers IPv4. `net.isIP` costs 5 ms at
  // its first call.
  if (hostname.startsWith('[')) return /^\[(::1\]|f[cd]|fe[89ab]|::ffff:)/i.test(hostname);
  if (!/^\d+(\.\d+){3}$/.test(hostname)) {
    // Only a local network knows names without a dot, such as those of containers.
    return !hostname.includes('.') || /\.(localhost|local|internal|lan)$/.test(hostname);
  }
  return /^(127|10|192\.168|169\.254|172\.(1[6-9]|2\d|3[01]))\./.test(hostname);
}
