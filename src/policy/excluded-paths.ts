import { join } from 'node:path/posix';
import type { PermissionRule, Rights } from '../protocol/permission.ts';
import { findSpecifierKind } from '../protocol/specifier-kind.ts';
import type { ResolvedCall } from './call.ts';
import { isProtectedPath, type ProtectionScope } from './protected-paths.ts';
import { findNarrowingRule } from './rules/match-rules.ts';
import { createPatternMatcher, type PatternBases } from './rules/path-pattern.ts';
import { citeRule } from './rules/rules.ts';
import { coversWholeTool, ruleCovers } from './rules/tool-cover.ts';
import { isSecretPath } from '../sys/files/secret-paths.ts';

/** A directory that a call searches, moves or deletes. Both paths are absolute. */
export interface SearchedDirectory {
  /** The path that the call names, links not resolved. */
  readonly asked: string;
  /** The path with links resolved. */
  readonly real: string;
}

/**
 * Creates a function that tells which rule excludes a path below a directory from a call that was allowed for the
 * directory itself: `deny Read(secret/**)` also applies to a search of the directory above. Ask rules exclude paths,
 * too, unless the call was asked about because of them.
 *
 * @returns null if no rule can apply below the directory. The function takes a path relative to the directory, with
 *   a `/` at the end for a directory, and returns the name of the rule, or undefined if the path is not excluded.
 */
export function createExclusionCheck(
  call: ResolvedCall,
  { rights, home }: { readonly rights: Rights; readonly home: string },
  directory: SearchedDirectory,
): ((path: string) => string | undefined) | null {
  const bases = { roots: rights.roots, home, workspace: rights.workspace };
  const rules = selectExcludingRules(call, rights, bases);
  if (rules.length === 0) return null;
  const directories = [...new Set([directory.asked, directory.real])];
  const matchers = rules.flatMap(({ rule, kind }) =>
    directories.map((each) => ({
      name: `${kind} rule ${citeRule(rule)}`,
      matches: createPatternMatcher(rule.specifier ?? '', each, bases),
    })),
  );
  return (path) => matchers.find(({ matches }) => matches(path))?.name;
}

function selectExcludingRules(
  call: ResolvedCall,
  { rules }: Rights,
  bases: PatternBases,
): readonly PathRule[] {
  return [
    ...selectPathRules('deny', rules.deny, call),
    ...selectPathRules('ask', rules.ask.filter(isNotAnswered(call, bases)), call),
  ];
}

/**
 * Describes everything on which the function of `createExclusionCheck` depends, apart from the directory: calls with equal
 * texts have equal functions.
 */
export function describeExclusions(
  call: ResolvedCall,
  { rights, home }: { readonly rights: Rights; readonly home: string },
): string {
  const bases = { roots: rights.roots, home, workspace: rights.workspace };
  return JSON.stringify([selectExcludingRules(call, rights, bases), bases]);
}

/**
 * Creates a function that tells why the hard rules exclude a path below a directory that is moved or deleted as a
 * whole: a person would be asked about the path if the call named it, and was not asked for that reason about the
 * directory. The function takes paths in the same form as the function of `createExclusionCheck`, and returns undefined
 * if a path is not excluded.
 */
export function createHardRuleCheck(
  { asked, real }: SearchedDirectory,
  scope: ProtectionScope,
): (path: string) => string | undefined {
  const directories = [...new Set([asked, real])];
  const checks = [
    {
      excludes: (path: string) => isProtectedPath(path, scope),
      reason: 'it is a protected path',
    },
    { excludes: isSecretPath, reason: 'it usually holds secrets' },
  ].filter(({ excludes }) => !directories.some(excludes));
  return (path) => {
    const paths = directories.map((directory) => join(directory, path));
    return checks.find(({ excludes }) => paths.some(excludes))?.reason;
  };
}

interface PathRule {
  readonly kind: 'deny' | 'ask';
  readonly rule: PermissionRule;
}

function selectPathRules(
  kind: PathRule['kind'],
  rules: readonly PermissionRule[],
  { tool }: ResolvedCall,
): readonly PathRule[] {
  return rules
    .filter((rule) => ruleCovers(rule, tool, 'narrow') && !coversWholeTool(rule))
    .filter((rule) => findSpecifierKind(rule.tool) === 'path')
    .map((rule) => ({ kind, rule }));
}

/**
 * Returns a filter for ask rules that the person who allowed the call was not asked about: they do not apply to the
 * paths that the call names.
 */
function isNotAnswered(call: ResolvedCall, bases: PatternBases): (rule: PermissionRule) => boolean {
  const subject = { call, bases, parseCommands: () => [] };
  return (rule) => findNarrowingRule([rule], subject) === undefined;
}
