import type { ClaimFacts, ClaimRun } from './facts.ts';
import { looksOnly } from './possible.ts';
import { segmentsOf } from './shell-lines.ts';

/** Whether nothing was changed, and all that ran, but for what only looks, failed each time. */
export function allFailed({ changed, runs }: ClaimFacts): boolean {
  if (changed.length > 0) return false;
  const efforts = runs.flat().filter(({ command }) => !segmentsOf(command).every(looksOnly));
  return efforts.length > 0 && efforts.every(hasFailed);
}

function hasFailed({ command, exitCode }: ClaimRun): boolean {
  const segments = segmentsOf(command);
  const isTold = segments.every(({ joint }) => joint === '' || joint === '&&');
  return isTold && exitCode !== 'unknown' && exitCode !== 0;
}
