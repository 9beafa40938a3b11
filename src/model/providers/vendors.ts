import type { Tier } from '../../protocol/model.ts';

/** A vendor whose API and models are known. */
export type Vendor = 'anthropic' | 'openai' | 'google';

interface VendorDefaults {
  readonly baseUrl: string;
  /** The environment variable for a bearer token, which has priority over the API keys. Default: there is no such variable. */
  readonly tokenVariable?: string;
  /** The environment variables for an API key. The first variable that is set is used. */
  readonly keyVariables: readonly string[];
  /** The environment variable for a base URL. */
  readonly baseUrlVariable: string;
  /**
   * The default model of each tier. The provider package knows these ids. The catalogue has a price for each of them,
   * unless the best model of the vendor is newer than the catalogue.
   */
  readonly tiers: Readonly<Record<Tier, string>>;
  /** Matches the model ids of the vendor. It finds the vendor of a model that is named without a provider. */
  readonly idPattern: RegExp;
}

/** The defaults of each vendor. */
export const VENDORS: Readonly<Record<Vendor, VendorDefaults>> = {
  anthropic: {
    baseUrl: 'https://api.anthropic.com/v1',
    // Claude Code reads the variables in the same order: https://code.claude.com/docs/en/authentication
    tokenVariable: 'ANTHROPIC_AUTH_TOKEN',
    keyVariables: ['ANTHROPIC_API_KEY'],
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    tiers: { fast: 'claude-haiku-4-5', balanced: 'claude-sonnet-5', powerful: 'claude-opus-5-5' },
    idPattern: /^claude-/,
  },
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    keyVariables: ['OPENAI_API_KEY'],
    baseUrlVariable: 'OPENAI_BASE_URL',
    tiers: { fast: 'gpt-6-luna', balanced: 'gpt-6-sol', powerful: 'gpt-6-astra' },
    idPattern: /^(gpt-|chatgpt-|codex-|o\d)/,
  },
  google: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    baseUrlVariable: 'GOOGLE_GEMINI_BASE_URL',
    tiers: {
      fast: 'gemini-3.5-flash-lite',
      balanced: 'gemini-3.8-flash',
      powerful: 'gemini-4-argon',
    },
    idPattern: /^(gemini-|gemma-)/,
  },
};

export const OLLAMA_PORT = '11434';
export const LM_STUDIO_PORT = '1234';

/** The wire protocol that a provider uses. */
export type ProtocolName = 'anthropic' | 'openai-responses' | 'openai-chat' | 'google';

/** Finds the vendor to whose server a base URL belongs; null: it belongs to no known vendor. */
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
 * Returns true for loopback, private and link-local addresses and for names of a local network. A model on such a
 * host may be slow to start.
 */
export function isPrivateHost(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  // `URL` normalizes the host: brackets mean IPv6, and four numbers IPv4. `net.isIP` is not used, because its first
  // call takes 5 ms.
  if (hostname.startsWith('[')) return /^\[(::1\]|f[cd]|fe[89ab]|::ffff:)/i.test(hostname);
  if (!/^\d+(\.\d+){3}$/.test(hostname)) {
    // A name without a dot, such as the name of a container, exists only in a local network.
    return !hostname.includes('.') || /\.(localhost|local|internal|lan)$/.test(hostname);
  }
  return /^(127|10|192\.168|169\.254|172\.(1[6-9]|2\d|3[01]))\./.test(hostname);
}
