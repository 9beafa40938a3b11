import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../../sys/env.ts';
import { projectRoot } from '../../sys/files/project-directories.ts';

/**
 * How the repository of `cwd` (absolute, real) stands, in lines; null: not told. What asks git is loaded
 * only where there is a repository. Never rejects.
 */
export async function gitAtStart(cwd: string, environment: Environment): Promise<string | null> {
  if (!isRepository(join(projectRoot(cwd), '.git'))) return null;
  const [{ takeGitSnapshot }, { gitLines }] = await Promise.all([
    import('../../sys/git/snapshot.ts'),
    import('./git-lines.ts'),
  ]);
  const snapshot = await takeGitSnapshot(cwd, { environment });
  return snapshot === null ? null : gitLines(snapshot, cwd);
}

/** A directory with a head, or the file that a linked working tree or a submodule has. */
function isRepository(path: string): boolean {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory() !== true) return stats !== undefined;
    return statSync(join(path, 'HEAD'), { throwIfNoEntry: false }) !== undefined;
  } catch {
    // No right to look: nor has git one.
    return false;
  }
}
