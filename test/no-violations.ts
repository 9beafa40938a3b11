import { describeViolations, type Violation } from '../src/testing/index.ts';

/** Fails if requests to a fake server have broken rules of their vendors, with a list of them. */
export function expectNoViolations({
  violations,
}: {
  readonly violations: readonly Violation[];
}): void {
  if (violations.length === 0) return;
  throw new Error(`Requests break rules of their vendors:\n${describeViolations(violations)}`);
}
