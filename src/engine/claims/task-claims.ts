import type { ClaimFlag } from '../../protocol/result.ts';
import { leisure } from '../../sys/leisure.ts';
import type { checkClaims } from './check-claims.ts';
import { taskFacts } from './task-facts.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** The rules are many expressions: they are loaded when there is an answer, and not at the start. */
let check: typeof checkClaims | null = null;
let isPrepared = false;

/** Loads the rules. Rejects when their file can't be loaded. */
export async function loadClaimCheck(): Promise<void> {
  check ??= (await import('./check-claims.ts')).checkClaims;
}

/**
 * What an answer of a task claims that its log does not bear out. At once where the rules are loaded;
 * a promise where they are still to be.
 */
export function taskClaims(
  state: TaskState,
  answer: string,
): readonly ClaimFlag[] | Promise<readonly ClaimFlag[]> {
  if (answer.trim() === '') return [];
  // It may speak of what another task did, whose conversation it has and whose log it has not.
  const { branchedFrom, inherited } = state.spec;
  if (branchedFrom !== undefined || inherited !== undefined) return [];
  if (check !== null) return check(answer, taskFacts(state));
  return loadClaimCheck().then(() => taskClaims(state, answer));
}

/**
 * To be called while a model answers: the first check in a process takes tens of milliseconds, which
 * nobody is kept waiting for then. A thousand other tasks may begin meanwhile: they go first.
 */
export function prepareClaimCheck(): void {
  if (isPrepared) return;
  isPrepared = true;
  void leisure({ lookMs: 20, mostMs: 2_000 }).then(checkAnExample);
}

function checkAnExample(): void {
  const facts = {
    prompt: 'Fix a.ts',
    cwd: '/',
    read: [],
    changed: [],
    runs: [[{ command: 'npm test', exitCode: 0 }]],
    tools: new Set(['Bash']),
    hasGaps: false,
  };
  loadClaimCheck().then(
    () => check?.('I fixed `a.ts`. All tests pass.', facts),
    () => {
      // The check itself meets the same error, and tells it.
    },
  );
}
