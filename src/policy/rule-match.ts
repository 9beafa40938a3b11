import { foldName, foldNameWords } from '../base/fold-name.ts';
import type { Access, PermissionRule, RuleSet } from '../protocol/permission.ts';
import { pathsOf } from './call.ts';
import type { JudgedCall, ResolvedPath } from './call.ts';
import { allowingRule, commandCouldMatch } from './command-rules.ts';
import type { ReadCommand } from './command-rules.ts';
import { pathCouldMatch, pathSurelyMatches } from './path-pattern.ts';
import type { PatternPlace } from './path-pattern.ts';
import { specifierKind } from '../protocol/specifier-kind.ts';
import { domainMatches } from './specifiers.ts';
import { isWholeTool, ruleCovers } from './tool-cover.ts';
import { wildcardMatches } from './wildcard.ts';

/** What rules are matched against. `commands` are read when a rule first asks for them. */
export interface Matching {
  readonly call: JudgedCall;
  readonly place: PatternPlace;
  commands(): readonly ReadCommand[];
}

/**
 * The first rule of a deny or ask list that could mean the call. Where a call does not say what it
 * would touch, or a command can't be read, every rule with a specifier for its tool could.
 */
export function narrowingRule(
  rules: readonly PermissionRule[],
  matching: Matching,
): PermissionRule | undefined {
  return rules.find(
    (rule) =>
      ruleCovers(rule, matching.call.tool, 'narrow') &&
      (isWholeTool(rule) || couldMatch(rule, matching)),
  );
}

/** The rules of a set that keep single paths from being read, or have it asked about. */
export function readNarrowingRules({ ask, deny }: RuleSet): readonly PermissionRule[] {
  return [...deny, ...ask].filter(
    (rule) => ruleCovers(rule, 'Read', 'narrow') && !isWholeTool(rule),
  );
}

/** Whether one of these rules could mean that this path is read. */
export function couldMeanRead(
  rules: readonly PermissionRule[],
  path: ResolvedPath,
  place: PatternPlace,
): boolean {
  return rules.some((rule) => pathCouldMatch(specifierOf(rule), path, place));
}

function couldMatch(rule: PermissionRule, matching: Matching): boolean {
  const { access } = matching.call;
  const specifier = specifierOf(rule);
  switch (specifierKind(rule.tool)) {
    case 'command':
      return someOrUnknown(matching.commands(), (each) => commandCouldMatch(specifier, each));
    case 'path':
      return someOrUnknown(pathsOf(access), (path) =>
        pathCouldMatch(specifier, path, matching.place),
      );
    case 'domain':
      return someOrUnknown(access.hosts, (host) => domainMatches(specifier, host));
    case 'agent':
      return someOrUnknown(agentNames(access), (name) => agentCouldMatch(specifier, name));
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
export function wideningRule(
  rules: readonly PermissionRule[],
  matching: Matching,
): PermissionRule | undefined {
  const { access, tool } = matching.call;
  const about = rules.filter((rule) => ruleCovers(rule, tool, 'widen'));
  const whole = about.find(isWholeTool);
  if (whole !== undefined || about.length === 0) return whole;
  switch (specifierKind(tool)) {
    case 'command':
      return everyMatched(matching.commands(), (each) => allowingRule(about, each));
    case 'path':
      return everyMatched(pathsOf(access), (path) => pathRule(about, path, matching.place));
    case 'domain':
      return everyMatched(access.hosts, (host) =>
        about.find((rule) => domainMatches(specifierOf(rule), host)),
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
  path: ResolvedPath,
  place: PatternPlace,
): PermissionRule | undefined {
  return rules.find((rule) => pathSurelyMatches(specifierOf(rule), path, place));
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
  return wildcardMatches(pattern.replace(/^\//, '').toLowerCase(), skill.toLowerCase());
}

/**
 * Whether a rule that allows means this agent. A rule does not know which other agents there are, so a
 * name with other separators could mean another agent and allows nothing.
 */
function agentSurelyMatches(specifier: string, agent: string): boolean {
  return wildcardMatches(specifier.toLowerCase(), agent.toLowerCase());
}

/** Whether a rule that denies or asks may mean this agent, however the words of its name are separated. */
export function agentCouldMatch(specifier: string, agent: string): boolean {
  if (agentSurelyMatches(specifier, agent)) return true;
  const words = foldNameWords(specifier);
  if (wildcardMatches(words, foldNameWords(agent))) return true;
  // `review-*` does not mean Review, which it would without its separator.
  return !/-\*|\*-/.test(words) && wildcardMatches(foldName(specifier), foldName(agent));
}
