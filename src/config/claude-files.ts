import { isAbsolute, join } from 'node:path';
import { isInside } from '../base/path-inside.ts';
import { expandHome } from '../sys/files/paths.ts';
import { listProjectDirectories, projectRoot } from '../sys/files/project-directories.ts';
import { resolveInRoots } from '../sys/files/real-path.ts';
import type { UserEnvironment } from './paths.ts';

const CLAUDE_DIRECTORY = '.claude';
/** The settings file that a team shares, and the personal one that stays out of version control. */
const PROJECT_FILES = ['settings.json', 'settings.local.json'];

/** A user, and the working directory: absolute and real. */
export interface PlacedUser extends UserEnvironment {
  readonly cwd: string;
}

/**
 * Returns the path of the user's settings file of Claude Code, and the directory that the patterns in this file are relative
 * to: `CLAUDE_CONFIG_DIR`, else `~/.claude`. A directory inside the project is not taken, because it may have come with the
 * project.
 */
export function userClaudeFile(user: PlacedUser): {
  readonly path: string;
  readonly directory: string;
} {
  const directory = findChosenDirectory(user) ?? join(user.home, CLAUDE_DIRECTORY);
  return { path: join(directory, 'settings.json'), directory };
}

function findChosenDirectory({ environment, home, cwd }: PlacedUser): string | null {
  const chosen = expandHome(environment['CLAUDE_CONFIG_DIR'] ?? '', home);
  if (!isAbsolute(chosen)) return null;
  const root = projectRoot(cwd);
  const isOfProject = isInside(root, resolveInRoots(chosen, []).real);
  // A directory that contains the user's home did not come from elsewhere with its files.
  return isOfProject && !isInside(root, resolveInRoots(home, []).real) ? null : chosen;
}

export interface ProjectClaudeFile {
  readonly path: string;
  /** The directory that holds `.claude`. */
  readonly directory: string;
  /** The root of the project. A link that leads out of this directory is refused. */
  readonly boundary: string;
}

/**
 * Returns the paths of a project's settings files of Claude Code, in the directories from `cwd` (absolute and real) up
 * to the root of its repository. All these files have an effect, because a rule for a repository applies in every
 * directory of it.
 */
export function projectClaudeFiles(cwd: string, home: string): readonly ProjectClaudeFile[] {
  const chain = listProjectDirectories(cwd);
  const boundary = chain.at(-1) ?? cwd;
  // `~/.claude` holds the user's own settings, even if the home directory is itself a repository.
  const realHome = resolveInRoots(home, []).real;
  return chain
    .filter((directory) => directory !== realHome)
    .flatMap((directory) =>
      PROJECT_FILES.map((name) => ({
        path: join(directory, CLAUDE_DIRECTORY, name),
        directory,
        boundary,
      })),
    );
}
