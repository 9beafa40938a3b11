/** The maximum share of the output limit that may be used for thinking. The rest is for the answer. */
const MAX_THINKING_SHARE = 0.8;

/**
 * Lowers the thinking budget in a body to a share of the output limit, because the provider packages compute the budget
 * from the limit of the model and not from the limit of the request. `pattern`: matches the budget; its first group is
 * the text before the number, and its second group is the number. Only the first match is changed.
 */
export function capThinkingBudget(body: string, pattern: RegExp, maxOutputTokens: number): string {
  const maxBudget = Math.floor(maxOutputTokens * MAX_THINKING_SHARE);
  return body.replace(
    pattern,
    (_, before: string, budget: string) => `${before}${Math.min(Number(budget), maxBudget)}`,
  );
}
