import { accomplishmentOf, type Accomplishment } from './accomplishments.ts';
import { admits } from './admissions.ts';
import { askedFor } from './asked-for.ts';
import { namesChange, namesRun } from './change-verbs.ts';
import { standsElsewhere, type Clause } from './clause.ts';
import { isOfTheHands } from './done-claims.ts';
import type { ClaimFacts } from './facts.ts';
import { effortOf, ranNothing } from './possible.ts';

/**
 * The clause that reports success where a change was asked for and nothing can have been changed; null: there
 * is none. An answer that admits so much anywhere is believed, but where it says of itself what it changed.
 */
export function idleClaim(
  clauses: readonly Clause[],
  answer: string,
  facts: ClaimFacts,
): Clause | null {
  const { prompt, tools } = facts;
  const effort = effortOf(facts);
  if (effort === 'active' || askedFor(prompt) !== 'work') return null;
  if (!namesChange(prompt) && !(namesRun(prompt) && ranNothing(facts))) return null;
  if (tools.size === 0 && !isOfTheHands(prompt, answer)) return null;
  const hasAdmission = clauses.some(admits);
  const claimed = clauses.find((clause) => {
    if (admits(clause)) return false;
    if (effort === 'idle') return isClaim(accomplishmentOf(clause), hasAdmission);
    // Of what a check tells it may be so without a change, as when a test is flaky.
    return partsOf(clause).some(
      (part) => !OF_A_CHECK.test(part.text) && isClaim(accomplishmentOf(part), hasAdmission),
    );
  });
  if (claimed !== undefined) return claimed;
  const isBare = effort === 'idle' && tools.size > 0 && !hasAdmission && !answer.includes('```');
  return isBare && !clauses.some(onlyTells) ? (clauses[0] ?? null) : null;
}

/** Advice, and what was found: it says nothing of success. */
function onlyTells({ text, isItem, under }: Clause): boolean {
  return standsElsewhere(under) || (isItem && under.length === 0) || TELLS.test(text);
}

const TELLS =
  /\b(?:you|your|could|should|would|might|may|will|if|because|comes? from|caused?|by design|intended|correct as|right|looks?|seems?|appears?|there(?:'s| is| are)|exists?|found|finding|problem|issue|bug is|reason|recommend\w*|suggest\w*|option|approach|plan|step|first|instead|however|but|unless|depends|hypothesis|likely|probably|run|create|set|add|update|use|change|replace|delete|remove|move|rename|write|edit|put|try|see|check|consider|make|open|apply)\b/;

function isClaim(accomplishment: Accomplishment | null, hasAdmission: boolean): boolean {
  return accomplishment === 'said' || (accomplishment === 'told' && !hasAdmission);
}

function partsOf(clause: Clause): readonly Clause[] {
  const parts: Clause[] = [];
  for (const text of clause.text.split(/, (?:and|so|which) |; | – | — /)) {
    parts.push({ ...clause, text });
  }
  return parts;
}

const OF_A_CHECK =
  /‹c\d+›|\b(?:tests?|builds?|suites?|specs?|lint\w*|types?|type[- ]?checks?|all checks|compiles?|green|pass\w*|clean|warnings?|errors?|coverage|audit)\b/;
