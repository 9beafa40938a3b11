import { hasCriteria, type AcceptanceCriteria } from '../../protocol/acceptance.ts';
import type { LandingCheck } from '../../protocol/workspace.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import { runInDirectory } from './run-in-directory.ts';

/**
 * Creates the check of merged files: the acceptance criteria of the task whose changes are landed, in the sandbox of the
 * task that lands them. Returns null if there are no criteria.
 */
export function createLandingCheck(
  deps: EngineDeps,
  run: TaskRun,
  criteria: AcceptanceCriteria | undefined,
  signal: AbortSignal,
): LandingCheck | null {
  if (criteria === undefined || !hasCriteria(criteria)) return null;
  return {
    criteria,
    run: (command, directory) =>
      runInDirectory(deps, run, { command, directory, roots: [directory], signal }),
  };
}
