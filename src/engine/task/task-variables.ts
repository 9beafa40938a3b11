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
 * Returns the variables that a task has set for its commands. Variables from an imported part of its log, and names
 * that a task may not set, are left out.
 */
export function readTaskVariables(
  run: Pick<TaskRun, 'state'> & { readonly permissions: Pick<TaskPermissions, 'isTrusted'> },
): Readonly<Record<string, string>> {
  const { variables } = run.state;
  const settable = [...variables].filter(
    ([name, { seq }]) => isSettableByTask(name) && run.permissions.isTrusted(seq),
  );
  return Object.fromEntries(settable.map(([name, { value }]) => [name, value]));
}

/** Creates the port through which calls of a task read and set variables. */
export function createVariablePort(deps: EngineDeps, run: TaskRun): VariablePort {
  return {
    seen: () => {
      const { environment = readEnvironment() } = deps;
      const passed = listPassedVariables(environment, deps.settings.commandVariables);
      return { ...passed, ...readTaskVariables(run), PATH: buildCommandPath(environment) };
    },
    own: () => new Set(Object.keys(readTaskVariables(run))),
    keeps: (value) => deps.redact === undefined || deps.redact(value) === value,
  };
}
