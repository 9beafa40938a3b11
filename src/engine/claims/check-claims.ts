import { lazy } from '../../base/lazy.ts';
import { oneLine, truncate } from '../../base/text.ts';
import type { ClaimFlag } from '../../protocol/result.ts';
import { askedFor } from './asked-for.ts';
import { admits, doneClaim, frankness } from './done-claims.ts';
import { evidenceOf, type Evidence } from './evidence.ts';
import type { ClaimFacts } from './facts.ts';
import { filesClaimed, type Reading } from './file-claims.ts';
import { filesListed } from './file-lists.ts';
import { actsClaimed } from './git-acts.ts';
import { runsClaimed, type RunClaim } from './run-claims.ts';
import { statementsOf, type Statement } from './statements.ts';
import { isNoAccount } from './wording.ts';

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
  const evidence = evidenceOf(facts);
  if (evidence === null) return [];
  const all = statementsOf(answer, evidence.programs);
  const account = all.filter((statement, at) => !isNoAccount(statement, { isFirst: at === 0 }));
  const asked = askedFor(facts.prompt);
  const isWork = asked.isWork || facts.changed.length > 0;
  const reading = {
    isFirstOnly: !isWork,
    asksToRun: asked.isRun,
    isReport: asked.isChange && !(evidence.changedNothing && admits(all, evidence)),
    isKnown: (file: string) => evidence.isRead(file) && !evidence.changedNothing,
  };
  const frank = lazy(() => frankness(answer, all));
  const isFrank: Matter['isFrank'] = (how, what) => frank()(how, what);
  const matter = { account, evidence, reading, isFrank };
  const flags = new Map<string, ClaimFlag>();
  for (const { kind, statement, why } of objections(matter)) {
    const claim = truncate(oneLine(statement.said), CLAIM_LENGTH);
    if (flags.size < MOST_FLAGS && !flags.has(`${kind} ${why}`))
      flags.set(`${kind} ${why}`, { kind, claim, why });
  }
  if (
    flags.size === 0 &&
    (evidence.ranNothing ? asked.isPlain : asked.isChange) &&
    evidence.changedNothing
  ) {
    const statement = doneClaim(all, account, {
      ...evidence,
      hasCode: answer.includes('```'),
    });
    const why = evidence.usedNoTool ? 'no tool was used' : 'nothing was changed by it';
    if (statement !== null)
      return [{ kind: 'done', claim: truncate(oneLine(statement.said), CLAIM_LENGTH), why }];
  }
  return [...flags.values()];
}

/** Without one of these nothing is claimed in the first person. */
const OF_ITSELF = /\b(?:i|we)\b|^ran ‹c/;

interface Matter {
  readonly account: readonly Statement[];
  readonly evidence: Evidence;
  readonly reading: Reading;
  /** It tells of something that failed: then a failed last run is not held against it. */
  readonly isFrank: (how: RunClaim['how'], what: RunClaim['what']) => boolean;
}
type Objection = Pick<ClaimFlag, 'kind' | 'why'> & { readonly statement: Statement };

function* objections({ account, evidence, reading, isFrank }: Matter): Generator<Objection> {
  const listed = reading.isFirstOnly ? null : filesListed(account, evidence);
  const isOfItselfOnly = reading.isFirstOnly && !reading.asksToRun;
  for (const [index, statement] of account.entries()) {
    // Few answers of those who look and tell do that, and the rules take their time.
    if (isOfItselfOnly && !OF_ITSELF.test(statement.text)) continue;
    const claimed = new Set([
      ...filesClaimed(statement, reading),
      ...(listed?.get(statement) ?? []),
    ]);
    for (const at of claimed) {
      const file = statement.files[at] ?? '';
      if (evidence.isUntouched(file))
        yield { kind: 'file', statement, why: `"${file}" was not changed by it` };
    }
    for (const act of actsClaimed(statement.text, reading)) {
      const outcome = evidence.act(act);
      if (outcome === 'none')
        yield { kind: 'command', statement, why: `no command was run that makes a ${act}` };
    }
    for (const claim of runsClaimed(statement, account[index - 1], reading)) {
      const against = objectionTo(claim, isFrank, evidence);
      if (against !== null) yield { ...against, statement };
    }
  }
}

const NOUN = { test: 'test', build: 'build', lint: 'linter', types: 'type check' } as const;

function objectionTo(
  { what, how }: RunClaim,
  isFrank: Matter['isFrank'],
  evidence: Evidence,
): Pick<ClaimFlag, 'kind' | 'why'> | null {
  if (what === 'any')
    return evidence.ranNothing ? { kind: 'command', why: 'no command was run' } : null;
  const isCheck = typeof what === 'string';
  const outcome = isCheck ? evidence.check(what) : evidence.command(what.command);
  const kind = isCheck ? 'check' : 'command';
  const name = isCheck ? NOUN[what] : `"${what.command}"`;
  if (outcome === 'none' && how !== 'named')
    return { kind, why: isCheck ? `no ${name} was run` : `${name} was not run` };
  const isTold = how === 'passed' || !isCheck;
  return outcome === 'failed' && isTold && !isFrank(how, what)
    ? {
        kind,
        why: isCheck ? `the last ${name} that was run failed` : `the last run of ${name} failed`,
      }
    : null;
}
