import { UsageError } from '../base/errors.ts';
import { isInside } from '../sys/files/paths.ts';
import { projectRoot } from '../sys/files/project-directories.ts';
import { resolveInRoots } from '../sys/files/real-path.ts';
import { dataDir, type UserPlace } from '../config/paths.ts';

export interface StateWish extends UserPlace {
  /** Absolute and real. */
  readonly cwd: string;
  /** `--data-dir`, as given. */
  readonly dataDir?: string;
}

/** The state directory, absolute and without links. */
export function stateDirectory(wish: StateWish): string {
  return resolveInRoots(dataDir(wish, wish), []).real;
}

/**
 * The state directory, where it may say what the user has approved. Throws UsageError for one that was
 * chosen inside the project: what lies there may have come with the project, approvals and all.
 */
export function approvalDirectory(wish: StateWish): string {
  const directory = stateDirectory(wish);
  const own = stateDirectory({ ...wish, environment: withoutChoice(wish), dataDir: '' });
  const root = projectRoot(wish.cwd);
  // Who works in a directory that holds the home itself has brought along all of it.
  const holdsHome = isInside(root, resolveInRoots(wish.home, []).real);
  if (directory === own || holdsHome || !isInside(root, directory)) return directory;
  throw new UsageError(
    `the data directory ${directory} lies in the project, which may have brought it along: what is approved is kept only outside of it; choose another with --data-dir`,
  );
}

function withoutChoice({ environment }: UserPlace): UserPlace['environment'] {
  return { ...environment, MUSTER_DATA_DIR: undefined };
}
