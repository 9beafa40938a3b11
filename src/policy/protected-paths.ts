import { relative } from 'node:path';
import { foldFileName, mayBeShortNameOf } from '../sys/files/folded-name.ts';
import { PathParts } from '../sys/files/path-parts.ts';
import { findRoot } from '../sys/files/paths.ts';
import { PROTECTED_ENDINGS, PROTECTED_PATHS } from '../sys/files/protected-names.ts';
import { isInside } from './call.ts';

const PARTS = new PathParts(PROTECTED_PATHS);
const SINGLE_NAMES = PROTECTED_PATHS.filter((path) => !path.includes('/'));

/** Where a path is judged; all absolute and real. */
export interface ProtectionPlace {
  readonly roots: readonly string[];
  /** Muster's own configuration and data. */
  readonly stateDirectories: readonly string[];
}

/**
 * Whether writing to a path (absolute; test it as asked and as it really is) is asked of a person in
 * every mode. Of a path in a root only what is below the innermost one counts: where the user put the
 * workspace is the user's choice.
 */
export function isProtectedPath(path: string, place: ProtectionPlace): boolean {
  if (place.stateDirectories.some((directory) => isInside(directory, path))) return true;
  const root = findRoot(path, place.roots);
  const below = root === undefined ? path : relative(root, path);
  const names = below.split('/').map(foldFileName);
  return names.some((name, index) => PARTS.endAt(names, index) || isLikeProtected(name));
}

function isLikeProtected(name: string): boolean {
  if (PROTECTED_ENDINGS.some((ending) => name.endsWith(ending))) return true;
  return name.includes('~') && SINGLE_NAMES.some((long) => mayBeShortNameOf(name, long));
}
