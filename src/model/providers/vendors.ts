import type { Tier } from '../../protocol/model.ts';

/** A vendor whose API and models are known. */
export type Vendor = 'anthropic' | 'openai' | 'google';

interface VendorDefaults {
  readonly baseUrl: string;
  /** The environment variable for a bearer token, which has priority over the keys. Default: there is none. */
  readonly token?: string;
  /** The environment variables for a key. The first that is set is used. */
  readonly keys: readonly string[];
  /** The environment variable for a base URL. */
  readonly baseUrlKey: string;
  /**
   * A good model of each tier for a first run. The provider package knows these ids, and the catalogue has a
   * price for them unless the vendor's best model is newer than the catalogue.
   */
  readonly tiers: Readonly<Record<Tier, string>>;
  /** Matches the vendor's own model ids. It finds the provider of an id that is given without one. */
  readonly ids: RegExp;
}

/** The defaults of each vendor. */
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

/** The wire protocol that a provider uses. */
export type ProtocolName = 'anthropic' | 'openai-responses' | 'openai-chat' | 'google';

/** Finds the vendor whose server a base URL belongs to; null: it belongs to none of them. */
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

/** Returns true if a base URL belongs to Google itself: the Gemini API or Vertex AI. */
export function isGoogleHost(baseUrl: string): boolean {
  return /(?:^|[.-])(?:generativelanguage|aiplatform)\.googleapis\.com$/.test(
    new URL(baseUrl).hostname,
  );
}

/**
 * Returns true for loopback, private and link-local addresses and for names of a local network. A model there
 * may be slow to start.
 */
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
