import type { Tier } from '../protocol/model.ts';

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
