import { join } from 'node:path/posix';
import type { PermissionRule, Rights } from '../protocol/permission.ts';
import { isSecretPath } from '../sys/files/secret-paths.ts';
import type { JudgedCall } from './call.ts';
import { patternMatcher, type PatternPlace } from './path-pattern.ts';
import { isProtectedPath, type ProtectionPlace } from './protected-paths.ts';
import { narrowingRule } from './rule-match.ts';
import { citeRule } from './rules.ts';
import { specifierKind } from '../protocol/specifier-kind.ts';
import { isWholeTool, ruleCovers } from './tool-cover.ts';

/** A directory that a call goes through, as asked for and as it really is; absolute. */
export interface SearchedDirectory {
  readonly asked: string;
  readonly real: string;
}

/**
 * Which rule keeps back a path below a directory (relative, a directory's with `/` at its end), for a
 * call that was allowed for the directory itself: `deny Read(secret/**)` holds for a search of the
 * directory above, too. Ask rules count, but for those that the call was asked about as a whole. Null
 * where no rule can mean anything there.
 */
export function excludedPathsBelow(
  call: JudgedCall,
  { rights, home }: { readonly rights: Rights; readonly home: string },
  directory: SearchedDirectory,
): ((path: string) => string | undefined) | null {
  const place = { roots: rights.roots, home };
  const rules = [
    ...withAbout('deny', rights.rules.deny, call),
    ...withAbout('ask', unanswered(rights.rules.ask, call, place), call),
  ];
  if (rules.length === 0) return null;
  const bases = [...new Set([directory.asked, directory.real])];
  const matchers = rules.flatMap(({ rule, kind }) =>
    bases.map((base) => ({
      name: `${kind} rule ${citeRule(rule)}`,
      matches: patternMatcher(rule.specifier ?? '', base, place),
    })),
  );
  return (path) => matchers.find(({ matches }) => matches(path))?.name;
}

/**
 * What the floor keeps back below a directory that is moved or deleted as a whole: what a person would be
 * asked about if it were named, but for what they were asked about the directory itself. A path as above;
 * undefined: nothing.
 */
export function guardedBelow(
  { asked, real }: SearchedDirectory,
  place: ProtectionPlace,
): (path: string) => string | undefined {
  const isProtected = (path: string): boolean => isProtectedPath(path, place);
  const bases = [...new Set([asked, real])];
  const guards = [
    { guards: isProtected, why: 'it is a protected path' },
    { guards: isSecretPath, why: 'it usually holds secrets' },
  ].filter(({ guards }) => !bases.some(guards));
  return (path) => {
    const paths = bases.map((base) => join(base, path));
    return guards.find(({ guards }) => paths.some(guards))?.why;
  };
}

interface KindOfRule {
  readonly kind: 'deny' | 'ask';
  readonly rule: PermissionRule;
}

function withAbout(
  kind: KindOfRule['kind'],
  rules: readonly PermissionRule[],
  { tool }: JudgedCall,
): readonly KindOfRule[] {
  return rules
    .filter((rule) => ruleCovers(rule, tool, 'narrow') && !isWholeTool(rule))
    .filter((rule) => specifierKind(rule.tool) === 'path')
    .map((rule) => ({ kind, rule }));
}

/** A rule that means what the call itself names was answered by whoever let it run. */
function unanswered(
  rules: readonly PermissionRule[],
  call: JudgedCall,
  place: PatternPlace,
): readonly PermissionRule[] {
  return rules.filter((rule) => {
    return narrowingRule([rule], { call, place, commands: () => [] }) === undefined;
  });
}
