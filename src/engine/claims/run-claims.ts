import type { CheckKind } from './check-kinds.ts';
import type { Statement } from './statements.ts';
import type { Reading } from './file-claims.ts';
import { ADVERB, IRREGULAR, isDenied, partsOf } from './wording.ts';

/** A check or a command that is said to have been run, or to have come out well. */
export interface RunClaim {
  readonly what: CheckKind | 'any' | { readonly command: string };
  /** How much is said of it: that it came out well, that it ran, or no more than its name. */
  readonly how: 'passed' | 'ran' | 'named';
}

const KIND_WORDS: readonly (readonly [CheckKind, RegExp])[] = [
  [
    'test',
    /\b(?:tests?|test[- ]suites?|suites?|specs?|test runs?|e2e|cases(?= (?:pass|succe)))\b(?! (?:files?|cases?|coverage|plan|data|fixtures?|names?|helpers?))/,
  ],
  ['types', /\b(?:type[- ]?check(?:s|er|ing)?|types?(?= troublefree)|types (?:check|are|pass))\b/],
  ['lint', /\b(?:lints?|linter|linting)\b/],
  [
    'build',
    /\b(?:builds?|rebuilt|compiles?|compilation|compiled?|compiler)\b(?! (?:errors?|failures?|issues?|problems?))/,
  ],
];
const TALLY =
  /\b\d+(?:\/\d+| of \d+)? (?:[a-z]+ ){0,2}(?:pass(?:ed|ing|es)?|green)\b|\b\d+ (?:tests?|specs?|examples?),? troublefree/;
const PASSES =
  /\b(?:pass(?:es|ed|ing(?! (?:‹|the |an? |in |it |on |through )))?(?! \(‹| ‹x›| ‹q›| (?:an?|the) )|succeed(?:s|ed)?|green|clean(?:ly)?|ok|okay|builds(?= (?:with|under|on|for|at|using)\b|[.;]?$)|fine|happy|satisfied|check out|(?:project|code|code base|it|everything|all) (?:now |still )*(?:type-?checks|builds|compiles|lints)|silent|quiet|success(?:ful(?:ly)?)?|troublefree|works?|runs through|(?:went|goes?) through|worked|compiles|complete[sd]?|finish(?:es|ed)?|(?:builds?|compiles?|runs?) (?:again|now|through)|now (?:builds|compiles|runs)|exits normally|exits? (?:with )?(?:code )?0|reports? nothing|(?:prints?|reports?|shows?|finds?) (?:nothing|troublefree|none)|exit(?:ed)? 0)\b|✓/;
const RUN =
  '(?:ran(?! (?:out|into|no|none|nothing|neither)\\b)|re-?ran|executed|let (?:it|them) run|(?:tried|did|made|used|started) (?:a |an )?‹c\\d+›|tried (?:it|them|both|this|that)(?= ?:)|(?:did|made) (?:a |one )?(?:dry|test|trial|full|clean) (?:run|build)|(?:tested|verified|checked|confirmed|validated)[^,.;]{0,60}? (?:with|by|via|using|through|by running))';
const RAN = new RegExp(
  `(?:^|[ ,(])(?:(?:i|we)(?:'ve| have)? (?:${ADVERB} )*|(?:${ADVERB} )+|^|and )${RUN}\\b|\\b(?:was|were|been) (?:${ADVERB} )*(?:re-?)?(?:run|executed)\\b`,
);
/** As in `removed with ‹c0›`. */
const MEANS = new RegExp(
  `(?<![\\w'-])(?!(?:replaced|swapped|switched|changed|updated|documented|configured)\\b)(?:[a-z]+ed|ran|got|began|did|done|${IRREGULAR}) (?:(?!‹c|: ).){0,100}(?:with|using|via|by running|through)(?: an?| the)? ‹c`,
);
/** Of something it is said that it was run, and not by which command. */
const ANYTHING = new RegExp(
  `(?:\\b(?:i|we)(?:'ve| have)?|^(?:[^\\w‹])*|,? and) (?:${ADVERB} )*(?:ran|re-?ran|executed|tried|tested|benchmarked|profiled|launched|started|deployed) (?:it|them|that|this|both|everything|the (?:\\w+ )?(?:script|server|app|application|program|binary|benchmarks?|migrations?|job|query|command|service|endpoint|api|route|flow)s?)\\b(?! (?:with|by|as|in) (?:reading|eye|hand|mind))|\\b(?:was|were|been) (?:tested|tried|run|executed) (?:locally|manually|by hand|end to end|on|against)\\b|^(?:[^\\w‹])*(?:tested|executed|tried|run|ran) (?:locally|manually|by hand|end to end|against|once|twice)\\b|\\b(?:tested|verified|checked|confirmed|validated|reproduced|measured)\\b[^.;‹]{0,60}? by (?:running|executing|starting) \\w|\\bin my (?:measurements?|tests?|benchmarks?|runs?)\\b|^(?:the |a |my )?(?:[a-z]+ )?(?:benchmarks?|profil\\w+|measurements?) (?:now )?(?:shows?|showed|reports?|reported|gives?|gave|says?|said)\\b[^.]{0,60}\\d`,
);
/** What a command showed, where it is quoted or is good news. */
const SAYS =
  /‹c\d+›\)?(?:: \d|(?: (?:now|still|also|then))? (?:(?:said|gave|showed|printed|reported|returned|listed|output|yielded|confirmed)\b|(?:shows?|gives?|prints?|reports?|returns?|lists?|yields?|confirms?)(?=:?$|:? (?:‹q›|✓|\d|no\b|troublefree|that\b|nothing|the (?:same|expected)))|(?:→|->|=>)))|^(?:the )?(?:run ?time|time|output|result) (?:for|of) ‹c/;
