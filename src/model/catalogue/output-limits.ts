import type { Vendor } from '../providers/vendors.ts';
import type { ConfiguredProvider } from '../providers/providers.ts';

/** Models of a vendor that answer with fewer tokens than the rest; the first pattern that fits. */
interface SmallModels {
  readonly ids: RegExp;
  /** The most that the vendor takes; it refuses a request that asks for more. */
  readonly tokens: number;
}

interface VendorLimits {
  readonly small: readonly SmallModels[];
  /** Of all other models of the vendor, whose own limits are higher. */
  readonly others: number;
  /** Where the numbers are from, and the day they were looked up. */
  readonly source: string;
  readonly asOf: string;
}

/**
 * Enough for any file that a model should write at once, within what each current model may do (64,000
 * and more), and not so much that a budget holds back far more than a request ever costs.
 */
const USUAL = 32_000;

const LIMITS: Readonly<Record<Vendor, VendorLimits>> = {
  anthropic: {
    small: [
      { ids: /claude-3-5-/, tokens: 8192 },
      { ids: /claude-3-7-/, tokens: USUAL },
      { ids: /claude-(3-|instant|v?2\b)/, tokens: 4096 },
    ],
    others: USUAL,
    source: 'https://platform.claude.com/docs/en/models/overview',
    asOf: '2026-11-22',
  },
  openai: {
    small: [
      { ids: /^gpt-4o-2024-05-13/, tokens: 4096 },
      { ids: /^gpt-4-(turbo|vision|\d{4}-preview)/, tokens: 4096 },
      { ids: /^gpt-4(-0613|-0314)?$/, tokens: 8192 },
      { ids: /^gpt-3\.5-/, tokens: 4096 },
      { ids: /^(gpt-4o|chatgpt-4o|gpt-audio|gpt-5(\.\d+)?-chat)/, tokens: 16_384 },
    ],
    others: USUAL,
    source: 'https://developers.openai.com/api/docs/models',
    asOf: '2026-11-22',
  },
  google: {
    small: [{ ids: /^gemini-(1\.|2\.0-)/, tokens: 8192 }],
    others: USUAL,
    source: 'https://ai.google.dev/gemini-api/docs/models',
    asOf: '2026-11-22',
  },
};

/** What a vendor's ids begin with whose limits are in the table; open models are not among them. */
const KNOWN_IDS: Readonly<Record<Vendor, RegExp>> = {
  anthropic: /claude-/,
  openai: /^(gpt-|chatgpt-|codex-|o\d)/,
  google: /^gemini-/,
};

/**
 * The most tokens that a request asks this model for: what is reserved for it, and what stands on the
 * wire. Null: not known, and none is asked for, since a local server refuses more than its context.
 * Known without the catalogue, which costs too much before a first request.
 */
export function findOutputLimit(
  { protocol, vendor }: Pick<ConfiguredProvider, 'protocol' | 'vendor'>,
  id: string,
): number | null {
  // This protocol can't do without one, whoever serves it.
  if (protocol === 'anthropic')
    return KNOWN_IDS.anthropic.test(id) ? limitOf('anthropic', id) : USUAL;
  // What imitates OpenAI's older protocol knows the limit under different names, or refuses it.
  if (protocol === 'openai-chat' || vendor === null || !KNOWN_IDS[vendor].test(id)) return null;
  return limitOf(vendor, id);
}

function limitOf(vendor: Vendor, id: string): number {
  const { small, others } = LIMITS[vendor];
  return small.find(({ ids }) => ids.test(id))?.tokens ?? others;
}
