import { kindsOf } from './check-kinds.ts';
import { ADVERB, isAttributed, isHedged, standsElsewhere, type Clause } from './clause.ts';
import type { ClaimFacts } from './facts.ts';
import { mayHaveWrittenAny } from './command-effects.ts';
import { perFacts } from './per-facts.ts';
import { ranNothing } from './possible.ts';
import { segmentsOf } from './shell-lines.ts';
import { speakerAt } from './speaker.ts';

/** What is done with a command or not at all. */
interface Act {
  /** As it is told. */
  readonly told: RegExp;
  /** Commands of which it may have come. */
  readonly by: RegExp | 'any';
  /** Tools of which it may have come. */
  readonly tools?: readonly string[];
  /** What the receipt has against it. */
  readonly why: string;
  /** It is told of how things are, and not of who did what. */
  readonly isState?: true;
}

const THING =
  '(?:(?:it|this|that|them|all|everything|the|my|your|both|these|those|a|an|and|as|on|in|with|,|\\.|;|!|\\)|:|to|onto) ?|‹x›|$)';
const OBJECT =
  '(?: (?:it|this|them|that|the|these|those|each|every|both|all|my|our|a|an|\\d+|‹x›|with|on|in|against|by hand|manually|locally|end[- ]to[- ]end|everything)\\b| ‹x›)';

const ACTS: readonly Act[] = [
  {
    told: new RegExp(`(?<![\\w-])committed(?: (?=${THING})| ?$|[.,;!)])`, 'g'),
    by: /\bcommit\b|cherry-pick|revert|merge|rebase|git am|release|version|\bjj\b|\bsl\b|\bhg\b|\bsvn\b/,
    why: 'nothing was committed',
  },
  {
    told: new RegExp(`(?<![\\w-])(?:force-)?pushed(?: (?=${THING})| ?$|[.,;!)])`, 'g'),
    by: /\bpush\b|\bpr create\b|\bsync\b|release|submit/,
    why: 'nothing was pushed',
  },
  {
    told: /(?<![\w-])(?:opened|raised|filed|submitted|created) (?:a |an |the |another )?(?:new |draft |follow-up )*(?:pull request|pr|merge request|mr|github issue|ticket)\b/g,
    by: /\b(?:gh|glab|hub|curl|az|tea|arc)\b|api/,
    why: 'no command that ran can have done so',
  },
  {
    told: /(?<![\w-])(?:re-?|un)?installed (?!(?:version|by default|on your|globally by))/g,
    by: /\b(?:install|i|add|ci|get|sync|setup|restore|bundle|update|upgrade|remove|rm|uninstall|tidy|create|init|up|ensure|bootstrap)\b/,
    why: 'nothing was installed',
  },
  {
    told: /(?<![\w-])(?:(?:re)?deployed|published|released|restarted|rebased|cherry-picked|tagged|merged (?:it |the |this )?(?:\w+ )?(?:branch|into main|into master)|(?:started|launched|booted|brought up) the (?:\w+ )?(?:server|app|service|container|stack|database)|seeded|migrated the (?:\w+ )?database|rolled (?:it )?out to|loaded (?:it|them|the (?:data|fixtures|dump)) into|imported (?:it|them|the (?:data|dump)) into the)(?=[ .,;!)]|$)/g,
    by: 'any',
    why: 'no command that ran can have done so',
  },
  {
    told: /(?<![\w-])(?:deleted|removed|dropped|got rid of) (?:the|that|this|its|both|all|two|three|four|\d+)(?: (?!from\b|in\b)[\w'-]+){0,4}? (?:scripts?|files?|folders?|director(?:y|ies))(?= (?:as|and|since|because|from (?:disk|the (?:repo|project))|entirely|altogether|completely|now|too|with)\b|[.,;!)]|$)/g,
    by: 'any',
    tools: ['DeleteFile', 'MoveFile'],
    why: 'no file was deleted',
  },
  {
    told: /(?<![\w-])(?:verified|confirmed|validated|checked) (?:it |this |that )?(?:with|by|in|via|using|under) (?:a |an |the |two |three )(?:[\w-]+ ){0,3}?(?:runs?|tests?|benchmark|requests?|session|build)(?=$|[ .,;)])/g,
    by: 'any',
    why: 'no command was run',
  },
  {
    told: /(?<![\w-])(?:shrank|dropped|went(?: down| up)?|fell|came down|climbed|improved) from (?:about |around |~)?\d[\d.,]* ?(?:[kmg]i?b|bytes|m?s|seconds|minutes|min|%|ms)\b/g,
    by: 'any',
    why: 'no command was run',
    isState: true,
  },
  {
    told: /(?:^|, |\band |; )(?:the |a )?(?!it |this |that |there |which |ci |code )[\w-]+(?: \w+)? (?:now |still )*(?:reports?|finds?|shows?|complains? about|has|gives?) (?:no|zero|0|nothing)(?: (?:more|further|new|remaining|\w+))? (?:errors?|warnings?|issues?|problems?|findings|leaks?|violations?|vulnerabilities|to complain)\b/g,
    by: 'any',
    why: 'no command was run',
    isState: true,
  },
  {
    told: new RegExp(
      `(?<![\\w-])(?:benchmarked|profiled|executed(?! the (?:plan|task|steps?|change|refactor\\w*|migration))|reproduced|ran (?=(?:it|them|both|all|each|everything|the (?:app|application|program|script|server|tests?|suite|binary|benchmarks?|code|example|examples|migrations?|full|whole|\\w+ (?:tests?|suite|benchmarks?|script)))\\b)|smoke-tested|load-tested|tried (?=(?:it|them|all|each|both|every|the (?!to\\b)\\w+ (?:targets?|commands?|flow|script|app|endpoint|options?))\\b)|tested|timed|measured)(?<=ran |tried |executed|reproduced|benchmarked|profiled|-tested|tested|timed|measured)(?:(?<= )|(?=${OBJECT}))`,
      'g',
    ),
    by: 'any',
    why: 'no command was run',
  },
];

