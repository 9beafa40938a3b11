import type { PermissionRule } from '../../protocol/permission.ts';
import { isRelativePattern, makePatternAbsolute } from './path-pattern.ts';
import { specifierKind } from '../../protocol/specifier-kind.ts';
import { coversWholeTool } from './tool-cover.ts';

/** Allow rules with their paths written out; one that means nothing without a root is left out. */
export function makeAllowRulesAbsolute(
  rules: readonly PermissionRule[],
  roots: readonly string[],
): readonly PermissionRule[] {
  return rules.flatMap((rule) =>
    isRelative(rule) ? roots.slice(0, 1).map((root) => pinned(rule, root)) : [rule],
  );
}

/** Deny or ask rules, and beside them the same with their paths written out for each root. */
export function addAbsoluteRules(
  rules: readonly PermissionRule[],
  roots: readonly string[],
): readonly PermissionRule[] {
  return rules.flatMap((rule) =>
    isRelative(rule) ? [rule, ...roots.map((root) => pinned(rule, root))] : [rule],
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

function pinned(rule: PermissionRule, root: string): PermissionRule {
  return { ...rule, specifier: makePatternAbsolute(rule.specifier ?? '', root) };
}
