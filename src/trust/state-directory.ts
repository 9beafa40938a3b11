import { UsageError } from '../base/errors.ts';
import { dataDirectory, type UserEnvironment } from '../config/paths.ts';
import { isInside } from '../sys/files/paths.ts';
import { projectRoot } from '../sys/files/project-directories.ts';
import { resolveInRoots } from '../sys/files/real-path.ts';

export interface StateOptions extends UserEnvironment {
  /** Absolute and real. */
  readonly cwd: string;
  /** `--data-dir`, as given. */
  readonly dataDir?: string;
}

/** Returns the state directory, absolute and without links. */
export function stateDirectory(options: StateOptions): string {
  return resolveInRoots(dataDirectory(options, options), []).real;
}

/**
 * Returns the state directory if it may hold the user's approvals. Throws UsageError for a directory that was chosen
 * inside the project, because its files may have come with the project, approvals included.
 */
export function approvalDirectory(options: StateOptions): string {
  const directory = stateDirectory(options);
  const own = stateDirectory({ ...options, environment: withoutChoice(options), dataDir: '' });
  const root = projectRoot(options.cwd);
  // Who works in a directory that holds the home itself has brought along all of it.
  const holdsHome = isInside(root, resolveInRoots(options.home, []).real);
  if (directory === own || holdsHome || !isInside(root, directory)) return directory;
  throw new UsageError(
    `the data directory ${directory} lies in the project, which may have brought it along: what is approved is kept only outside of it; choose another with --data-dir`,
  );
}

function withoutChoice({ environment }: UserEnvironment): UserEnvironment['environment'] {
  return { ...environment, MUSTER_DATA_DIR: undefined };
}
