import { MusterError } from '../../base/errors.ts';
import { findDeniedPaths } from '../../policy/denied-paths.ts';
import { hasCriteria, type AcceptanceCriteria } from '../../protocol/acceptance.ts';
import type { LandingCheck } from '../../protocol/workspace.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import { decideCheckCommand } from '../permissions/judge.ts';
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
    hidden: findDeniedPaths(run.permissions.rights, { home: deps.home }).hidden,
    run: async (command, directory) => {
      const { verdict, reason } = await decideCheckCommand(deps, run, command);
      if (verdict === 'deny') {
        const message = `nothing was changed, because the merged files cannot be checked: ${command} may not run: ${reason}`;
        throw new MusterError('PERMISSION_DENIED', message);
      }
      return await runInDirectory(deps, run, { command, directory, roots: [directory], signal });
    },
  };
}
