import { kindsOf, type CheckKind } from './check-kinds.ts';
import type { ClaimFacts, ClaimRun } from './facts.ts';
import { segmentsOf } from './shell-lines.ts';

/** What the receipt tells of a kind of check. `unsure`: something ran that may have been one. */
export type CheckOutcome = 'none' | 'failed' | 'unsure';

/** By kind: what the receipt has against a claim that such a check ran or passed. */
export function checkOutcome(facts: ClaimFacts, kind: CheckKind): CheckOutcome {
  let outcome: CheckOutcome = 'none';
  for (const group of facts.runs) {
    const last =
      group.map((run) => outcomeOf(run, kind)).findLast((each) => each !== 'none') ?? 'none';
    if (last === 'unsure') return 'unsure';
    if (last === 'failed') outcome = 'failed';
  }
  return outcome;
}

/** The exit code is that of the last program; in a chain of `&&` none of them passed behind one that failed. */
function outcomeOf({ command, exitCode }: ClaimRun, kind: CheckKind): CheckOutcome {
  const segments = segmentsOf(command);
  const checks = segments.map(kindsOf);
  if (!checks.some(({ kinds, isOpen }) => kinds.has(kind) || isOpen)) return 'none';
  const last = checks.at(-1);
  const joint = segments.at(-1)?.joint;
  const fails = exitCode !== 'unknown' && exitCode !== 0;
  const isLast = last !== undefined && last.kinds.has(kind) && !last.isOpen;
  return fails && isLast && joint !== '|' && joint !== '||' ? 'failed' : 'unsure';
}
