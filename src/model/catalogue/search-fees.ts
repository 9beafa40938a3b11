import type { Vendor } from '../providers/vendors.ts';

/** The fee of one search, for models whose ids match. */
interface SearchFee {
  readonly models: RegExp;
  readonly usd: number;
}

/**
 * The fees of the vendors for each search with their own search tool, besides the tokens, as of 2026-10. Searches that
 * are free up to a number in a month are counted, too. Older models of Google are charged by the prompt and left out.
 */
const SEARCH_FEES: Readonly<Record<Vendor, SearchFee>> = {
  // https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool
  anthropic: { models: /^claude-/, usd: 0.01 },
  // https://developers.openai.com/api/docs/pricing
  openai: { models: /^(?:gpt-|o\d)/, usd: 0.01 },
  // https://ai.google.dev/gemini-api/docs/pricing
  google: { models: /^gemini-[3-9]/, usd: 0.014 },
};

/** Returns the fee in USD of one search by the provider of a model; undefined: it is not known. */
export function findSearchFee(vendor: Vendor | null, model: string): number | undefined {
  if (vendor === null) return undefined;
  const { models, usd } = SEARCH_FEES[vendor];
  return models.test(model) ? usd : undefined;
}
