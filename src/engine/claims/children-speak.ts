import type { Clause } from './clause.ts';

const CHILDREN =
  /(?:(?<=^|[.,;:(] |\b(?:and|then|but|so|that|because) )(?:the|all|both|each|every|one|another|a|an|my|our|two|three|four|five|six|\d+)(?: of the)?(?: (?!of\b|to\b|for\b)[\w-]+){0,3}? |(?<=, )|\bto (?:a|an|the|one|two|three) (?:[\w-]+ ){0,2})(?:sub-?agents?|agents?|helpers?|children|child tasks?|workers?|delegates?),? (?:which |who |that |has |have )?(?=[a-z]+(?:ed|te|an|de)\b|(?:also|then|successfully|each|all|both) )/g;
const PASSIVE =
  / by (?:the|all|both|my|each|a|an)(?: of the)?(?: [\w-]+){0,2}? (?:sub-?agents?|agents?|helpers?|children|child tasks?|workers?)\b/g;

/** A clause of a task that had children, told as if it had done itself what they did: it answers for them. */
export function asOne(clause: Clause): Clause {
  const text = clause.text
    .replace(CHILDREN, (match) => (match.startsWith('to ') ? ', and i ' : 'i '))
    .replace(PASSIVE, '');
  return text === clause.text ? clause : { ...clause, text };
}
