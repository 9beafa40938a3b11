import { CHANGED } from './change-verbs.ts';
import { VERBS } from './changed-files.ts';
import { ADVERB, isAttributed, isHedged, standsElsewhere, type Clause } from './clause.ts';
import { saysDone } from './done-claims.ts';
import { speakerAt } from './speaker.ts';

/** How a clause tells that something has been brought about. `said`: the answerer says so of itself. */
export type Accomplishment = 'said' | 'told';

const VERB = new RegExp(`(?<![\\w-])${CHANGED}(?![\\w-])`, 'g');
const SAID = new RegExp(
  `\\b(?:i|we)(?:'ve| have|'d| had)?(?: (?:${ADVERB}))* (?:${VERBS})(?![\\w-])(.{0,80})`,
);
/** What is made for whoever reads, and changes nothing. */
const OF_WORDS =
  /\b(?:plan|list|summary|notes?|proposal|draft|overview|report|table|suggestions?|sketch|analysis|outline|todo|breakdown|recommendations?|questions?|attempt|search|sure|decision|assumption|look|pass|it clear|diagnosis|cause)\b/;
/** How things are that were not so before. */
const STATES: readonly RegExp[] = [
  /(?<!\b(?:for|right|by|until|as of|up to|even|till) )\bnow\b(?! (?:that|and then|on)\b)/,
  /\bno longer\b/,
  new RegExp(
    `\\b(?:has|have) (?:now |all |both |${ADVERB} )*been (?:${ADVERB} )*${CHANGED}(?![\\w-])`,
  ),
  new RegExp(
    `\\b(?:was|were) (?:${ADVERB} )*${CHANGED}(?=$|[.,;:!)]| (?:in|to|at|into|for|with|via|using|and|across|under|accordingly)\\b)`,
  ),
  new RegExp(
    `\\b(?:is|are|'s) (?:now |all |both |fully |completely |entirely |${ADVERB} )*(?:gone|live|in place|ready|up and running|set up|there|in there|done|fixed|${CHANGED})(?![\\w-])`,
  ),
  // As in `Type hints added to every function`, `YAML support added`.
  new RegExp(
    `^[^a-z‹]*(?:(?!is\\b|are\\b|was\\b|were\\b)[^\\s.:;]+ ){1,8}(?:${VERBS})(?=$|[.,;:!)]| ok-mark| (?:in|to|at|from|into|for|with|via|using|and|across|under|by|accordingly)\\b)`,
  ),
];
/** As in `The design doc is at FILE`. */
const DELIVERED =
  /\b(?:is|are|lives?|sits?|can be found|(?:you )?can find (?:it|them)|(?:you'll|you will) find (?:it|them)|resides?) (?:now )?(?:saved |stored )?(?:at|in|under|right in) (?:the )?‹f\d+›/;

/** What a clause says to have been brought about; null: nothing. */
export function accomplishmentOf(clause: Clause): Accomplishment | null {
  const { text, under } = clause;
  if (text.endsWith('?') || standsElsewhere(under)) return null;
  const said = SAID.exec(text);
  if (said !== null && !OF_WORDS.test(said[1] ?? '') && isPlain(text, said.index)) return 'said';
  if (isAttributed(text)) return null;
  if (saysDone(clause)) return 'told';
  for (const match of text.matchAll(VERB)) {
    const after = text.slice(match.index + match[0].length, match.index + match[0].length + 60);
    if (speakerAt(clause, match.index) !== null && !OF_WORDS.test(after)) return 'told';
  }
  for (const state of [...STATES, DELIVERED]) {
    const match = state.exec(text);
    if (match === null) continue;
    const upTo = text
      .slice(0, match.index + match[0].length)
      .replace(/\byour\b/g, 'the')
      .replace(/\btodos?\b(?!:)/g, 'item');
    if (!isHedged(upTo)) return 'told';
  }
  return null;
}

function isPlain(text: string, at: number): boolean {
  return !/\b(?:if|once|when|until|unless|before|whether|than|that)\b[^,]*$/.test(
    text.slice(0, at),
  );
}
