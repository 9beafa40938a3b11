import { delimiter, isAbsolute } from 'node:path';
import type { Environment } from './env.ts';
import { gitEnvironment, type GitLimits } from './git-environment.ts';

const PASSED_ON = new Set(['HOME', 'LANG', 'TMPDIR', 'USER', 'LOGNAME', 'TZ']);
/** Holds the id of the task that a process was started by. */
export const TASK_VARIABLE = 'MUSTER_TASK';
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/**
 * Variables by which shells, loaders, git and rg run programs or read settings that no word of a command
 * names. What proves a command harmless relies on their absence. Who a commit is by is harmless.
 */
const STEERING =
  /^(?:BASH_.*|ENV|SHELLOPTS|BASHOPTS|PS4|IFS|CDPATH|GLOBIGNORE|LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|GIT_(?!(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)$).*|RIPGREP_CONFIG_PATH|LESSOPEN|LESSCLOSE|PAGER|MUSTER_.*)$/;

/** Whether a user may have this variable passed on (`sandbox.env`). */
export function mayBePassedOn(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !STEERING.test(name);
}

export interface CommandVariables {
  /** Absent: it belongs to none. */
  readonly taskId?: string;
  /** Names of further variables that are passed on (`sandbox.env`). */
  readonly further?: readonly string[];
  readonly git: GitLimits;
}

/**
 * The environment of a command: what a program needs to find its way, what the user lists, and nothing
 * else that could be a secret. `PATH` loses its relative entries, so that a file in the workspace cannot
 * take a program's place. `TASK_VARIABLE` lets a later run find what this one left behind.
 */
export function commandEnvironment(
  own: Environment,
  { taskId, further = [], git }: CommandVariables,
): Environment {
  const listed = new Set(further);
  const passed = Object.entries(own).filter(
    ([name, value]) =>
      value !== undefined && (PASSED_ON.has(name) || name.startsWith('LC_') || listed.has(name)),
  );
  return {
    ...gitEnvironment(git),
    TERM: 'dumb',
    ...Object.fromEntries(passed),
    PATH: commandPath(own),
    ...(taskId === undefined ? {} : { [TASK_VARIABLE]: taskId }),
  };
}

/** Where a command's programs are looked for. */
export function commandPath(own: Environment): string {
  const entries = (own['PATH'] ?? '').split(delimiter).filter((entry) => isAbsolute(entry));
  return entries.length === 0 ? DEFAULT_PATH : entries.join(delimiter);
}
