import { NO_HOME, readEnvironment, type Environment } from '../../sys/env.ts';

/** The variables of the process that commands need and that say nothing about the user. */
const NEUTRAL_VARIABLES = ['PATH', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ'] as const;

/**
 * Returns the environment of a session that a program opens. Without `inherit`, it has the variables of the program, and of the
 * process only those that say nothing about the user; the home directory is one that does not exist, unless the program names
 * one.
 */
export function createProgramEnvironment(
  { inherit, environment }: { readonly inherit: boolean; readonly environment?: Environment },
  process: Environment = readEnvironment(),
): Environment {
  if (inherit) return environment ?? process;
  const neutral = NEUTRAL_VARIABLES.map((name) => [name, process[name]] as const);
  return { ...Object.fromEntries(neutral), HOME: NO_HOME, ...environment };
}
