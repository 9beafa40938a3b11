/** The share of the limit that may be thought at most; the rest is for the answer. */
const THINKING_SHARE = 0.8;

/**
 * A body in which no more may be thought than a share of the whole answer: packages reckon what a model
 * may think from its own limit, not from the one that is asked for. `pattern` has the text before the
 * number and the number as its groups, and fits at most once.
 */
export function limitThinkingBudget(
  body: string,
  pattern: RegExp,
  maxOutputTokens: number,
): string {
  const most = Math.floor(maxOutputTokens * THINKING_SHARE);
  return body.replace(
    pattern,
    (_, before: string, budget: string) => `${before}${Math.min(Number(budget), most)}`,
  );
}
