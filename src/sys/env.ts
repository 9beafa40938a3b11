import { homedir } from 'node:os';

/** Environment variables as a value. They are read in this module only, and passed on from the entry points. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the environment variables of this process. */
export function readEnvironment(): Environment {
  return process.env;
}

/** Returns the home directory of the user. An empty variable counts as not set. */
export function homeDirectory(environment: Environment): string {
  return environment['HOME'] || homedir();
}
