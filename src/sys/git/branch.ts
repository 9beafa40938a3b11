import { join } from 'node:path';
import { findRepository, readGitText } from './repository.ts';

/** The maximum length of the name of a branch; a longer name is cut. */
const MAX_NAME_LENGTH = 200;

/**
 * Reads the name of the branch that is checked out in the repository of a directory (absolute, without links), or the
 * beginning of the commit of a detached HEAD. Returns null outside of a repository. Reads at most three small files and
 * starts no process, so that it can be called often. The name is outside text.
 */
export function readBranch(directory: string): string | null {
  const repository = findRepository(directory);
  if (repository === undefined) return null;
  const head = readGitText(join(repository.gitDirectory, 'HEAD'))?.trimEnd() ?? '';
  const [, name] = /^ref: refs\/heads\/(.+)$/.exec(head) ?? [];
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(head)) return head.slice(0, 7);
  // A repository that keeps its references in another format has this name in place of the branch.
  return name === undefined || name === '.invalid' ? null : name.slice(0, MAX_NAME_LENGTH);
}
