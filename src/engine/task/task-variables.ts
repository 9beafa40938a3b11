import type { VariablePort } from '../../protocol/tool.ts';
import {
  buildCommandPath,
  isSettableByTask,
  listPassedVariables,
} from '../../sys/processes/command-environment.ts';
import { readEnvironment } from '../../sys/env.ts';
import type { EngineDeps } from './deps.ts';
import type { TaskRun } from './task-run.ts';
import { TaskPermissions } from './task-permissions.ts';

/**
 * The variables that a task has set for its commands. Its log tells them; from one that was made
 * elsewhere nothing is taken, and from none what a task may not set.
 */
export function variablesSet(
  run: Pick<TaskRun, 'state'> & { readonly permissions: Pick<TaskPermissions, 'isTrusted'> },
): Readonly<Record<string, string>> {
  const { variables } = run.state;
  const own = [...variables].filter(
    ([name, { seq }]) => isSettableByTask(name) && run.permissions.isTrusted(seq),
  );
  return Object.fromEntries(own.map(([name, { value }]) => [name, value]));
}

export function variablePort(deps: EngineDeps, run: TaskRun): VariablePort {
  return {
    seen: () => {
      const own = readEnvironment();
      const passed = listPassedVariables(own, deps.settings.commandVariables);
      return { ...passed, ...variablesSet(run), PATH: buildCommandPath(own) };
    },
    own: () => new Set(Object.keys(variablesSet(run))),
    keeps: (value) => deps.redact === undefined || deps.redact(value) === value,
  };
}
