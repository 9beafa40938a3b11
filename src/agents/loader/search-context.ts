import type { Environment } from '../../sys/env.ts';
import { listProjectDirectories } from '../../sys/files/project-directories.ts';
import { PathCache } from './path-cache.ts';
import { userDirectories, type UserDirectories } from './user-directories.ts';

/** The directories around a working directory, as they are now. It serves the searches of one moment. */
export interface SearchContext {
  /** Absolute. */
  readonly cwd: string;
  readonly user: UserDirectories;
  /** The directories of the project, from `cwd` up to its root. */
  readonly directories: readonly string[];
  /** The root of the project. No link may lead out of it. */
  readonly root: string;
  readonly paths: PathCache;
}

export function createSearchContext(cwd: string, environment: Environment): SearchContext {
  const user = userDirectories(environment);
  const directories = listProjectDirectories(cwd);
  const paths = new PathCache([...directories, user.home, user.config]);
  return { cwd, user, directories, root: directories.at(-1) ?? cwd, paths };
}
