import { ADVERB, isHedged, isOpening, type Clause } from './clause.ts';

/** Who did it, going by what stands before the verb: the answerer by name, or nobody is named. */
export type Speaker = 'first' | 'unnamed';

const FIRST = new RegExp(`\\b(?:i|we)(?:'ve|'d)?,?(?: ${ADVERB},?| have)* ?$`);
const STARTS_FIRST = new RegExp(
  `^(?:[^a-z]|ok-mark|${ADVERB}|so|done|ok|great)*\\b(?:i|we)(?:'ve)?\\b`,
);
const JOINED = new RegExp(
  `(?:,|;|—|–|:|\\(|\\b(?:and|then|plus|as well as|&|but)) ?(?:${ADVERB},? )*$`,
);
/** What else may be the subject of a verb behind it. */
const OTHER_SUBJECT =
  /\b(?:that|which|who|whose|where|(?:it|this|these|those) (?:is|was|were|has|had|does|did|now|also|then|never|can|will|\w+s|\w+ed)|they|he|she|found|notic\w+|saw|discover\w+|learn\w+|shows?|noted|observ\w+|determin\w+|identif\w+|see|seen|helper|function|method|script|hook|workflow|command that|tool that|is|are|does|gets|returns|calls?|creates?|writes?|reads)\b/;
const PAST = new RegExp(
  `^(?:[^a-z‹]|ok-mark|${ADVERB})*(?:[a-z-]+ed|wrote|ran|made|read|built|set|put|did|found|went|took|kept|split|rewrote|ran|re-ran|got|cut|brought|left)\\b`,
);
/** Such as `Parser:` or `1. Docs —` in front of what was done. */
const LABEL = /^[^.:‹]{1,60}(?:‹[fxc]\d*›[^.:‹]{0,30})?(?::|—|–| - )\s*(?:ok-mark )?$/;

/** Null: what stands at `at` is not said of the answerer, or not said to have happened. */
export function speakerAt({ text, isItem }: Clause, at: number): Speaker | null {
  const before = text.slice(0, at);
  const near = before.slice(Math.max(0, before.length - 90));
  if (FIRST.test(near)) {
    const head = before.replace(FIRST, '');
    return isHedged(head.slice(-60)) && !/[,;—–]\s*(?:so |and |but )?$/.test(head) ? null : 'first';
  }
  if (isOpening(before)) return 'unnamed';
  if (isHedged(before)) return null;
  if (JOINED.test(before)) {
    const plain = before.replace(/\([^()]{0,100}\)/g, '');
    if (STARTS_FIRST.test(plain) && !OTHER_SUBJECT.test(plain)) return 'first';
    if (PAST.test(plain) && !OTHER_SUBJECT.test(plain)) return 'unnamed';
  }
  return LABEL.test(before) && !OTHER_SUBJECT.test(before) && (isItem || before.length < 40)
    ? 'unnamed'
    : null;
}
