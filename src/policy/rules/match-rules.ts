import { foldName, foldWords } from '../../base/fold-name.ts';
import type { Access, PermissionRule, RuleSet } from '../../protocol/permission.ts';
import { listPaths } from '../call.ts';
import type { ResolvedCall, CallPath } from '../call.ts';
import { findAllowingCommandRule, couldCommandMatch } from './command-rules.ts';
import type { CommandLine } from './command-rules.ts';
import { patternCouldMatchPath, patternMatchesPath } from './path-pattern.ts';
import type { PatternBases } from './path-pattern.ts';
import { specifierKind } from '../../protocol/specifier-kind.ts';
import { matchesDomain } from './specifiers.ts';
import { coversWholeTool, ruleCovers } from './tool-cover.ts';
import { matchesWildcard } from './wildcard.ts';

/** What rules are matched against. `commands` are read when a rule first asks for them. */
export interface RuleSubject {
  readonly call: ResolvedCall;
  readonly bases: PatternBases;
  parseCommands(): readonly CommandLine[];
}

/**
 * The first rule of a deny or ask list that could mean the call. Where a call does not say what it
 * would touch, or a command can't be read, every rule with a specifier for its tool could.
 */
export function findNarrowingRule(
  rules: readonly PermissionRule[],
  matching: RuleSubject,
): PermissionRule | undefined {
  return rules.find(
    (rule) =>
      ruleCovers(rule, matching.call.tool, 'narrow') &&
      (coversWholeTool(rule) || couldMatch(rule, matching)),
  );
}

/** The rules of a set that keep single paths from being read, or have it asked about. */
export function listReadRestrictions({ ask, deny }: RuleSet): readonly PermissionRule[] {
  return [...deny, ...ask].filter(
    (rule) => ruleCovers(rule, 'Read', 'narrow') && !coversWholeTool(rule),
  );
}

/** Whether one of these rules could mean that this path is read. */
export function couldRestrictRead(
  rules: readonly PermissionRule[],
  path: CallPath,
  place: PatternBases,
): boolean {
  return rules.some((rule) => patternCouldMatchPath(specifierOf(rule), path, place));
}

function couldMatch(rule: PermissionRule, matching: RuleSubject): boolean {
  const { access } = matching.call;
  const specifier = specifierOf(rule);
  switch (specifierKind(rule.tool)) {
    case 'command':
      return someOrUnknown(matching.parseCommands(), (each) => couldCommandMatch(specifier, each));
    case 'path':
      return someOrUnknown(listPaths(access), (path) =>
        patternCouldMatchPath(specifier, path, matching.bases),
      );
    case 'domain':
      return someOrUnknown(access.hosts, (host) => matchesDomain(specifier, host));
    case 'agent':
      return someOrUnknown(agentNames(access), (name) => couldAgentMatch(specifier, name));
    case 'skill':
      return access.skill === undefined || skillCouldMatch(specifier, access.skill);
    case undefined:
      return true;
  }
}

function someOrUnknown<T>(items: readonly T[], test: (item: T) => boolean): boolean {
  return items.length === 0 || items.some(test);
}

/**
 * The rule of an allow list by which the whole call may run, if there is one: each path, each host and
 * each command of it must be matched by some rule of its tool.
 */
export function findAllowingRule(
  rules: readonly PermissionRule[],
  matching: RuleSubject,
): PermissionRule | undefined {
  const { access, tool } = matching.call;
  const about = rules.filter((rule) => ruleCovers(rule, tool, 'widen'));
  const whole = about.find(coversWholeTool);
  if (whole !== undefined || about.length === 0) return whole;
  switch (specifierKind(tool)) {
    case 'command':
      return everyMatched(matching.parseCommands(), (each) => findAllowingCommandRule(about, each));
    case 'path':
      return everyMatched(listPaths(access), (path) => pathRule(about, path, matching.bases));
    case 'domain':
      return everyMatched(access.hosts, (host) =>
        about.find((rule) => matchesDomain(specifierOf(rule), host)),
      );
    case 'agent':
      return everyMatched(access.agent === undefined ? [] : [access.agent], (agent) =>
        about.find((rule) => agentSurelyMatches(specifierOf(rule), agent)),
      );
    case 'skill':
      return everyMatched(access.skill === undefined ? [] : [access.skill], (skill) =>
        about.find((rule) => skillSurelyMatches(specifierOf(rule), skill)),
      );
    case undefined:
      return undefined;
  }
}

/** Only asked for where `isWholeTool` has answered no. */
function specifierOf(rule: PermissionRule): string {
  return rule.specifier ?? '';
}

function pathRule(
  rules: readonly PermissionRule[],
  path: CallPath,
  place: PatternBases,
): PermissionRule | undefined {
  return rules.find((rule) => patternMatchesPath(specifierOf(rule), path, place));
}

/** The first item's rule, when every item has one and there is an item. */
function everyMatched<T>(
  items: readonly T[],
  ruleFor: (item: T) => PermissionRule | undefined,
): PermissionRule | undefined {
  const found = items.map(ruleFor);
  return found.includes(undefined) ? undefined : found[0];
}

function agentNames({
  agent,
  agentWords = [],
}: Pick<Access, 'agent' | 'agentWords'>): readonly string[] {
  return agent === undefined ? [] : [agent, ...agentWords];
}

/** Its arguments count for nothing: `deploy *` and `deploy:*`, as others write it, mean `deploy`. */
function skillSurelyMatches(specifier: string, skill: string): boolean {
  return nameMatches(specifier.replace(/(?:\s+|:)\*$/, ''), skill);
}

/** `kit:*` may as well mean every skill of that plugin. */
function skillCouldMatch(specifier: string, skill: string): boolean {
  return skillSurelyMatches(specifier, skill) || nameMatches(specifier, skill);
}

function nameMatches(pattern: string, skill: string): boolean {
  return matchesWildcard(pattern.replace(/^\//, '').toLowerCase(), skill.toLowerCase());
}

/**
 * Whether a rule that allows means this agent. A rule does not know which other agents there are, so a
 * name with other separators could mean another agent and allows nothing.
 */
function agentSurelyMatches(specifier: string, agent: string): boolean {
  return matchesWildcard(specifier.toLowerCase(), agent.toLowerCase());
}

/** Whether a rule that denies or asks may mean this agent, however the words of its name are separated. */
export function couldAgentMatch(specifier: string, agent: string): boolean {
  if (agentSurelyMatches(specifier, agent)) return true;
  const words = foldWords(specifier);
  if (matchesWildcard(words, foldWords(agent))) return true;
  // `review-*` does not mean Review, which it would without its separator.
  return !/-\*|\*-/.test(words) && matchesWildcard(foldName(specifier), foldName(agent));
}
