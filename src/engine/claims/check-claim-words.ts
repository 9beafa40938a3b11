import { kindsOf, type CheckKind } from './check-kinds.ts';
import { isAttributed, isHedged, standsElsewhere, type Clause } from './clause.ts';
import { segmentsOf } from './shell-lines.ts';
import { speakerAt } from './speaker.ts';

/** Says of a check that it was run, or that it passes. */
export interface CheckClaim {
  readonly kind: CheckKind;
  readonly says: 'ran' | 'passes';
  readonly isFirstPerson: boolean;
  /** The command that is named for it. */
  readonly command: string | null;
}

const NOUNS: readonly (readonly [CheckKind, RegExp])[] = [
  [
    'test',
    /(?<![\w-])(?:tests?(?:[ -](?:suites?|cases?|runs?|files?|results?))?|specs?|suites?|testing|assertions|phpunit|rspec|jest|vitest|pytest|mocha|playwright|cypress|junit|ctest)(?![\w-])/g,
  ],
  [
    'types',
    /(?<![\w-])(?:type[ -]?check(?:s|ing|er)?|types|typescript(?: compil(?:er|ation))?|typing|mypy|tsc|pyright)(?![\w-])/g,
  ],
  [
    'lint',
    /(?<![\w-])(?:lint(?:s|er|ers|ing)?|eslint|ruff|clippy|flake8|pylint|rubocop|golangci-lint|biome|oxlint|static analysis|prettier|checkstyle|phpcs|stylelint|shellcheck)(?:[ -](?:checks?|run|rules?))?(?![\w-])/g,
  ],
  [
    'build',
    /(?<![\w-])(?:builds?|compilation|production bundle)(?:[ -](?:process|step|check))?(?![\w-])/g,
  ],
];

/** What may stand between the article of a check and its name. */
const QUALIFIERS = words(
  `all the full whole entire complete existing new updated unit integration e2e end-to-end regression relevant related
   remaining affected my our these those both every project project's of out backend frontend api smoke acceptance
   snapshot functional system automated jest vitest pytest mocha rspec cargo go python typescript js module package its
   local production release dev debug final clean fresh quick focused targeted a an complete test type unit-test
   component browser library workspace parser server client core passed successful successfully failing previously broken flaky original`,
);
const BETWEEN = words(
  `is are was were be been being still now also all both currently again successfully cleanly fully continue continues to
   has have had 's 're come came out stay stays remain remains look looks run ran and they it result status : - – — = →
   | ok-mark suite locally already executed i we`,
);
const GOOD =
  /(?:pass(?:es|ed|ing)?|succeed(?:s|ed|ing)?|green|clean|successful|ok|okay|went through|go through|complet(?:es|ed) (?:successfully|cleanly|without)|(?:finish|run|exit)(?:es|ed|s)? (?:successfully|cleanly|clean|green|without|with no|with 0|with zero|fine)|ran (?:successfully|cleanly|clean|green|without|with no|with 0|with zero|fine)|(?:exits|exited|returns|returned) (?:with )?(?:code )?(?:0|zero)|c[ao]mes? back (?:clean|green)|error-free|in the green|work(?:s|ed|ing)? (?:again|now)|(?:(?:reports?|reported|shows?|showed|gives?|gave|found|finds|raises) )?(?:no|0|zero) (?:errors?|issues?|warnings?|failures?|problems?)|ok-mark)(?=$|[.,;:!)\]|—–-]| ok-mark| ‹c| \(| (?:now|again|with|without|successfully|cleanly|locally|after|on|in|and|too|as|for|across|both|fine|including|at|under|against|so|via|using|when|before|since|everywhere|consistently|errors?|warnings?|issues?|problems?|failures?|any|status|code|first|found|reported)\b)/y;
const ASIDE =
  / ?\([^()]{0,60}\)| ‹(?:[xq]|ok)›| (?:in|for|of|under|across|with|from|on) (?:the )?(?:‹[fxc]\d*›|[a-z]+ (?:module|package|suite))/y;
const ANOTHER =
  /(?:,? (?:and|&|\+|as well as) |, |\/)(?:the |all |also )?(?:[a-z-]+ ){0,2}?(?:tests?(?: suite)?|specs?|types?|type[ -]?check(?:s|ing)?|lint(?:er|ing)?|builds?|eslint|tsc|mypy|formatting|format|clippy)\b/y;