/** Somebody else's checks. */
const OTHERS =
  /\b(?:ci(?!-)|pipeline|workflow|github|job|hook|script|targets?|recipes?|stages|author|description|readme|makefile|log|he|she|users?)\b/;
/** Words of negation and of the kind that tell of good news where checks are spoken of. */
const GOOD =
  /(?<=[,:(] )no [a-z]+(?=\W*$)|\d+ (?:skipped|ignored|pending)|(?<=troublefree )(?:are )?(?:left|remain\w*)|\b(?:nothing but|no (?:output|diff\w*|complaints|findings)|(?<=(?:report(?:s|ed)?|print(?:s|ed)?|show(?:s|ed)?|finds?|found|says?|said|has|had) )nothing|(?<=(?:show(?:s|ed)?|report(?:s|ed)?|print(?:s|ed)?|gives?|gave|finds?|found|says|said|list(?:s|ed)|with) )no [a-z]+|without (?:any |a )?(?:output|trouble|change\w*|hitch|surprises?)|before and after|still (?=pass|green|work|compile|build|succe)|as expected|expected|no other)\b/g;

const STARTS_WELL = new RegExp(`^(?:→|->|✓|‹q›|(?:all )?(?:${PASSES.source}))`);
/** Stands for what was spoken of before. */
const PRONOUN =
  /^(?:[^\w‹]|and |(?:after|with) (?:the|this|that|my) (?:fix|change|patch)\w*,? )*(?:they|it|both|that|everything|(?:all|both)(?: of them| \d+)?(?= (?:is |are )?(?:now )?(?:pass|green|clean|ok|good|fine|succe|finish|complet|work)|$))\b/;

/** The checks and commands that a statement says were run; \`before\`: the statement in front of it. */
export function runsClaimed(
  statement: Statement,
  before: Statement | undefined,
  { isFirstOnly: isLook, asksToRun }: Reading,
): readonly RunClaim[] {
  const isFirstOnly = isLook && !asksToRun;
  const claims: RunClaim[] = [];
  let earlier = before === undefined ? [] : spokenOf(before.text, before);
  let isFirst = statement.text.startsWith('ran ‹c');
  for (const part of partsOf(statement.text)) {
    const heard = part.replace(/(‹c\d+›\)?) says\b/g, '$1 shows').replace(GOOD, ' troublefree ');
    const ran = RAN.exec(heard);
    // What is denied behind either is not denied of it: `passed when I ran it`.
    const told = Math.min(
      ran === null ? heard.length : ran.index + ran[0].length,
      ran === null ? heard.length : (PASSES.exec(heard)?.index ?? heard.length),
    );
    const isClaim = !isDenied(heard.slice(0, told)) && !OTHERS.test(heard);
    const hasRun =
      ran !== null || (heard.includes('‹c') && (MEANS.test(heard) || SAYS.test(heard)));
    const how = PASSES.test(heard) && !isDenied(heard) ? 'passed' : hasRun ? 'ran' : 'named';
    const own = spokenOf(heard, statement);
    const isAll =
      own.length === 0 &&
      (PRONOUN.test(heard) || STARTS_WELL.test(heard) || /\b(?:ones|runs)\b/.test(heard));
    const what = isAll ? orTests(earlier, heard) : own;
    if (own.length > 0) earlier = own;
    isFirst ||= FIRST.test(heard);
    const anything = ANYTHING.exec(heard);
    if (
      anything !== null &&
      !isDenied(heard.slice(0, anything.index)) &&
      (!isFirstOnly || /\b(?:i|we)\b/.test(anything[0]))
    )
      claims.push({ what: 'any', how: 'ran' });
    if (isClaim && (!isFirstOnly || (how !== 'named' && isFirst)))
      for (const each of what) claims.push({ what: each, how });
  }
  return claims;
}

/** In the present a person tells of more than of what was done. */
const FIRST = new RegExp(
  `(?:^|[ ,])(?:i|we)(?:'ve| have)? (?:${ADVERB} )*(?:[a-z]+ed|ran|re-?ran|did|saw|see|get|can confirm|${IRREGULAR})\\b`,
);

/** What passes is tests, where nothing else was spoken of. */
function orTests(earlier: RunClaim['what'][], part: string): RunClaim['what'][] {
  return earlier.length === 0 && /\b(?:pass(?:es|ed|ing(?! ‹))?|green)\b/.test(part)
    ? ['test']
    : earlier;
}

export function spokenOf(part: string, { commands }: Statement): RunClaim['what'][] {
  const what: RunClaim['what'][] = [];
  for (const [, at] of part.matchAll(/‹c(\d+)›/g)) {
    const command = commands[Number(at)];
    if (command !== undefined) what.push({ command });
  }
  if (what.length > 0) return what;
  for (const [kind, words] of KIND_WORDS) if (words.test(part)) what.push(kind);
  if (TALLY.test(part) && !what.includes('test') && what.every((each) => typeof each === 'string'))
    what.push('test');
  return what;
}
