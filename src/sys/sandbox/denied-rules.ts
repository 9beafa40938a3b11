import { isInside } from '../paths.ts';
import { look, realParent, realPath } from './looks.ts';
import { isWritable, type PathRule } from './plan.ts';

/** How what is at a path is kept from being seen; nothing of what is missing. */
export function concealed(path: string): readonly PathRule[] {
  const real = realPath(path);
  const found = real === undefined ? undefined : look(real);
  if (real === undefined || found === undefined) return [];
  return [{ kind: found.isDirectory() ? 'hidden' : 'masked', path: real }];
}

/** What a root (real) is to a command of workspace access, by the places that are read-only. */
export function rootKind(root: string, readOnly: readonly string[]): 'writable' | 'shown' {
  return readOnly.some((place) => isInside(realPath(place) ?? place, root)) ? 'shown' : 'writable';
}

/**
 * The rules for places that a command may not change, where it could. One that is missing can't be made
 * where its directory is there; where that is missing, too, it is left, since what else may come to lie
 * there is nobody's to forbid. `laid` says what is writable.
 */
export function readOnlyRules(
  places: readonly string[],
  laid: readonly PathRule[],
  isPlaceholder: (path: string) => boolean,
): readonly PathRule[] {
  return places.flatMap((place): readonly PathRule[] => {
    const real = realPath(place);
    if (real !== undefined && !isPlaceholder(real)) {
      return isWritable(real, laid) ? [{ kind: 'protected', path: real }] : [];
    }
    // A link that leads nowhere is there itself, and no place for anything else.
    if (real === undefined && look(place) !== undefined) return [];
    const missing = realParent(place);
    if (missing === undefined || !isWritable(missing, laid)) return [];
    return [{ kind: 'absent', path: missing }];
  });
}
