import type { AgentDefinition } from '../../protocol/agent.ts';
import type { PermissionRule, RuleSet } from '../../protocol/permission.ts';
import { parseRules, printRule, type RuleText } from './rules.ts';

/**
 * The rules with those that a definition brings, which only ask and deny. One that cannot be read
 * counts for its whole tool.
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
 * Each rule once. Those of definitions come last, in an order of their own: which definition stands
 * above which, and whether rights were cut before or after, makes no difference.
 */
export function removeDuplicateRules(rules: readonly PermissionRule[]): readonly PermissionRule[] {
  const isOfDefinition = ({ source }: PermissionRule): boolean => source.kind === 'definition';
  const others = byText(rules.filter((rule) => !isOfDefinition(rule)));
  const known = new Set(others.map(printRule));
  const added = rules
    .filter((rule) => isOfDefinition(rule) && !known.has(printRule(rule)))
    .toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  const isFirst = (rule: PermissionRule, index: number): boolean => {
    const before = added[index - 1];
    return before === undefined || printRule(before) !== printRule(rule);
  };
  return [...others, ...added.filter(isFirst)];
}

/** Of several that say the same the last one, in the first one's place. */
function byText(rules: readonly PermissionRule[]): readonly PermissionRule[] {
  return [...new Map(rules.map((rule) => [printRule(rule), rule])).values()];
}

function orderOf(rule: PermissionRule): string {
  return JSON.stringify([printRule(rule), rule.source.where, rule.text]);
}
