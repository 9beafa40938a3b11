import type { AgentDefinition } from '../../protocol/agent.ts';
import type { PermissionRule, RuleSet } from '../../protocol/permission.ts';
import { parseRules, printRule, type RuleText } from './rules.ts';

/**
 * Adds the rules of a definition, which can only ask and deny. A rule that cannot be read applies to all calls of its
 * tool.
 */
export function addDefinitionRules(
  rules: RuleSet,
  { name, rules: own }: Pick<AgentDefinition, 'name' | 'rules'>,
): RuleSet {
  if (own === undefined) return rules;
  const source = { kind: 'definition', where: `agent ${name}` } as const;
  const read = (texts: readonly string[]): readonly RuleText[] =>
    texts.map((text) => ({ text, source }));
  const { ask, deny } = parseRules({ allow: [], ask: read(own.ask), deny: read(own.deny) }).rules;
  return {
    allow: rules.allow,
    ask: removeDuplicateRules([...rules.ask, ...ask]),
    deny: removeDuplicateRules([...rules.deny, ...deny]),
  };
}

/**
 * Removes rules that occur twice. The rules of definitions come last, sorted, so that the result does not depend on
 * the order in which definitions were applied and rights were reduced.
 */
export function removeDuplicateRules(rules: readonly PermissionRule[]): readonly PermissionRule[] {
  const isOfDefinition = ({ source }: PermissionRule): boolean => source.kind === 'definition';
  const others = keepLastOfEqual(rules.filter((rule) => !isOfDefinition(rule)));
  const known = new Set(others.map(printRule));
  const added = rules
    .filter((rule) => isOfDefinition(rule) && !known.has(printRule(rule)))
    .toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  const isFirst = (rule: PermissionRule, index: number): boolean => {
    const before = added[index - 1];
    return before === undefined || printRule(before) !== printRule(rule);
  };
  return [...others, ...added.filter(isFirst)];
}

/** Keeps the last of several equal rules, at the position of the first. */
function keepLastOfEqual(rules: readonly PermissionRule[]): readonly PermissionRule[] {
  return [...new Map(rules.map((rule) => [printRule(rule), rule])).values()];
}

function sortKey(rule: PermissionRule): string {
  return JSON.stringify([printRule(rule), rule.source.where, rule.text]);
}
