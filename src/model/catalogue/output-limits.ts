import type { Vendor } from '../providers/vendors.ts';
import type { ConfiguredProvider } from '../providers/configured-provider.ts';

/**
 * The default limit. It is enough for any file that a model should write at once, below the limit of each
 * current model (64,000 and more), and low enough that a budget does not reserve far more than a request costs.
 */
export const DEFAULT_LIMIT = 32_000;

/**
 * The models of each vendor with a lower limit, and the highest limit that the vendor accepts for them: it refuses
 * a request with a higher one. The first pattern that matches counts. All other models accept the default limit.
 * Sources, looked up on 2026-11-22: https://platform.claude.com/docs/en/models/overview,
 * https://developers.openai.com/api/docs/models, https://ai.google.dev/gemini-api/docs/models
 */
const LOWER_LIMITS: Readonly<Record<Vendor, readonly (readonly [ids: RegExp, tokens: number])[]>> =
  {
    anthropic: [
      [/claude-3-5-/, 8192],
      [/claude-3-7-/, DEFAULT_LIMIT],
      [/claude-(3-|instant|v?2\b)/, 4096],
    ],
    openai: [
      [/^gpt-4o-2024-05-13/, 4096],
      [/^gpt-4-(turbo|vision|\d{4}-preview)/, 4096],
      [/^gpt-4(-0613|-0314)?$/, 8192],
      [/^gpt-3\.5-/, 4096],
      [/^(gpt-4o|chatgpt-4o|gpt-audio|gpt-5(\.\d+)?-chat)/, 16_384],
    ],
    google: [[/^gemini-(1\.|2\.0-)/, 8192]],
  };

/** Matches the ids of each vendor that the table covers. Open models are not among them. */
const KNOWN_IDS: Readonly<Record<Vendor, RegExp>> = {
  anthropic: /claude-/,
  openai: /^(gpt-|chatgpt-|codex-|o\d)/,
  google: /^gemini-/,
};

/**
 * Finds the limit in tokens on the answer of a model, which is reserved in the budget and sent in the request.
 * Returns null if it is not known; then none is sent, since a local server refuses more than its context. The
 * catalogue is not used, since loading it would delay the first request.
 */
export function findOutputLimit(
  { protocol, vendor }: Pick<ConfiguredProvider, 'protocol' | 'vendor'>,
  id: string,
): number | null {
  // This protocol requires a limit for the models of any vendor.
  if (protocol === 'anthropic')
    return KNOWN_IDS.anthropic.test(id) ? lookUpLimit('anthropic', id) : DEFAULT_LIMIT;
  // Servers that imitate OpenAI's older protocol use different names for the limit, or refuse it.
  if (protocol === 'openai-chat' || vendor === null || !KNOWN_IDS[vendor].test(id)) return null;
  return lookUpLimit(vendor, id);
}

function lookUpLimit(vendor: Vendor, id: string): number {
  return LOWER_LIMITS[vendor].find(([ids]) => ids.test(id))?.[1] ?? DEFAULT_LIMIT;
}
