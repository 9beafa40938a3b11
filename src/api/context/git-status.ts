import { statSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Environment } from '../../sys/env.ts';
import { plural, truncate, collapseWhitespace } from '../../base/text.ts';
import type { GitSnapshot } from '../../sys/git/snapshot.ts';
import type { ChangedPath } from '../../sys/git/status.ts';
import { projectRoot } from '../../sys/files/project-directories.ts';

/**
 * Returns the status of the repository of `cwd` (absolute, real) as text, or null if there is no repository or git
 * fails. The code that runs git is loaded only if there is a repository. Never rejects.
 */
export async function readGitStatus(cwd: string, environment: Environment): Promise<string | null> {
  if (!isRepository(join(projectRoot(cwd), '.git'))) return null;
  const { takeGitSnapshot } = await import('../../sys/git/snapshot.ts');
  const snapshot = await takeGitSnapshot(cwd, { environment });
  return snapshot === null ? null : formatGitStatus(snapshot, cwd);
}

/**
 * Checks whether a path is a git directory with a `HEAD`, or the `.git` file of a linked working tree or a submodule.
 */
function isRepository(path: string): boolean {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory() !== true) return stats !== undefined;
    return statSync(join(path, 'HEAD'), { throwIfNoEntry: false }) !== undefined;
  } catch {
    // The path must not be inspected. Git could not read it either.
    return false;
  }
}

/** The maximum number of changed paths in the text. */
const MAX_CHANGES = 20;
/** The maximum number of characters of a path, a branch or a subject. */
const MAX_LENGTH = 160;

/** Formats a snapshot as text. Changes have the format of git, with paths relative to `cwd`. */
export function formatGitStatus(
  { branch, changes, commits, top }: GitSnapshot,
  cwd: string,
): string {
  const shown = changes.slice(0, MAX_CHANGES).map((change) => formatChange(change, { top, cwd }));
  const more = changes.length - shown.length;
  return [
    `Branch: ${toSingleLine(branch)}`,
    ...(shown.length === 0 ? ['No changes.'] : ['Changes:', ...shown]),
    ...(more > 0 ? [`and ${plural(more, 'more path')}`] : []),
    ...(commits.length === 0 ? [] : ['Last commits:', ...commits.map(toSingleLine)]),
  ].join('\n');
}

function formatChange(
  { code, path, from }: ChangedPath,
  { top, cwd }: { readonly top: string; readonly cwd: string },
): string {
  const shown = (each: string): string =>
    toSingleLine((relative(cwd, join(top, each)) || '.') + (each.endsWith('/') ? '/' : ''));
  return `${code} ${from === undefined ? '' : `${shown(from)} -> `}${shown(path)}`;
}

function toSingleLine(text: string): string {
  return truncate(collapseWhitespace(text), MAX_LENGTH);
}
