import {
  escapePathPattern,
  isRelativePattern,
  listNamedPaths,
  type PatternBases,
} from '../../policy/rules/path-pattern.ts';
import { printRule } from '../../policy/rules/rules.ts';
import type { PermissionRule, Rights } from '../../protocol/permission.ts';
import { findSpecifierKind } from '../../protocol/specifier-kind.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';

/**
 * Adds deny rules for the files to which the links in deny rules lead at this moment. A rule names a key file by the
 * path in the configuration, which is often a link whose target changes, as in the volumes of Kubernetes. Only rules
 * for one absolute path or a path below the home directory are followed.
 */
export function denyLinkTargets<R extends Pick<Rights, 'rules' | 'roots' | 'workspace'>>(
  rights: R,
  home: string,
): R {
  const { rules, roots, workspace } = rights;
  const targets = rules.deny.flatMap((rule) => findTargets(rule, { roots, home, workspace }));
  return targets.length === 0
    ? rights
    : { ...rights, rules: { ...rules, deny: [...rules.deny, ...targets] } };
}

function findTargets(rule: PermissionRule, bases: PatternBases): readonly PermissionRule[] {
  const { tool, specifier, source } = rule;
  if (specifier === undefined || findSpecifierKind(tool) !== 'path') return [];
  if (isRelativePattern(specifier) || /[/*]$/.test(specifier)) return [];
  return listNamedPaths(specifier, bases).flatMap((path) => {
    const { real } = resolveInRoots(path, bases.roots);
    if (real === path) return [];
    const target = `/${escapePathPattern(real)}`;
    return [{ text: printRule({ tool, specifier: target }), tool, specifier: target, source }];
  });
}
