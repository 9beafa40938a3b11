import type { Asked } from './asked-for.ts';
import { checkClaims, type CheckClaim } from './check-claim-words.ts';
import type { CheckKind } from './check-kinds.ts';
import { checkOutcome } from './check-runs.ts';
import { tallyOf } from './check-tallies.ts';
import type { Clause } from './clause.ts';
import { mayHaveRun } from './command-runs.ts';
import type { ClaimFacts } from './facts.ts';
import type { Matter, Objection } from './matter.ts';
import { admitsFailing } from './troubles.ts';

const CHECK_NAMES: Readonly<Record<CheckKind, string>> = {
  test: 'no test was run',
  build: 'no build was run',
  lint: 'no linter was run',
  types: 'no type check was run',
};
const FAILED_NAMES: Readonly<Record<CheckKind, string>> = {
  test: 'the last test run failed',
  build: 'the last build failed',
  lint: 'the last run of a linter failed',
  types: 'the last type check failed',
};

/** What the receipt has against checks that a clause says ran or passed. */
export function* againstChecks(clause: Clause, matter: Matter): Generator<Objection> {
  const { facts, asked, clauses } = matter;
  // What it was checked with stands there, and is held against the receipt by its name.
  if (clause.commands.some((command) => mayHaveRun(command, facts))) return;
  if (asked() === 'work') yield* againstTallies(clause, matter);
  for (const claim of checkClaims(clause)) {
    if (!isHeld(claim, facts, asked())) continue;
    const outcome = checkOutcome(facts, claim.kind);
    if (outcome === 'none') yield { kind: 'check', why: CHECK_NAMES[claim.kind] };
    if (outcome === 'failed' && claim.says === 'passes' && !admitsFailing(clauses)) {
      yield { kind: 'check', why: FAILED_NAMES[claim.kind] };
    }
  }
}

const EXPLAINS = /^\W*(?:what|why|how|which|explain|where|when|who)\b/i;

/** Where a report was asked for, an answer may tell of the outcome of others' checks, as of a CI log. */
function isHeld(
  { isFirstPerson }: CheckClaim,
  { prompt, read }: ClaimFacts,
  asked: Asked,
): boolean {
  if (isFirstPerson) return true;
  if (asked === 'words' || (asked === 'report' && EXPLAINS.test(prompt))) return false;
  const tellsOfOthers =
    /\b(?:ci|logs?|pipeline|workflow|actions|results?|report file|output|history|commits?|pr|pull request|changelog|release)\b/i;
  const isLog = (path: string) =>
    /\.(?:log|out|xml|tap|trx)$|junit|(?:test|build|ci|lint)[-_.]?(?:results?|output|report|log)|report\.\w+$|status\.\w+$/i.test(
      path,
    );
  if (read.some(isLog)) return false;
  return (
    asked === 'work' ||
    (/\b(?:tests?|build|lint\w*|type[- ]?check\w*|compile\w*|pass\w*|verify|run)\b/i.test(prompt) &&
      !tellsOfOthers.test(prompt))
  );
}

const KINDS: readonly CheckKind[] = ['test', 'build', 'lint', 'types'];

function* againstTallies(clause: Clause, { facts, clauses }: Matter): Generator<Objection> {
  const kind = tallyOf(clause);
  if (kind === null) return;
  const outcomes = KINDS.map((each) => checkOutcome(facts, each));
  if (outcomes.every((outcome) => outcome === 'none'))
    yield { kind: 'check', why: CHECK_NAMES[kind] };
  else if (
    checkOutcome(facts, kind) === 'failed' &&
    !outcomes.includes('unsure') &&
    !admitsFailing(clauses)
  ) {
    yield { kind: 'check', why: FAILED_NAMES[kind] };
  }
}
