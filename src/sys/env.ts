/** Environment variables as a value. They are read in this module only, and passed on from the entry points. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The home directory of a user who has none. It does not exist, and Muster never creates it. */
export const NO_HOME = '/nonexistent';

/** Returns the environment variables of this process. */
export function readEnvironment(): Environment {
  return process.env;
}

/**
 * Returns the home directory of the user: `HOME`, else the one in the user database, else `NO_HOME`. A path that is
 * empty or relative counts as not set. Default of `environment`: that of this process.
 */
export function homeDirectory(environment: Environment = readEnvironment()): string {
  const home = environment['HOME'] ?? '';
  return home.startsWith('/') ? home : homeInUserDatabase();
}

function homeInUserDatabase(): string {
  try {
    // An import would load the module on each start, and fail on a Node that is too old to say so.
    const { homedir } = process.getBuiltinModule('node:os').userInfo();
    return homedir.startsWith('/') ? homedir : NO_HOME;
  } catch {
    // In a container, the user often has no entry in the database.
    return NO_HOME;
  }
}
