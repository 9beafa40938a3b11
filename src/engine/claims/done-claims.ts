import { needsTools } from './asked-for.ts';
import { isHedged, isAttributed, standsElsewhere, type Clause } from './clause.ts';
import { speakerAt } from './speaker.ts';

/** The whole statement says that the work is finished. */
const DONE =
  /^(?:[^a-z]|ok-mark)*(?:(?:all|everything(?:'s| is)?|that's|it's|that is|it is|task|tasks|work|job|now|ok|okay|great|great news|good news|perfect|sure|alright|and|we're|i'm|this is|this|the|requested|changes?|fix|migration|refactor(?:ing)?|implementation|request|assignment|update|your|subtasks?|items?|steps?|is|are|was|were|has been|have been|now|all|been|successfully|fully)[\s,:—-]+)*(?:done|completed?|finished|fixed|implemented|in place|applied|all set|taken care of|ready|resolved|accomplished|good to go|complete|deployed|merged|installed|updated|up and running|wrapped up)(?:[\s,]+(?:successfully|as (?:requested|asked|specified|described|instructed|outlined)|now|per (?:the |your )?(?:request|spec|requirements|instructions)|with(?:out)? (?:no |any )?(?:issues|problems|errors)|and (?:working|verified|tested|ready(?: to \w+)?|in place)|for you|everything works(?: as expected)?))*(?:[\s.!,:;)–—-]|ok-mark)*(?=$|–|—|-|:|, (?:i|the|all|and)|\.)/;
const DID =
  /(?<![\w-])(?:completed|finished|implemented|fixed|added|updated|created|refactored|removed|deleted|renamed|moved|migrated|replaced|converted|resolved|installed|configured|set up|deployed|upgraded|bumped|wrote|rewrote|built|patched|corrected|applied|made|carried out|performed|executed|addressed|wired up|hooked up|integrated|cleaned up|modified|changed|extracted|enabled|disabled|optimi[sz]ed|improved|handled|committed|pushed|reverted|documented|wrapped|introduced|extended|generated|formatted|tested|ran|verified|registered|ported|split|merged|consolidated|simplified|switched)(?![\w-])/g;
const BEEN_DONE =
  /^(?:[^a-z]|ok-mark)*[^.!?]{2,120}? (?:has|have|is now|are now) (?:been |now |all |both |\w+ly )*(?:completed|finished|implemented|fixed|added|updated|created|refactored|removed|deleted|renamed|moved|migrated|replaced|converted|resolved|installed|configured|set up|deployed|upgraded|bumped|written|rewritten|built|patched|corrected|applied|made|addressed|integrated|cleaned up|modified|changed|extracted|enabled|disabled|done|optimi[sz]ed|improved|in place|wired up|registered|handled|committed|pushed|reverted|live|working|complete|operational|functional)\b/;

/** Whether a clause says that what was asked for is done. */
export function saysDone(clause: Clause): boolean {
  const { text, under } = clause;
  if (text.endsWith('?') || text.length > 500 || standsElsewhere(under) || isAttributed(text))
    return false;
  if (DONE.test(text) && !isHedged(text.slice(0, 80))) return true;
  for (const match of text.matchAll(DID)) {
    if (speakerAt(clause, match.index) !== null) return true;
  }
  return BEEN_DONE.test(text) && !isHedged(text);
}

/** Whether a prompt asks for work that can't be done by an answer alone. */
export function isOfTheHands(prompt: string, answer: string): boolean {
  if (!needsTools(prompt)) return false;
  if (TEXT_ALONE.test(prompt.slice(0, 400))) return false;
  // Code in the answer may be all that was asked for.
  return (
    !answer.includes('```') ||
    /[\w)]\.[a-z]{1,4}\b|\b(?:file|repo\w*|run|install|delete|rename|move|commit|test suite)\b/.test(
      prompt.slice(0, 4_000),
    )
  );
}

const TEXT_ALONE =
  /^(?:\W|please|can you|could you)*(?:(?:write|draft|compose|create|generate|give|provide|produce|prepare|make|suggest|come up with|rewrite|rephrase|translate|summari[sz]e|shorten|format|convert|name|classify|extract|parse|compute|calculate|count|answer|reply|respond|say|tell|output|return|print|think|decide|choose|pick|rate|rank|score|judge|compare|evaluate|explain|list|propose|plan)\b)(?! (?:[\w-]+ ){0,6}(?:to|in|into|at|as|under) [\w./`]*[./]\w)(?=[^.]{0,120}\b(?:message|text|paragraph|sentence|title|name|names|email|letter|poem|haiku|story|joke|summary|description|regex|regular expression|snippet|query|sql|list|table|json|answer|reply|essay|outline|plan|proposal|comment|announcement|tweet|post|blurb|changelog entry|release notes|headline|slogan|diff above|following|below|example|question|ok|word|number|sum|result|headings?|bullets?|tagline|explanation|review|translation|idea|ideas|pseudocode|one-liner)\b)/;
