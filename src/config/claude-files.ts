import { join } from 'node:path';
import { listProjectDirectories } from '../sys/files/project-directories.ts';
import { resolveInRoots } from '../sys/files/real-path.ts';

const FOLDER = '.claude';
/** The shared settings file, and the one that its author keeps out of version control. */
const PROJECT_FILES = ['settings.json', 'settings.local.json'];

/**
 * Returns the user's settings file of Claude Code, and the directory that its patterns are relative to.
 */
export function userClaudeFile(home: string): {
  readonly path: string;
  readonly directory: string;
} {
  const directory = join(home, FOLDER);
  return { path: join(directory, 'settings.json'), directory };
}

export interface ProjectClaudeFile {
  readonly path: string;
  /** The directory that holds `.claude`. */
  readonly directory: string;
  /** The root of the project. No link may lead out of it. */
  readonly boundary: string;
}

/**
 * Returns the paths of a project's settings files of Claude Code, in the directories from `cwd` (absolute and real)
 * up to the root of its repository. All of them count, since a rule of the repository holds in each of its parts.
 */
export function projectClaudeFiles(cwd: string, home: string): readonly ProjectClaudeFile[] {
  const chain = listProjectDirectories(cwd);
  const boundary = chain.at(-1) ?? cwd;
  // A home directory that is a repository is still the user's own.
  const own = resolveInRoots(home, []).real;
  return chain
    .filter((directory) => directory !== own)
    .flatMap((directory) =>
      PROJECT_FILES.map((name) => ({ path: join(directory, FOLDER, name), directory, boundary })),
    );
}
