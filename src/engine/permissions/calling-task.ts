import type { CallerPermissions } from '../task/task-permissions.ts';
import type { TaskRun } from '../task/task-run.ts';

/** The task that makes a call, as far as the decision about the call depends on it. */
export interface CallingTask extends Pick<TaskRun, 'spec' | 'state' | 'view'> {
  readonly permissions: CallerPermissions;
}
