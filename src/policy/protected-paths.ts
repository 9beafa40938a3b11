import { relative } from 'node:path';
import { foldFileName, mayBeShortNameOf } from '../sys/files/folded-name.ts';
import { PathParts } from '../sys/files/path-parts.ts';
import { findRoot } from '../sys/files/paths.ts';
import { PROTECTED_ENDINGS, PROTECTED_PATHS } from '../sys/files/protected-names.ts';
import { isInside } from '../base/path-inside.ts';
import type { WorkspaceTrees } from '../protocol/workspace-paths.ts';

const PARTS = new PathParts(PROTECTED_PATHS);
const SINGLE_NAMES = PROTECTED_PATHS.filter((path) => !path.includes('/'));

/** The directories on which the protection of a path depends. All are absolute, with links resolved. */
export interface ProtectionScope {
  readonly roots: readonly string[];
  /** The configuration and data directories of Muster. */
  readonly stateDirectories: readonly string[];
  /** The workspace of the task, which lies in a directory of Muster. Default: none. */
  readonly workspace?: WorkspaceTrees | undefined;
}

/**
 * Tells whether a path is protected, so that a person is asked in every mode before it is written. If the path lies in
 * a root, only the part below the innermost root counts, because the user chose the location of the workspace.
 *
 * @param path absolute; test both the path that the call names and the path with links resolved
 */
export function isProtectedPath(
  path: string,
  { roots, stateDirectories, workspace }: ProtectionScope,
): boolean {
  const isInWorkspace = workspace !== undefined && isInside(workspace.tree, path);
  if (!isInWorkspace && stateDirectories.some((directory) => isInside(directory, path)))
    return true;
  const root = findRoot(path, roots);
  const names = (root === undefined ? path : relative(root, path)).split('/').map(foldFileName);
  return names.some((name, index) => PARTS.endAt(names, index) || couldBeProtectedName(name));
}

function couldBeProtectedName(name: string): boolean {
  if (PROTECTED_ENDINGS.some((ending) => name.endsWith(ending))) return true;
  return name.includes('~') && SINGLE_NAMES.some((long) => mayBeShortNameOf(name, long));
}
