import { foldName, foldNameWords } from '../../base/fold-name.ts';
import type { Access, PermissionRule, RuleSet } from '../../protocol/permission.ts';
import { listPaths, type ResolvedCall, type CallPath } from '../call.ts';
import { couldCommandMatch, findAllowingCommandRule, type CommandLine } from './command-rules.ts';
import { patternCouldMatchPath, patternMatchesPath, type PatternBases } from './path-pattern.ts';
import { findSpecifierKind } from '../../protocol/specifier-kind.ts';
import { matchesDomain } from './specifiers.ts';
import { coversWholeTool, ruleCovers } from './tool-cover.ts';
import { matchesWildcard } from '../../base/wildcard.ts';

/** A call in the form against which rules are matched. */
export interface RuleSubject {
  readonly call: ResolvedCall;
  readonly bases: PatternBases;
  /** Parses the commands of the call when a rule first needs them. */
  parseCommands(): readonly CommandLine[];
}

/**
 * Finds the first rule of a deny or ask list that could apply to the call. If it is not known what the call would use,
 * or if a command cannot be parsed, every rule with a specifier for the tool could apply.
 */
export function findNarrowingRule(
  rules: readonly PermissionRule[],
  subject: RuleSubject,
): PermissionRule | undefined {
  return rules.find(
    (rule) =>
      ruleCovers(rule, subject.call.tool, 'narrow') &&
      (coversWholeTool(rule) || couldMatch(rule, subject)),
  );
}

/** Lists the rules of a set that deny reading some paths, or ask about it. */
export function listReadRestrictions({ ask, deny }: RuleSet): readonly PermissionRule[] {
  return [...deny, ...ask].filter(
    (rule) => ruleCovers(rule, 'Read', 'narrow') && !coversWholeTool(rule),
  );
}

/** Tells whether one of these rules could apply to reading this path. */
export function couldRestrictRead(
  rules: readonly PermissionRule[],
  path: CallPath,
  bases: PatternBases,
): boolean {
  return rules.some((rule) => patternCouldMatchPath(requireSpecifier(rule), path, bases));
}

function couldMatch(rule: PermissionRule, subject: RuleSubject): boolean {
  const { access } = subject.call;
  const specifier = requireSpecifier(rule);
  switch (findSpecifierKind(rule.tool)) {
    case 'command':
      return someOrUnknown(subject.parseCommands(), (each) => couldCommandMatch(specifier, each));
    case 'path':
      return someOrUnknown(listPaths(access), (path) =>
        patternCouldMatchPath(specifier, path, subject.bases),
      );
    case 'domain':
      return someOrUnknown(access.hosts, (host) => matchesDomain(specifier, host));
    case 'agent':
      return someOrUnknown(listAgentNames(access), (name) => couldAgentMatch(specifier, name));
    case 'skill':
      return access.skill === undefined || couldSkillMatch(specifier, access.skill);
    case undefined:
      return true;
  }
}

function someOrUnknown<T>(items: readonly T[], test: (item: T) => boolean): boolean {
  return items.length === 0 || items.some(test);
}

/**
 * Finds the rule of an allow list that allows a call: each path, host or command of the call must be matched by some
 * rule for its tool. Returns undefined if one of them is not matched.
 */
export function findAllowingRule(
  rules: readonly PermissionRule[],
  subject: RuleSubject,
): PermissionRule | undefined {
  const { access, tool } = subject.call;
  const candidates = rules.filter((rule) => ruleCovers(rule, tool, 'widen'));
  const toolRule = candidates.find(coversWholeTool);
  if (toolRule !== undefined || candidates.length === 0) return toolRule;
  switch (findSpecifierKind(tool)) {
    case 'command':
      return findRuleOfEvery(subject.parseCommands(), (each) =>
        findAllowingCommandRule(candidates, each),
      );
    case 'path':
      return findRuleOfEvery(listPaths(access), (path) =>
        findPathRule(candidates, path, subject.bases),
      );
    case 'domain':
      return findRuleOfEvery(access.hosts, (host) =>
        candidates.find((rule) => matchesDomain(requireSpecifier(rule), host)),
      );
    case 'agent':
      return findRuleOfEvery(access.agent === undefined ? [] : [access.agent], (agent) =>
        candidates.find((rule) => matchesAgent(requireSpecifier(rule), agent)),
      );
    case 'skill':
      return findRuleOfEvery(access.skill === undefined ? [] : [access.skill], (skill) =>
        candidates.find((rule) => matchesSkill(requireSpecifier(rule), skill)),
      );
    case undefined:
      return undefined;
  }
}

/** Returns the specifier of a rule that does not cover its whole tool, and which therefore has a specifier. */
function requireSpecifier(rule: PermissionRule): string {
  return rule.specifier ?? '';
}

function findPathRule(
  rules: readonly PermissionRule[],
  path: CallPath,
  bases: PatternBases,
): PermissionRule | undefined {
  return rules.find((rule) => patternMatchesPath(requireSpecifier(rule), path, bases));
}

/** Returns the rule of the first item if there are items and every item has a rule. */
function findRuleOfEvery<T>(
  items: readonly T[],
  findRule: (item: T) => PermissionRule | undefined,
): PermissionRule | undefined {
  const rules = items.map(findRule);
  return rules.includes(undefined) ? undefined : rules[0];
}

function listAgentNames({
  agent,
  agentWords = [],
}: Pick<Access, 'agent' | 'agentWords'>): readonly string[] {
  return agent === undefined ? [] : [agent, ...agentWords];
}

/**
 * Matches the name of a skill without regard to arguments: `deploy *` and `deploy:*`, the forms of other vendors, mean
 * `deploy`.
 */
function matchesSkill(specifier: string, skill: string): boolean {
  return matchesSkillName(specifier.replace(/(?:\s+|:)\*$/, ''), skill);
}

/** Tells whether a deny or ask rule could apply to a skill. `kit:*` may also mean every skill of the plugin `kit`. */
function couldSkillMatch(specifier: string, skill: string): boolean {
  return matchesSkill(specifier, skill) || matchesSkillName(specifier, skill);
}

function matchesSkillName(pattern: string, skill: string): boolean {
  return matchesWildcard(pattern.replace(/^\//, '').toLowerCase(), skill.toLowerCase());
}

/**
 * Tells whether an allow rule applies to this agent. A name with other separators does not match, because it could be
 * the name of another agent.
 */
function matchesAgent(specifier: string, agent: string): boolean {
  return matchesWildcard(specifier.toLowerCase(), agent.toLowerCase());
}

/** Tells whether a deny or ask rule could apply to this agent, however the words of its name are separated. */
export function couldAgentMatch(specifier: string, agent: string): boolean {
  if (matchesAgent(specifier, agent)) return true;
  const words = foldNameWords(specifier);
  if (matchesWildcard(words, foldNameWords(agent))) return true;
  // Without its separator `review-*` would also match Review.
  return !/-\*|\*-/.test(words) && matchesWildcard(foldName(specifier), foldName(agent));
}
