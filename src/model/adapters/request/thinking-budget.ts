/** The most of the output limit that may be used for thinking. The rest is for the answer. */
const THINKING_SHARE = 0.8;

/**
 * Lowers the thinking budget in a body to a share of the output limit, since the provider packages compute the
 * budget from the limit of the model and not from that of the request. `pattern`: matches at most once; its groups
 * are the text before the number, and the number.
 */
export function capThinkingBudget(body: string, pattern: RegExp, maxOutputTokens: number): string {
  const maxBudget = Math.floor(maxOutputTokens * THINKING_SHARE);
  return body.replace(
    pattern,
    (_, before: string, budget: string) => `${before}${Math.min(Number(budget), maxBudget)}`,
  );
}
