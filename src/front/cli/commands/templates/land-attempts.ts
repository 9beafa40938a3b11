import type { ItemRow, TemplateReport } from '../../../../api/index.ts';
import { MusterError } from '../../../../base/errors.ts';
import { plural } from '../../../../base/text.ts';
import type { DataOptions } from '../../run-options.ts';
import type { OneLanding } from '../tasks/landing-outcome.ts';
import { withTasks } from '../tasks/with-tasks.ts';

/** An attempt whose changes can land. */
export interface LandableAttempt extends ItemRow {
  readonly taskId: string;
}

/** Lists the best attempts that have changed anything. */
export function listLandable({ comparison }: TemplateReport): readonly LandableAttempt[] {
  return (comparison?.best ?? []).flatMap((row) => {
    const { taskId, changes } = row;
    return taskId === null || changes === null || changes.fileCount === 0
      ? []
      : [{ ...row, taskId }];
  });
}

/** Lands the changes of attempts, one after the other. An attempt that cannot land does not keep the others from it. */
export async function landAttempts(
  attempts: readonly LandableAttempt[],
  { dataDir }: DataOptions,
): Promise<readonly OneLanding[]> {
  if (attempts.length === 0) return [];
  return await withTasks({ dataDir }, async (tasks) => {
    const workspaces = await tasks.workspaces(new AbortController().signal);
    const outcomes: OneLanding[] = [];
    for (const { taskId: id } of attempts) {
      try {
        outcomes.push(await workspaces.apply(id, 'commits'));
      } catch (thrown) {
        if (!(thrown instanceof MusterError)) throw thrown;
        outcomes.push({ kind: 'refused', id, problem: thrown.message });
      }
    }
    return outcomes;
  });
}

/** Returns the question whether attempts land. */
export function askToLand(attempts: readonly LandableAttempt[]): string {
  const [first] = attempts;
  const what =
    first !== undefined && attempts.length === 1
      ? `attempt ${first.attempt} (task ${first.taskId})`
      : plural(attempts.length, 'attempt');
  return `Merge the changes of ${what} into your files? [y/N] `;
}
