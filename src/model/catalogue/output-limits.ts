import type { Vendor } from '../providers/vendors.ts';
import type { ConfiguredProvider } from '../providers/providers.ts';

/** The models of a vendor that match a pattern and answer with fewer tokens than its other models. */
interface LowLimit {
  readonly ids: RegExp;
  /** The highest limit that the vendor accepts. It refuses a request with a higher one. */
  readonly tokens: number;
}

interface VendorLimits {
  /** The lower limits. The first pattern that matches counts. */
  readonly lower: readonly LowLimit[];
  /** The limit that is used for all other models of the vendor. Their own limits are higher. */
  readonly others: number;
  /** The page with the numbers. `asOf`: the day on which they were looked up. */
  readonly source: string;
  readonly asOf: string;
}

/**
 * The default limit. It is enough for any file that a model should write at once, below the limit of each
 * current model (64,000 and more), and low enough that a budget does not reserve far more than a request costs.
 */
const DEFAULT_LIMIT = 32_000;

const LIMITS: Readonly<Record<Vendor, VendorLimits>> = {
  anthropic: {
    lower: [
      { ids: /claude-3-5-/, tokens: 8192 },
      { ids: /claude-3-7-/, tokens: DEFAULT_LIMIT },
      { ids: /claude-(3-|instant|v?2\b)/, tokens: 4096 },
    ],
    others: DEFAULT_LIMIT,
    source: 'https://platform.claude.com/docs/en/models/overview',
    asOf: '2026-11-22',
  },
  openai: {
    lower: [
      { ids: /^gpt-4o-2024-05-13/, tokens: 4096 },
      { ids: /^gpt-4-(turbo|vision|\d{4}-preview)/, tokens: 4096 },
      { ids: /^gpt-4(-0613|-0314)?$/, tokens: 8192 },
      { ids: /^gpt-3\.5-/, tokens: 4096 },
      { ids: /^(gpt-4o|chatgpt-4o|gpt-audio|gpt-5(\.\d+)?-chat)/, tokens: 16_384 },
    ],
    others: DEFAULT_LIMIT,
    source: 'https://developers.openai.com/api/docs/models',
    asOf: '2026-11-22',
  },
  google: {
    lower: [{ ids: /^gemini-(1\.|2\.0-)/, tokens: 8192 }],
    others: DEFAULT_LIMIT,
    source: 'https://ai.google.dev/gemini-api/docs/models',
    asOf: '2026-11-22',
  },
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
  const { lower: small, others } = LIMITS[vendor];
  return small.find(({ ids }) => ids.test(id))?.tokens ?? others;
}
