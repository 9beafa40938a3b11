import type { Clause } from './clause.ts';
import { standsElsewhere } from './clause.ts';

/** Says that something came out well. */
const WELL =
  /\b(\d+) (?:for|of|out of) \1\b|\b(?:pass(?:es|ed|ing)?|succeed(?:s|ed|ing)?|success(?:ful(?:ly)?)?|green|clean(?:ly)?|ok|okay|ok-mark|fine|happy|valid|completed?|completes|finish(?:es|ed)?|normally|works?|worked|perfect(?:ly)?|through|exit(?:s|ed)? (?:with )?(?:code )?(?:0|zero|normally|cleanly)|compiles?|compiled|builds?|built|all \d+|no longer|(?:no|zero|0|without|free of|nor) (?:(?:any|new|more|further|remaining|other|type|lint|test|compile|build|formatting) )*(?:errors?|issues?|warnings?|failures?|failed|failing|problems?|findings|complaints?|violations?|vulnerabilities|offen[cs]es|differences|diff|regressions?|conflicts?|matches|mismatches|races?|leaks?)|error-free|\d+ (?:\w+ )?(?:passed|passing|ok|successes|succeeded)|\d+\/\d+)\b|100 ?%|‹ok›|\bnothing (?:to (?:report|complain)|left|found)\b/;
/** A good word among these tells of no success. */
const BADLY =
  /\b(?:fail(?:s|ed|ing|ures?)?|errors?|warnings?|problems?|violations?|crash\w*|killed|timed out|times out|broken?|red|skipped|missing|remain(?:s|ing)?|except|apart from|other than|aside from|all but|only|stops?|stopped|still (?:reports?|shows?|complains?|exits?)|partially|unable|denied|refused|aborted|nothing (?:was )?(?:run|ran)|flaky|some|half|most|exit(?:s|ed)? (?:with )?(?:code |status )?[1-9]|[1-9]\d* (?:\w+ )?(?:fail\w*|errors?|warnings?|problems?|issues?|left|remain\w*)|as before|previously|used to|were red)\b/;
const NO_TROUBLE =
  /\b(?:no|zero|0|without|free of|nor|fixed|fixing|resolved|any|mended|removed) (?:(?:all|the|any|new|more|further|remaining|other|type|lint|test|tests|compile|build|formatting|resulting|\d+|of) )*(?:errors?|issues?|warnings?|failures?|failed|failing|fail|problems?|findings|violations?|skipped|crash\w*)\b|\b(?:warnings?|errors?|problems?|fail(?:ures?|ed|ing)|violations?|skipped): ?0\b|\b(?:errors?|warnings?|problems?)(?: \w+){0,4} (?:is|are|was|were) (?:now )?(?:fixed|resolved|gone)|\bmissing \w+/g;
/** Of what may be, has to be, or is not so. */
const UNSURE =
  /\b(?:not|never|can|could|should|shall|would|may|might|must|will|going to|if|unless|once|when|whenever|until|before|to be|expect\w*|hope\w*|(?<!first )try|tried|attempt\w*|needs?|needed|you|let|let's|so that|make sure|ensure|in order to|wants?|wanted|please|run|re-run|rerun|use|then run|how|why|whether|probably|likely|seems?|appears?|presumably|assum\w+|supposed|designed|example|e\.g|instead of|rather than|claims?|alleged\w*|was asked|previously|originally|used to|last (?:week|month|release|session)|yesterday|earlier)\b|n't\b|'ll\b|'d\b|❌|✗|✘|⚠/u;
/** Someone or something else says so, or it is told how things are meant to be. */
const OTHERS =
  /\b(?:ci|github actions|gitlab|jenkins|pipeline|workflow|badge|changelog|docs say|on each push|every push|each push|husky|hook|stage|job|target|script|alias|nightly|cron|colleague|in production|staging|upstream|on (?:main|master)|requires?|required|gate[sd]?|only if|as long as|provided|guarantees?|ensures?|trivially|coincidentally|silently)\b/;
const BOUNDARY = /; |(?:, | )(?:but|although|though|whereas|however|yet)\b/;

/** Whether a text tells of a good outcome, and of no bad one. */
export function wentWell(text: string): boolean {
  const rest = text.replace(NO_TROUBLE, ' no-trouble ');
  return (
    (WELL.test(text) || rest.includes('no-trouble')) &&
    !BADLY.test(rest) &&
    !UNSURE.test(rest.replace(/\bwhen run\b/g, ''))
  );
}

/** Commands that a clause says came out well. */
export function commandsGoneWell({ text, commands, under }: Clause): readonly string[] {
  if (commands.length === 0 || text.endsWith('?') || standsElsewhere(under)) return [];
  return text.split(BOUNDARY).flatMap((part) => {
    const named = [...part.matchAll(/‹c(\d+)›/g)];
    const last = named.at(-1);
    if (last === undefined || OTHERS.test(part) || !wentWell(part)) return [];
    return named.flatMap(([, at]) => commands[Number(at)] ?? []);
  });
}
