import { isInside } from '../files/paths.ts';
import { lstatIfPresent, resolveMissingPath, realPathIfPresent } from '../files/path-lookup.ts';
import { isWritable, type GuardedPaths, type PathRule } from './plan.ts';

/** How what is at a path is kept from being seen; nothing of what is missing. */
export function hidingRules(path: string): readonly PathRule[] {
  const real = realPathIfPresent(path);
  const found = real === undefined ? undefined : lstatIfPresent(real);
  if (real === undefined || found === undefined) return [];
  return [{ kind: found.isDirectory() ? 'hidden' : 'masked', path: real }];
}

/** What a root (real) is to a command of workspace access, by the places that are read-only. */
export function rootRuleKind(root: string, readOnly: readonly string[]): 'writable' | 'shown' {
  return readOnly.some((place) => isInside(realPathIfPresent(place) ?? place, root))
    ? 'shown'
    : 'writable';
}

/**
 * The places that a command may not change, where it could: those that are there, and those that it must
 * not make. Of one whose directory is missing, too, nothing is said: what else may come to lie there is
 * nobody's to forbid. `laid` says what is writable.
 */
export function readOnlyRules(places: readonly string[], laid: readonly PathRule[]): GuardedPaths {
  const rules: PathRule[] = [];
  const missing: string[] = [];
  for (const place of places) {
    const real = realPathIfPresent(place);
    if (real !== undefined) {
      if (isWritable(real, laid)) rules.push({ kind: 'protected', path: real });
      continue;
    }
    // A link that leads nowhere is there itself, and no place for anything else.
    const path = lstatIfPresent(place) === undefined ? resolveMissingPath(place) : undefined;
    if (path !== undefined) missing.push(path);
  }
  return { rules, missing };
}
