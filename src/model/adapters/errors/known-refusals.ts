import type { FailureKind } from '../../../protocol/model.ts';

/** The wordings of one meaning, each with the server that uses it. They match the texts that `errorText` returns. */
type Wordings = readonly (readonly [server: string, pattern: RegExp])[];

/** The messages and codes that say that the account has no credit, or that a plan is used up. No retry helps. */
export const SPENT_CREDIT: Wordings = [
  ['OpenAI, Azure, Perplexity', /\binsufficient_quota\b/],
  ['Anthropic', /credit balance is too low/i],
  ['DeepSeek, MiniMax, Z.ai, Moonshot', /insufficient[ _]balance/i],
  ['OpenRouter', /requires more credits|insufficient credits/i],
  ['Moonshot', /\bexceeded_current_quota_error\b/],
  // https://github.com/continuedev/continue/issues/10373, …/12670
  ['xAI', /used all available credits|doesn't have any credits/i],
  // https://github.com/expectedparrot/edsl/issues/2098
  ['Together', /credit limit exceeded/i],
  // https://github.com/pollinations/pollinations/issues/12136
  ['Fireworks', /reaching the monthly spending limit/i],
  ['Cerebras', /\bpayment_required\b|payment required to access/i],
  ['Kimi', /reached your usage limit for this billing cycle/i],
  ['Z.ai, MiniMax', /\busage limit (?:reached for|exceeded,)|coding plan package has expired/i],
  ['Z.ai', /weekly\/monthly limit exhausted/i],
  ['LiteLLM', /\bbudget_exceeded\b|budget has been exceeded/i],
  // OpenAI's message, without its code.
  ['LiteLLM', /OpenAIException - You exceeded your current quota/],
  ['Chinese servers', /余额不足|欠费/],
];

/** The messages and codes that say, under another status than 404, that there is no such model. */
export const UNKNOWN_MODEL: Wordings = [
  ['OpenAI, Groq, Cerebras, Qwen', /\bmodel_not_found\b/],
  ['Groq', /\bmodel_decommissioned\b/],
  ['DeepSeek', /\bmodel not exist\b/i],
  ['Mistral', /\binvalid_model\b|^invalid model: /i],
  ['OpenRouter', /is not a valid model ID/i],
  ['Z.ai, MiniMax', /\bunknown model\b/i],
  ['LiteLLM', /\binvalid model name passed in\b/i],
  ['Perplexity', /\bmodel "[^"]{1,200}" is not supported/i],
  ['llama.cpp', /^model not found\b/i],
  ['Qwen', /^model '[^']{1,200}' is not supported/i],
];

/** The messages that say, under another status than 401, that the key is wrong. */
export const WRONG_KEY: Wordings = [
  ['xAI', /^incorrect API key provided/i],
  ['Anthropic, Google', /\b(?:invalid x-api-key|API key not valid|API_KEY_INVALID)\b/],
  ['LiteLLM', /^authentication error, /i],
];

/**
 * Finds the kind of a permanent failure that the text of an error tells; null: it tells none. `status`: the HTTP
 * status; undefined: the error has none.
 */
export function findStatedKind(text: string, status: number | undefined): FailureKind | null {
  // A spent quota is no rate limit that waiting removes, but another provider may continue.
  if (matches(SPENT_CREDIT, text)) return 'rate_limit';
  // Gateways say "model_not_found" with HTTP 503 while no server behind them is free.
  if (status !== undefined && status >= 500) return null;
  if (matches(UNKNOWN_MODEL, text)) return 'not_found';
  return matches(WRONG_KEY, text) ? 'auth' : null;
}

function matches(wordings: Wordings, text: string): boolean {
  return wordings.some(([, pattern]) => pattern.test(text));
}
