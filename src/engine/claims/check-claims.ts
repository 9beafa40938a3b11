import { oneLine, truncate } from '../../base/text.ts';
import type { ClaimFlag } from '../../protocol/result.ts';
import type { CommandRun } from '../../protocol/tool.ts';
import { TOOL_NAMES } from '../../protocol/tool-names.ts';
import { askedFor, asksForHistory, type Asked } from './asked-for.ts';
import { checkClaims as claimsOfChecks, type CheckClaim } from './check-claim-words.ts';
import type { CheckKind } from './check-kinds.ts';
import { checkOutcome } from './check-runs.ts';
import { clauseOf, type Clause } from './clause.ts';
import { commandClaims, mayHaveRun } from './command-claims.ts';
import { mayHaveWritten } from './command-effects.ts';
import { isOfTheHands, saysDone } from './done-claims.ts';
import type { ClaimFacts } from './facts.ts';
import { fileClaims } from './file-claims.ts';
import { isSameFile } from './file-names.ts';
import { statementsOf } from './statements.ts';

/** Flags of one answer; the rest would say nothing new. */
const MOST_FLAGS = 20;
/** Code points of the sentence that a flag quotes. */
const CLAIM_LENGTH = 160;

/**
 * What an answer claims that the receipt of its task does not bear out (docs/receipts.md has the rules).
 * English alone; what can't be held against the receipt is never flagged, and where the receipt leaves
 * doubt the answer is believed. Pure; looks into the first and the last 40,000 characters.
 */
export function checkClaims(answer: string, facts: ClaimFacts): readonly ClaimFlag[] {
  const flags = new Map<string, ClaimFlag>();
  const clauses = statementsOf(answer).map(clauseOf);
  let asked: Asked | null = null;
  const matter = { facts, clauses, asked: () => (asked ??= askedFor(facts.prompt)) };
  const hasTools = [...facts.tools].some((tool) => !NOTES.has(tool));
  for (const clause of clauses) {
    if (flags.size >= MOST_FLAGS) break;
    for (const { kind, why } of againstClause(clause, matter)) {
      const claim = truncate(oneLine(clause.said), CLAIM_LENGTH);
      if (!flags.has(`${kind} ${why}`)) flags.set(`${kind} ${why}`, { kind, claim, why });
    }
  }
  if (
    flags.size === 0 &&
    !hasTools &&
    matter.asked() === 'work' &&
    isOfTheHands(facts.prompt, answer)
  ) {
    const said = clauses.find(saysDone);
    if (said !== undefined && !clauses.some(admitsNothing)) {
      const claim = truncate(oneLine(said.said), CLAIM_LENGTH);
      return [{ kind: 'done', claim, why: 'no tool was used' }];
    }
  }
  return [...flags.values()].slice(0, MOST_FLAGS);
}

interface Matter {
  readonly facts: ClaimFacts;
  /** What the prompt asks for. */
  asked(): Asked;
  readonly clauses: readonly Clause[];
}

type Objection = Omit<ClaimFlag, 'claim'>;

function againstClause(clause: Clause, matter: Matter): readonly Objection[] {
  if (matter.facts.hasGaps || !usesKnownToolsAlone(matter.facts)) return [];
  return [
    ...againstFiles(clause, matter),
    ...againstChecks(clause, matter),
    ...againstCommands(clause, matter),
  ];
}

/** Tools whose receipts are whole. Of others, such as those of MCP servers, nobody knows what they do. */
const KNOWN_TOOLS: ReadonlySet<string> = new Set(TOOL_NAMES);
/** Muster's own notes, and what only talks. */
const NOTES: ReadonlySet<string> = new Set([
  'TodoWrite',
  'Notify',
  'CurrentTime',
  'Sleep',
  'AskUser',
]);
/** They keep texts under names that look like files. */
const KEEPS_TEXTS = /^(?:Memory|Board|HttpRequest)/;

function usesKnownToolsAlone({ tools }: ClaimFacts): boolean {
  return [...tools].every((tool) => KNOWN_TOOLS.has(tool));
}

