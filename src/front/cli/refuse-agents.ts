import { UsageError } from '../../base/errors.ts';
import { TASK_VARIABLE } from '../../sys/command-environment.ts';
import type { Environment } from '../../sys/env.ts';

/** For commands by which a person says what agents may do. Throws UsageError in the commands of an agent. */
export function refuseAgents(environment: Environment, what: string): void {
  if (environment[TASK_VARIABLE] === undefined) return;
  throw new UsageError(`an agent cannot ${what}; run this in a shell of your own`);
}
