import type { CheckKind } from './check-kinds.ts';
import { standsElsewhere, type Clause } from './clause.ts';
import { wentWell } from './outcome-claims.ts';

const OF_CHECKS: readonly (readonly [CheckKind, RegExp])[] = [
  // As in `312 passing, 0 failing`, `19 successes / 0 failures`, `All 6 scenarios pass`.
  [
    'test',
    /\b[1-9]\d*(?: \w+)? (?:pass(?:ed|ing)|successes|succeeded|ok|green)\b|\b\d+ (?:scenarios?|examples?|cases?|specs?|assertions?|tests?|checks) (?:now |all |still )*(?:pass|are green|succeed)|\b[1-9]\d* (?:\w+ )?(?:tests?|specs?|examples?|assertions|scenarios)\b.{1,12}\b(?:0|no) (?:fail|error)|\b[1-9]\d* (?:\w+ )?(?:tests?|specs?|cases|scenarios),? (?:and )?(?:they )?all (?:of them )?(?:now |are )?(?:green|pass)/,
  ],
  [
    'test',
    /(?:^|[,;:–—] |\band )\W*(?:\d+ |all |the |whole |full |my |new |its |your |every |of |(?!no\b|failing|flaky|that|which)[\w-]+ ){0,4}(?:tests?|suites?|specs?|test run)\b(?=.)(?! (?:for|of|that|which|in|to|cover\w*|file|case|should|now exists?|exists?|added|written|is at|are at|is in|are in)\b)/,
  ],
  [
    'lint',
    /(?:^|[,;:–—] |\band )\W*(?:the )?(?:linter|linting|lint|eslint|prettier|formatter|ruff|clippy|rubocop|biome|flake8|formatting check)(?: checks?| run)? (?:is|are|has|reports?|finds|comes|came|finishes|runs|ran|gives|shows)\b/,
  ],
  [
    'types',
    /(?:^|[,;:–—] |\band )\W*(?:the )?(?:type[- ]?check(?:ing|er|s)?|typescript|tsc|mypy|pyright)(?: checks?| run)? (?:is|are|has|reports?|finds|comes|came|finishes|runs|ran|gives|shows)\b/,
  ],
  [
    'test',
    /(?:^|[,;:–—] |\band )\W*(?:everything|it all|all of (?:it|them)|they all|all|the whole (?:thing|suite)|(?:the )?suites?)(?:'s| is| are| comes up| runs| stays| remains)? (?:now |still |all |again )*(?:green|pass(?:es|ing)?)\b/,
  ],
  [
    'build',
    /\b(?:project|code|codebase|app|application|everything|library|crate|package|workspace|solution|site|docs|program|binary|module|bundle|storybook|image|all|it) (?:now |still |all |again |also )*(?:compiles?|builds?)(?=$|[.,;:!)]| (?:now|again|fine|clean\w*|success\w*|without|with|just|under|for|on|and|ok)\b)/,
  ],
];

/** What a clause tells of the outcome of checks without naming one of them; null: nothing. */
export function tallyOf({ text, under }: Clause): CheckKind | null {
  if (text.endsWith('?') || standsElsewhere(under) || OF_OTHERS.test(text)) return null;
  const found = OF_CHECKS.find(([, pattern]) => pattern.test(text));
  return found !== undefined && wentWell(text) ? found[0] : null;
}

const OF_OTHERS =
  /\b(?:ci|pipeline|workflow|badge|on main|on master|in (?:that|those) runs?|says?|said|reported|tells?|mentions?|describes?|checks that|checks whether|so it (?:compiles|builds))\b/;
