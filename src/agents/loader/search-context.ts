import type { Environment } from '../../sys/env.ts';
import { projectDirectories } from '../../sys/project-directories.ts';
import { Looks } from './path-cache.ts';
import { userDirectories, type UserDirectories } from './user-directories.ts';

/** Where files that define something may lie, as it is now: for one search, or several at one moment. */
export interface Surroundings {
  /** Absolute. */
  readonly cwd: string;
  readonly user: UserDirectories;
  /** The directories of the project, `cwd` first. */
  readonly chain: readonly string[];
  /** The last of them: no link leads out of it. */
  readonly root: string;
  readonly looks: Looks;
}

/** Looks for `.git`. */
export function surroundingsOf(cwd: string, environment: Environment): Surroundings {
  const user = userDirectories(environment);
  const chain = projectDirectories(cwd);
  const looks = new Looks([...chain, user.home, user.config]);
  return { cwd, user, chain, root: chain.at(-1) ?? cwd, looks };
}