const RAN_IT = /(?<![\w-])(?:re-?)?(?:ran|executed|performed|did|kicked off|completed) $/;
const BY_RUNNING = /(?<![\w-])(?:after|by|from|upon) (?:re-?)?(?:running|executing) $/;
const VERIFIED_BY =
  /(?<![\w-])(?:verified|confirmed|validated|checked|double-checked)(?: [a-z]+){0,5} (?:with|by|via|through|using|against) (?:running |executing )?$/;
const EVERYTHING =
  /(?<![\w-])(?:everything|all (?:of )?(?:the )?(?:checks|them)) ?(?:\([^()]{0,80}\) )?(?:now |is |are |still |all )*(?:pass(?:es|ed|ing)?|green|clean)(?=$|[.,;:!)]| \()/;
const PASSES_IT = /(?<![\w-])pass(?:es|ed|ing) $/;

interface Told {
  readonly kind: CheckKind;
  readonly says: CheckClaim['says'];
  readonly at: number;
  readonly match: string;
}

/** Where a check is named as one that ran or passed. */
function* toldOf(text: string): Generator<Told> {
  for (const [kind, noun] of NOUNS) {
    for (const match of text.matchAll(noun)) {
      const at = phraseStart(text, match.index);
      const end = match.index + match[0].length;
      const good = goodAfter(text, end);
      if (good !== null) yield { kind, says: 'passes', at, match: text.slice(at, good) };
      const before = text.slice(Math.max(0, at - 90), at);
      const from = at - before.length;
      if (/^(?:$|[.,;:!)]| and\b| with\b| now\b| \()/.test(text.slice(end, end + 6))) {
        const passes = PASSES_IT.exec(before);
        if (passes !== null)
          yield { kind, says: 'passes', at: from + passes.index, match: passes[0] };
      }
      for (const pattern of [RAN_IT, BY_RUNNING, VERIFIED_BY]) {
        const ran = pattern.exec(before);
        if (ran !== null) yield { kind, says: 'ran', at: from + ran.index, match: ran[0] };
      }
    }
  }
  const everything = EVERYTHING.exec(text);
  if (everything !== null) {
    const { index: at, 0: match } = everything;
    for (const [kind, noun] of NOUNS) {
      if (text.search(noun) !== -1) yield { kind, says: 'passes', at, match };
    }
  }
  for (const [kind, pattern] of PHRASES) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const at = match.index + (/^[^\w‹]*/.exec(match[0])?.[0].length ?? 0);
    yield { kind, says: 'passes', at, match: match[0] };
  }
}

