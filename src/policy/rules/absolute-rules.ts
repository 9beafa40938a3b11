import type { PermissionRule } from '../../protocol/permission.ts';
import { isRelativePattern, makePatternAbsolute } from './path-pattern.ts';
import { specifierKind } from '../../protocol/specifier-kind.ts';
import { coversWholeTool } from './tool-cover.ts';

/** Makes the paths of allow rules absolute. Without any root, rules with relative paths are left out. */
export function makeAllowRulesAbsolute(
  rules: readonly PermissionRule[],
  roots: readonly string[],
): readonly PermissionRule[] {
  return rules.flatMap((rule) =>
    isRelative(rule) ? roots.slice(0, 1).map((root) => makeAbsolute(rule, root)) : [rule],
  );
}

/** Adds to deny or ask rules with relative paths the same rules with absolute paths, for each root. */
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
    specifierKind(rule.tool) === 'path' &&
    isRelativePattern(rule.specifier)
  );
}

function makeAbsolute(rule: PermissionRule, root: string): PermissionRule {
  return { ...rule, specifier: makePatternAbsolute(rule.specifier ?? '', root) };
}
