import { isInside } from '../files/paths.ts';
import { lstatIfPresent, resolveMissingPath, realPathIfPresent } from '../files/path-lookup.ts';
import { isWritable, type GuardedPaths, type PathRule } from './plan.ts';

/** Returns the rule that hides the file or directory at a path; none if it does not exist. */
export function hidingRules(path: string): readonly PathRule[] {
  const real = realPathIfPresent(path);
  const found = real === undefined ? undefined : lstatIfPresent(real);
  if (real === undefined || found === undefined) return [];
  return [{ kind: found.isDirectory() ? 'hidden' : 'masked', path: real }];
}

/**
 * Returns the kind of rule for a root (real path) of a command with workspace access: read-only if a read-only
 * path contains the root.
 */
export function rootRuleKind(root: string, readOnly: readonly string[]): 'writable' | 'shown' {
  return readOnly.some((place) => isInside(realPathIfPresent(place) ?? place, root))
    ? 'shown'
    : 'writable';
}

/**
 * Returns rules for read-only paths that would otherwise be writable, and the ones that do not exist and must
 * not be created. A path whose directory does not exist either is ignored. `laid` are the layered rules that
 * say what is writable.
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
