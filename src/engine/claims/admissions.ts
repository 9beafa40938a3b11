import type { Clause } from './clause.ts';

/**
 * What an answer says that did not do what was asked for: nothing was changed, or had to be; it could not be,
 * or may not; it asks, or only advises. Whoever says so has claimed nothing.
 */
const ADMITS: readonly RegExp[] = [
  // The answerer speaks of what it did not, or only would.
  /\b(?:i|we)(?:'ve| have|'m| am|'d| had| was| were)?(?: (?:also|therefore|deliberately|so|then|still|only|just))* (?:have not|haven't|did not|didn't|do not|don't|could not|couldn't|can not|cannot|can't|was not|wasn't|am not|not|never|won't|will not|wouldn't|would|could|should|can|may|left|leave|stopped|held off|refused|declined|kept|need|needed|want|propose|suggest|recommend|lack|hit|ran out|ran into|got stuck|changed nothing|made no|decided against|skipped|paused|plan|will|failed|tried|gave up|assume|decided not|chose not|removed none|fixed none|edited no|touched no|wrote no|require|suspect)\b/,
  /\b(?:i'd|i'll|i won't|we'd|we'll)\b/,
  /\b(?:nothing|none|nobody|no (?:code|files?|changes?|edits?|modifications?|further (?:changes?|edits?|work)|commits?|source|updates?|fix|action|adjustments?|cleanup|work|replacement|rewrite|commands?|need|reason|such))\b/,
  /\balready\b|\bas (?:it|they|that) (?:is|are|was|were|stands?)\b|\bleft (?:as[- ]is|alone|untouched|unchanged|in place|it)\b|\b(?:unchanged|untouched|unmodified|unaltered|unedited)\b/,
  /\b(?:(?:is|are|was|were|has|have|do|does|did|could|can|may|will|would|must|should)(?:n't| not)) (?:\w+ly )?(?:been |be |yet |even |need |allowed |possible )*(?:\w+ed|done|made|written|changed|run|begun|started|need\w*|exist\w*|allow\w*|possible|necessary|trivial|found|safe|there|available|get|have|reach|apply|touch|change)\b/,
  /\bnot (?:yet )?(?:been )?(?:done|started|begun|changed|fixed|implemented|applied|possible|allowed|permitted|necessary|needed|made|touched|finished|complete|available|trivial|found|safe|able|edited|modified|written)\b/,
  /\b(?:denied|refused|blocked|forbidden|not permitted|read-only|permission|unable|impossible|unclear|ambiguous|aborted|interrupted|timed out|ran out of|out of time|gave up|no access|without access|couldn't|cannot|can't|missing from|does not exist|doesn't exist|no longer exists?|no such|there (?:is|are|was|were) no|there's no|not found|not available|unavailable|waiting for|before (?:i|we)|need to know|needs? (?:a )?decision|up to you|your (?:ok|okay|decision|approval|call|confirmation)|let me know (?:which|whether|if you(?:'d| would)? (?:want|like|prefer) me to (?:go|apply|proceed|make|do|start))|tell me (?:which|whether|if)|which (?:one )?(?:do|would|should) you|do you want|would you like|shall i|should i|want me to|if you (?:want|like|agree|confirm|prefer),? i)\b/,
  /\b(?:still|currently) (?:fail\w*|broken|open|missing|todo|to do|pending)\b|\b(?:does|do|did)(?: not|n't) (?:pass|compile|build|work)\b/,
];
/** Negations that tell of what was repaired, or of how well it went. */
const NO_ADMISSION =
  /\b(?:no|zero|0|without|nor) (?:(?:new|more|any|other|further|remaining|type|lint|test|compile|build|functional) )*(?:errors?|warnings?|failures?|issues?|problems?|findings|conflicts?|matches|regressions?|behaviou?r(?:al)? changes?|breaking changes?|vulnerabilities|violations|longer)\b|\b(?:no|nothing) (?:else )?(?:is |was )?(?:left|remains?|remaining|outstanding|to worry)\b|\blet me know if\b|\bnothing (?:else )?(?:breaks|broke|is broken)\b|\bno (?:code )?changes? (?:in|to) (?:behaviou?r|the api)\b/g;

/** Whether a clause is such an admission. */
export function admits({ text }: Clause): boolean {
  const rest = text.replace(NO_ADMISSION, ' ');
  return ADMITS.some((pattern) => pattern.test(rest)) || ASKS.test(text);
}

/** A question to whoever asked; one that offers more help is none. */
const ASKS = /\?\W*$/;
