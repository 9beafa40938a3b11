import { UsageError } from '../base/errors.ts';
import { dataDirectory, type UserEnvironment } from '../config/paths.ts';
import { isInside } from '../base/path-inside.ts';
import { projectRoot } from '../sys/files/project-directories.ts';
import { resolveInRoots } from '../sys/files/real-path.ts';

/** The name of the file with the installed plugins in the state directory. Without it, there are none. */
export const PLUGINS_FILE = 'plugins.json';
/** The name of the directory with the copies of plugins in the state directory. */
export const PLUGINS_DIRECTORY = 'plugins';

/** The options that decide where the state directory is. */
export interface StateOptions extends UserEnvironment {
  /** The working directory: absolute, and without links. */
  readonly cwd: string;
  /** The value of `--data-dir`. */
  readonly dataDir?: string;
}

/** Returns the state directory, absolute and without links. */
export function stateDirectory(options: StateOptions): string {
  return resolveInRoots(dataDirectory(options, options), []).real;
}

/**
 * Returns the state directory if it may hold the user's approvals. Throws UsageError if the user has chosen a directory
 * inside the project, because such a directory, with approvals in it, may have come with the project.
 */
export function approvalDirectory(options: StateOptions): string {
  const directory = stateDirectory(options);
  const defaultDirectory = stateDirectory({
    ...options,
    environment: removeDataDir(options),
    dataDir: '',
  });
  const root = projectRoot(options.cwd);
  // A directory that contains the user's home did not come from elsewhere with its files.
  const holdsHome = isInside(root, resolveInRoots(options.home, []).real);
  if (directory === defaultDirectory || holdsHome || !isInside(root, directory)) return directory;
  throw new UsageError(
    `the data directory ${directory} is inside the project and may have come with it, so it cannot hold your approvals and keys; choose a directory outside of the project with --data-dir`,
  );
}

function removeDataDir({ environment }: UserEnvironment): UserEnvironment['environment'] {
  return { ...environment, MUSTER_DATA_DIR: undefined };
}