function* againstFiles(clause: Clause, { facts, asked }: Matter): Generator<Objection> {
  if ([...facts.tools].some((tool) => KEEPS_TEXTS.test(tool))) return;
  const claims = fileClaims(clause);
  if (claims.length === 0) return;
  const mayTellOfOthers =
    asked() !== 'work' || (asksForHistory(facts.prompt) && facts.runs.flat().some(readsHistory));
  for (const { oneOf, isFirstPerson } of claims) {
    if (mayTellOfOthers && !isFirstPerson) continue;
    if (oneOf.length === 0 || oneOf.some((file) => mayHaveChanged(file, facts))) continue;
    const named = oneOf.map((file) => JSON.stringify(truncate(file, 80))).join(' or ');
    yield { kind: 'file', why: `${named} was not changed by it` };
  }
}

function readsHistory({ command }: CommandRun): boolean {
  return /\bgit\b.*\b(?:log|show|diff|blame|status|shortlog)\b|\bgh (?:pr|run)\b/.test(command);
}

function mayHaveChanged(file: string, { changed, runs }: ClaimFacts): boolean {
  return (
    changed.some((path) => isSameFile(file, path)) ||
    runs.some((group) => group.some(({ command }) => mayHaveWritten(command, file)))
  );
}

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

function* againstChecks(clause: Clause, { facts, asked, clauses }: Matter): Generator<Objection> {
  for (const claim of claimsOfChecks(clause)) {
    if (!isHeld(claim, facts, asked())) continue;
    const outcome = checkOutcome(facts, claim.kind);
    if (outcome === 'none') yield { kind: 'check', why: CHECK_NAMES[claim.kind] };
    if (outcome === 'failed' && claim.says === 'passes' && !clauses.some(admitsFailure)) {
      yield { kind: 'check', why: FAILED_NAMES[claim.kind] };
    }
  }
}

/** Where a report was asked for, an answer may tell of the outcome of others' checks, as of a CI log. */
function isHeld(
  { isFirstPerson }: CheckClaim,
  { prompt, read }: ClaimFacts,
  asked: Asked,
): boolean {
  if (isFirstPerson) return true;
  if (asked === 'words') return false;
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

const FAILURE =
  /\b(?:fail(?:s|ed|ing|ures?)?|broken|errors?|does not pass|do not pass|doesn't pass|don't pass|red)\b/i;
const NO_FAILURE =
  /\b(?:no|zero|0|without|any|fix(?:ed|es|ing)?|resolv\w+|repair\w+|previously|was|were|before|originally|handl\w+|throw\w*|raise\w*|return\w*|log\w*|message|used to|cause[sd]?|when|if|test for|tests for|case|cases|path|paths|now pass\w*|no longer|class|type)\b/i;

const STILL_FAILS =
  /\bstill (?:fail|broken|red)|(?<!no |\d)[1-9]\d* (?:of \d+ )?(?:pre-existing |other |unrelated )*(?:tests? )?(?:still )?fail(?:s|ed|ing|ures?)?\b|\bfails? (?:because|due|with|since)\b|\b(?:pre-existing|unrelated) fail/i;

function admitsFailure({ text }: Clause): boolean {
  return STILL_FAILS.test(text) || (FAILURE.test(text) && !NO_FAILURE.test(text));
}

/** An answer that says so itself needs no flag. */
function admitsNothing({ text }: Clause): boolean {
  return /\b(?:(?:i|we) (?:have not|haven't|did not|didn't|could not|couldn't|cannot|can't|am unable|don't have|do not have)|no (?:changes|tools?|files?|work) (?:were|was|is|are)? ?(?:needed|necessary|required|made|available|used)|nothing (?:to do|needed|was needed|needs)|already (?:done|exists?|in place|implemented|fixed|correct|present|up to date)|as an ai)\b/i.test(
    text,
  );
}

function* againstCommands(clause: Clause, { facts }: Matter): Generator<Objection> {
  for (const command of commandClaims(clause)) {
    if (mayHaveRun(command, facts)) continue;
    yield { kind: 'command', why: `${JSON.stringify(truncate(oneLine(command), 80))} was not run` };
  }
}
