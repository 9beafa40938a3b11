import type { PermissionRule } from '../protocol/permission.ts';
import { isRelativePattern, pinPattern } from './path-pattern.ts';
import { specifierKind } from '../protocol/specifier-kind.ts';
import { isWholeTool } from './tool-cover.ts';

/** Allow rules with their paths written out; one that means nothing without a root is left out. */
export function pinWidening(
  rules: readonly PermissionRule[],
  roots: readonly string[],
): readonly PermissionRule[] {
  return rules.flatMap((rule) =>
    isRelative(rule) ? roots.slice(0, 1).map((root) => pinned(rule, root)) : [rule],
  );
}

/** Deny or ask rules, and beside them the same with their paths written out for each root. */
export function pinNarrowing(
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
    !isWholeTool(rule) &&
    specifierKind(rule.tool) === 'path' &&
    isRelativePattern(rule.specifier)
  );
}

function pinned(rule: PermissionRule, root: string): PermissionRule {
  return { ...rule, specifier: pinPattern(rule.specifier ?? '', root) };
}
