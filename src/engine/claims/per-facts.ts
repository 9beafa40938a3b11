import type { ClaimFacts } from './facts.ts';

/** Computes an answer about the facts of a task once for all clauses. */
export function perFacts<Answer>(
  compute: (facts: ClaimFacts) => Answer,
): (facts: ClaimFacts) => Answer {
  const known = new WeakMap<ClaimFacts, { readonly answer: Answer }>();
  return (facts) => {
    const found = known.get(facts) ?? { answer: compute(facts) };
    known.set(facts, found);
    return found.answer;
  };
}