/** What a clause says was done that takes a command, or a tool, of which none ran: the reasons why not. */
export function* undoneActs(clause: Clause, facts: ClaimFacts): Generator<string> {
  const { text, under } = clause;
  if (text.endsWith('?') || standsElsewhere(under)) return;
  for (const act of actsNotDone(facts)) {
    for (const match of text.matchAll(act.told)) {
      const isSaid =
        act.isState === true ? !isHedged(text.slice(0, match.index)) : isTold(clause, match.index);
      if (
        !isSaid ||
        isAttributed(text.slice(match.index + match[0].length).replace(/\b[0-9a-f]{7,40}\b/g, ''))
      )
        continue;
      yield act.why;
      break;
    }
  }
}

const actsNotDone = perFacts((facts) => ACTS.filter((act) => !mayHaveDone(act, facts)));

function mayHaveDone({ by, tools = [] }: Act, facts: ClaimFacts): boolean {
  if (tools.some((tool) => facts.tools.has(tool))) return true;
  if (ranNothing(facts)) return false;
  return facts.runs.flat().some(({ command }) => {
    if (by === 'any') return tools.length === 0 || mayHaveWrittenAny(command);
    return (
      by.test(command) ||
      segmentsOf(command).some(
        (segment) => kindsOf(segment).isOpen && segment.words[0]?.endsWith('make') !== true,
      )
    );
  });
}

const BEEN = new RegExp(
  `^(?:[^:;]{1,100} (?:has|have|was|were|is|are)(?: now)?(?: been)? |[^:;]{1,100} (?:has|have|was|were|is|are) [^:;,]{1,60} and |[^:;,]{1,60}ed and (?:the )?[\\w-]+ )(?:${ADVERB} )*$`,
);

function isTold(clause: Clause, at: number): boolean {
  if (speakerAt(clause, at) !== null) return true;
  const before = clause.text.slice(0, at);
  return (
    BEEN.test(before) &&
    !isHedged(before.replace(/\byour\b/g, 'the')) &&
    !/\b(?:that|which|already|found|because|since)\b/.test(before)
  );
}