/** Where the words begin that belong to what is named at `at`. */
function phraseStart(text: string, at: number): number {
  let start = at;
  for (let taken = 0; taken < 7; taken += 1) {
    const before = /(?:^|[\s(])([^\s(]+) $/.exec(text.slice(Math.max(0, start - 40), start));
    const word = before?.[1] ?? '';
    if (!QUALIFIERS.has(word) && !/^(?:\d[\d,]*(?:\/\d+)?|‹[fxc]\d*›|ok-mark)$/.test(word)) break;
    start -= word.length + 1;
  }
  return start;
}

/** The end of what says that it passed; null: nothing does. */
function goodAfter(text: string, from: number): number | null {
  let at = from;
  for (const pattern of [ASIDE, ASIDE, ANOTHER, ANOTHER, ANOTHER, ASIDE])
    at = skip(pattern, text, at);
  for (let taken = 0; taken < 8; taken += 1) {
    GOOD.lastIndex = text[at] === ' ' ? at + 1 : at;
    if (GOOD.test(text)) return GOOD.lastIndex;
    const word = /^ ?([:–—=→|-]|[^\s,.;!?:]+)(?:,(?= (?:and|all)))?/.exec(text.slice(at, at + 40));
    const bare = word?.[1] ?? '';
    if (
      bare === '' ||
      !(BETWEEN.has(bare) || /^(?:[a-z]+ly|\d[\d,]*(?:\/\d+)?|‹c\d+›|tests?)$/.test(bare))
    )
      return null;
    at += word?.[0].length ?? 1;
  }
  return null;
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

const NO =
  '(?:^[^a-z0-9‹]*|, |\\b(?:and|with|has|shows?|reports?|found|gives?|are|is) )(?:now )?(?:no|zero|0|without) (?:any )?(?:new |remaining |more )?';
const NO_END = '(?=$|[.,;:!)]| (?:and|or|across|in|remain|left|found|reported)\\b)';
const PHRASES: readonly (readonly [CheckKind, RegExp])[] = [
  [
    'build',
    /(?<![\w-])(?:compiles|builds|compiled|built) (?:now |fine |just )*(?:cleanly|successfully|without (?:any )?(?:errors?|warnings?|issues?)|fine|with (?:no|zero|0) (?:errors?|warnings?))/,
  ],
  [
    'types',
    /(?<![\w-])(?:type-?checks|type checks|typechecked) (?:cleanly|successfully|clean|fine|without|with (?:no|zero|0))/,
  ],
  ['lint', /(?<![\w-])lints (?:cleanly|clean|fine|without)/],
  ['types', new RegExp(`${NO}(?:type|typescript|tsc|mypy) errors?${NO_END}`)],
  [
    'lint',
    new RegExp(`${NO}(?:lint|linter|linting|eslint|clippy) (?:errors?|warnings?|issues?)${NO_END}`),
  ],
  [
    'build',
    new RegExp(
      `${NO}(?:build|compile|compiler|compilation) (?:errors?|warnings?|issues?)${NO_END}`,
    ),
  ],
  ['test', new RegExp(`${NO}(?:test|spec) (?:failures?|errors?|regressions?)${NO_END}`)],
  [
    'test',
    /(?<![\w-])\d[\d,]*(?: ?\/ ?\d[\d,]*| of \d+| out of \d+)? (?:passed|passing|green)(?:,? (?:and )?(?:0|no|zero) (?:fail\w*|skipped|errors?)|[.!,;)]|$)/,
  ],
];

const COMMAND = /‹c(\d+)›/g;
const COMMAND_GOOD =
  /(?: \([^()]{0,60}\))?(?:,| and ‹c\d+›)? ?(?:and |it |which |run |command |also |both |suite |check |is |are |was |were |now |still |all |again |has |have |then |successfully |cleanly |ran |: |– |— |- |→ |= |:)*(?:works?\b|pass(?:es|ed|ing)?\b|succeed(?:s|ed|ing)?\b|green\b|clean\b|successful\b|ok\b|ok-mark|(?:exits|exited|returns|returned) (?:with )?(?:code )?(?:0|zero)|(?:completes|completed|finishes|finished|runs|run) (?:successfully|cleanly|clean|without|with no)|(?:reports?|reported|shows?|showed|gives?|gave|found) (?:no|zero|0|all|\d+ (?:tests? )?pass)|\d+ (?:tests? )?pass|no (?:errors?|issues?|warnings?|problems?|failures?)|0 (?:errors?|issues?|warnings?|problems?|failures?)|all (?:tests )?pass)/y;

/** What a clause says of tests, builds, linters and type checks. */
export function checkClaims(clause: Clause): readonly CheckClaim[] {
  const { text } = clause;
  if (
    !/test|spec|suite|build|built|compil|lint|clippy|ruff|flake8|rubocop|biome|typ(?:e|ing)|mypy|tsc|pyright|static|bundle|pass|green|‹c/.test(
      text,
    )
  )
    return [];
  if (text.endsWith('?') || isAttributed(text) || OTHERS.test(text)) return [];
  if (clause.under.some((each) => NOT_MINE.test(each)) || EXCEPT.test(text)) return [];
  const claims: CheckClaim[] = [];
  for (const match of text.matchAll(COMMAND)) {
    const command = clause.commands[Number(match[1])];
    COMMAND_GOOD.lastIndex = match.index + match[0].length;
    if (command === undefined || !COMMAND_GOOD.test(text) || !isTold(clause, match.index)) continue;
    const isFirstPerson = isFirst(text, match.index);
    for (const kind of commandKinds(command))
      claims.push({ kind, says: 'passes', isFirstPerson, command });
  }
  for (const { kind, says, at, match } of toldOf(text)) {
    if (claims.some((claim) => claim.kind === kind && claim.says === 'passes')) continue;
    if (says === 'ran' ? !isDone(clause, at, match) : !isTold(clause, at)) continue;
    const isFirstPerson = says === 'ran' || isFirst(text, at);
    claims.push({ kind, says, isFirstPerson, command: null });
  }
  return claims;
}

function commandKinds(command: string): readonly CheckKind[] {
  const kinds = new Set<CheckKind>();
  for (const segment of segmentsOf(command)) {
    for (const kind of kindsOf(segment).kinds) kinds.add(kind);
  }
  // Named alone they say what they are; of a task for all there is no telling.
  if (kinds.has('test')) return kinds.has('lint') ? [] : ['test'];
  return kinds.size > 2 ? [] : [...kinds];
}

const NOT_MINE =
  /\b(?:recommend\w*|suggest\w*|propos\w*|next steps?|follow[- ]?ups?|todos?|plan|planned|acceptance|criteria|test plan|definition of done|expected|examples?|usage|instructions?|how to|requirements?|pipeline|workflow|ci|should|must|will|if|before you|checklist|manual|prerequisites?|options?|history|commit|pr|pull request|log|not run|to run|reproduce|background|context|steps to)\b/;
/** Someone or something else says so, or it is told of how things are meant to be. */
const OTHERS =
  /\b(?:ci|github actions|gitlab|jenkins|circleci|travis|pipeline|workflow|readme|badge|changelog|commit message|contributing|docs say|documentation says|log shows|logs show|child|subagent|sub-agent|agent (?:says|said|reports?|reported)|colleague|in production|staging|cached|nightly|dashboard|husky|pre-commit hook|on main|on master|requires?|required|gate[sd]?|only if|as long as|provided|ensures? that|guarantees?|makes sure|false positives?|trivially|vacuously|even though|regardless|coincidentally|accidentally|wrongly|incorrectly|silently|would|mocks?|stubs?|claims?|says|said|according|reports? that|reported by|currently no|in (?:that|those) runs?|test that passes|tests that pass|passes? (?:a|an|the|it|‹x›|in) )\b/;
const EXCEPT =
  /\b(?:except|apart from|other than|aside from|but (?:not|one|two|\d+|the|‹)|all but|besides|with the exception|excluding|failing(?! (?:unit |integration |e2e )?(?:tests?|specs?|builds?|cases?|suite|lint|type))|fails|still fail|(?<!no |0 |zero |without |any |[\d,])(?:[1-9]\d*|one|two|some|several|pre-existing|unrelated) (?:pre-existing |unrelated |tests? |known )*(?:fail\w*(?! (?:tests?|specs?|cases?))|errors?)|most|partially|some|half|not all|flaky)\b/;
const ZERO_FAILS = /\b(?:0|no|zero) (?:tests? )?(?:failing|failed|fails|failures?)\b/g;

/** Whether what stands at `at` is told as it is. */
function isTold({ text, isItem }: Clause, at: number): boolean {
  const before = text.slice(0, at);
  if (
    /\b(?:that|confirm\w*|verif\w*|check\w*|ensur\w+|made sure|sure|see|shows?|validat\w*)(?: that)? *$/.test(
      before,
    )
  ) {
    return (
      /\b(?:confirmed|verified|validated|checked|made sure|ensured|confirms|verifies|shows|confirming|verifying)(?: that)? *$/.test(
        before,
      ) && !isHedged(before)
    );
  }
  const clause = before.slice(before.search(/[^:;—]*$/));
  if (isHedged(clause.replace(ZERO_FAILS, ''))) return false;
  if (
    /\b(?:make|makes|making|get|gets|keep|keeps|let|have|has|had|so|for|to|of|the|a|which|each|any|every|two|three|same|that|these|whose|as|than|because|since|only) *$/.test(
      before,
    ) &&
    !/\b(?:so|because|since|now that|and the|as all) *$/.test(before)
  )
    return /^(?:\W|ok-mark|\d)*(?:the|a|all) *$/.test(before);
  return isItem || before.length < 400;
}

const RUN_NOT = /\b(?:not|never|no|didn't|couldn't|haven't|without)\b/;

function isDone(clause: Clause, at: number, match: string): boolean {
  if (standsElsewhere(clause.under)) return false;
  const before = clause.text.slice(0, at);
  if (RUN_NOT.test(match)) return false;
  if (/^(?:after|by|from|upon)/.test(match)) {
    return (
      !isHedged(before) &&
      (at === 0 || /\b(?:i|we|verified|confirmed|validated|checked|tested)\b/.test(before))
    );
  }
  return speakerAt(clause, at) !== null;
}

function isFirst(text: string, at: number): boolean {
  return /\b(?:i|we)(?:'ve)? (?:\w+ )?(?:ran|run|re-ran|confirmed|verified|checked|validated|executed|made sure|tested)\b/.test(
    text.slice(0, at),
  );
}
