import { foldName, foldNameWords } from '../../base/fold-name.ts';
import type { Access, PermissionRule, RuleSet } from '../../protocol/permission.ts';
import { listPaths, type ResolvedCall, type CallPath } from '../call.ts';
import { couldCommandMatch, findAllowingCommandRule, type CommandLine } from './command-rules.ts';
import { patternCouldMatchPath, patternMatchesPath, type PatternBases } from './path-pattern.ts';
import { specifierKind } from '../../protocol/specifier-kind.ts';
import { matchesDomain } from './specifiers.ts';
import { coversWholeTool, ruleCovers } from './tool-cover.ts';
import { matchesWildcard } from './wildcard.ts';

/** A call as rules are matched against it. */
export interface RuleSubject {
  readonly call: ResolvedCall;
  readonly bases: PatternBases;
  /** Parses the commands of the call when a rule first needs them. */
  parseCommands(): readonly CommandLine[];
}

/**
 * Finds the first rule of a deny or ask list that could apply to the call. If a call does not say what it would
 * touch, or a command cannot be parsed, every rule with a specifier for its tool could apply.
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
  return rules.some((rule) => patternCouldMatchPath(specifierOf(rule), path, bases));
}

function couldMatch(rule: PermissionRule, subject: RuleSubject): boolean {
  const { access } = subject.call;
  const specifier = specifierOf(rule);
  switch (specifierKind(rule.tool)) {
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
 * Finds the rule of an allow list by which the full call may run: each path, each host and each command of it must be
 * matched by some rule for its tool. Returns undefined if not all of them are.
 */
export function findAllowingRule(
  rules: readonly PermissionRule[],
  subject: RuleSubject,
): PermissionRule | undefined {
  const { access, tool } = subject.call;
  const about = rules.filter((rule) => ruleCovers(rule, tool, 'widen'));
  const toolRule = about.find(coversWholeTool);
  if (toolRule !== undefined || about.length === 0) return toolRule;
  switch (specifierKind(tool)) {
    case 'command':
      return findRuleOfEvery(subject.parseCommands(), (each) =>
        findAllowingCommandRule(about, each),
      );
    case 'path':
      return findRuleOfEvery(listPaths(access), (path) => findPathRule(about, path, subject.bases));
    case 'domain':
      return findRuleOfEvery(access.hosts, (host) =>
        about.find((rule) => matchesDomain(specifierOf(rule), host)),
      );
    case 'agent':
      return findRuleOfEvery(access.agent === undefined ? [] : [access.agent], (agent) =>
        about.find((rule) => matchesAgent(specifierOf(rule), agent)),
      );
    case 'skill':
      return findRuleOfEvery(access.skill === undefined ? [] : [access.skill], (skill) =>
        about.find((rule) => matchesSkill(specifierOf(rule), skill)),
      );
    case undefined:
      return undefined;
  }
}

/** The specifier of a rule that does not cover its whole tool, so that it has one. */
function specifierOf(rule: PermissionRule): string {
  return rule.specifier ?? '';
}

function findPathRule(
  rules: readonly PermissionRule[],
  path: CallPath,
  bases: PatternBases,
): PermissionRule | undefined {
  return rules.find((rule) => patternMatchesPath(specifierOf(rule), path, bases));
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

/** The arguments of a skill do not count: `deploy *` and `deploy:*`, as others write them, mean `deploy`. */
function matchesSkill(specifier: string, skill: string): boolean {
  return matchesSkillName(specifier.replace(/(?:\s+|:)\*$/, ''), skill);
}

/** `kit:*` may also mean every skill of that plugin. */
function couldSkillMatch(specifier: string, skill: string): boolean {
  return matchesSkill(specifier, skill) || matchesSkillName(specifier, skill);
}

function matchesSkillName(pattern: string, skill: string): boolean {
  return matchesWildcard(pattern.replace(/^\//, '').toLowerCase(), skill.toLowerCase());
}

/**
 * Tells whether an allow rule applies to this agent. The rule does not know which other agents exist, so a name with other
 * separators could be another agent's and does not match.
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
