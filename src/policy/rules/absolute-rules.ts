import type { PermissionRule } from '../../protocol/permission.ts';
import { isRelativePattern, makePatternAbsolute } from './path-pattern.ts';
import { findSpecifierKind } from '../../protocol/specifier-kind.ts';
import { coversWholeTool } from './tool-cover.ts';

/**
 * Makes the paths of allow rules absolute, relative to the first root. If there is no root, rules with relative paths
 * are dropped.
 */
export function makeAllowRulesAbsolute(
  rules: readonly PermissionRule[],
  roots: readonly string[],
): readonly PermissionRule[] {
  return rules.flatMap((rule) =>
    isRelative(rule) ? roots.slice(0, 1).map((root) => makeAbsolute(rule, root)) : [rule],
  );
}

/**
 * Extends deny or ask rules: for each rule with a relative path, adds the same rule with an absolute path for each
 * root.
 */
export function addAbsoluteRules(
  rules: readonly PermissionRule[],
  roots: readonly string[],
): readonly PermissionRule[] {
  return rules.flatMap((rule) =>
    isRelative(rule) ? [rule, ...roots.map((root) => makeAbsolute(rule, root))] : [rule],
  );
}

function isRelative(rule: PermissionRule): boolean {
  return (
    rule.specifier !== undefined &&
    !coversWholeTool(rule) &&
    findSpecifierKind(rule.tool) === 'path' &&
    isRelativePattern(rule.specifier)
  );
}

function makeAbsolute(rule: PermissionRule, root: string): PermissionRule {
  return { ...rule, specifier: makePatternAbsolute(rule.specifier ?? '', root) };
}
