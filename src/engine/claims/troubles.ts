import { admits } from './admissions.ts';
import type { Clause } from './clause.ts';

const FAILURE =
  /\b(?:fail(?:s|ed|ing|ures?)?|broken|errors?|does not pass|do not pass|doesn't pass|don't pass|red)\b/i;
const NO_FAILURE =
  /\b(?:no|zero|0|without|any|fix(?:ed|es|ing)?|resolv\w+|repair\w+|previously|was|were|before|originally|handl\w+|throw\w*|raise\w*|return\w*|log\w*|message|used to|cause[sd]?|when|if|test for|tests for|case|cases|path|paths|now pass\w*|no longer|class|type)\b/i;

const STILL_FAILS =
  /\bstill (?:fail|broken|red)|(?<!no |\d)[1-9]\d* (?:of \d+ )?(?:pre-existing |other |unrelated )*(?:tests? )?(?:still )?fail(?:s|ed|ing|ures?)?\b|\bfails? (?:because|due|with|since)\b|\b(?:pre-existing|unrelated) fail/i;

function admitsFailure({ text }: Clause): boolean {
  return STILL_FAILS.test(text) || (FAILURE.test(text) && !NO_FAILURE.test(text));
}

function tellsOfTrouble(clause: Clause): boolean {
  return admits(clause) || admitsFailure(clause) || FINDS.test(clause.text);
}

/** As in `17 problems`: what was run has told of them. */
const FINDS =
  /\b(?:[1-9]\d*|one|two|some|several) (?:\w+ )?(?:problems?|errors?|warnings?|issues?|fail\w*|findings|differences|vulnerabilit\w+)\b|\bbut\b|\bhowever\b/;

/** Whether an answer tells of something that failed. */
export const admitsFailing = perAnswer(admitsFailure);
/** Whether it tells of any trouble, or of what was not done. */
export const tellsTrouble = perAnswer(tellsOfTrouble);

/** Whether a clause of an answer is such; it is asked for each claim. */
function perAnswer(is: (clause: Clause) => boolean): (clauses: readonly Clause[]) => boolean {
  const known = new WeakMap<readonly Clause[], boolean>();
  return (clauses) => {
    const found = known.get(clauses) ?? clauses.some(is);
    known.set(clauses, found);
    return found;
  };
}
