import { join } from 'node:path';
import { listProjectDirectories } from '../sys/files/project-directories.ts';
import { resolveInRoots } from '../sys/files/real-path.ts';

const CLAUDE_DIRECTORY = '.claude';
/** The settings file that a team shares, and the personal one that stays out of version control. */
const PROJECT_FILES = ['settings.json', 'settings.local.json'];

/**
 * Returns the path of the user's settings file of Claude Code, and the directory that the patterns in this file are
 * relative to.
 */
export function userClaudeFile(home: string): {
  readonly path: string;
  readonly directory: string;
} {
  const directory = join(home, CLAUDE_DIRECTORY);
  return { path: join(directory, 'settings.json'), directory };
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
