import { UsageError } from '../../base/errors.ts';
import { TASK_VARIABLE } from '../../sys/processes/command-environment.ts';
import type { Environment } from '../../sys/env.ts';

/** Throws UsageError in a command that an agent runs: only a person may decide what agents may do. */
export function refuseAgents(environment: Environment, action: string): void {
  if (environment[TASK_VARIABLE] === undefined) return;
  throw new UsageError(`an agent cannot ${action}; run this in a shell of your own`);
}
