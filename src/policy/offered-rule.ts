import type { Decision, DecisionStep, Rights } from '../protocol/permission.ts';
import { specifierKind } from '../protocol/specifier-kind.ts';
import { makeAllowRulesAbsolute } from './rules/absolute-rules.ts';
import { parseRule, printRule } from './rules/rules.ts';
import { coversWholeTool } from './rules/tool-cover.ts';

/** Steps that come before the allow rules, so that no allow rule lifts their decisions. */
const STEPS_ABOVE_ALLOW_RULES: ReadonlySet<DecisionStep> = new Set<DecisionStep>([
  'tool_set',
  'deny_rule',
  'floor',
  'ask_rule',
]);

/**
 * Chooses the rule that an "always" to this question gives: the narrowest rule that lets the call run, with absolute
 * paths, so that it means the same in every task. Null where no rule would have an effect, and where only a rule would
 * that goes far beyond the call: one for a whole tool whose rules can be narrower, or one for a command that contains
 * a `*`, which in a rule stands for any text.
 */
export function chooseOfferedRule(
  { step, wouldAllow }: Decision,
  { tool, rights }: { readonly tool: string; readonly rights: Pick<Rights, 'roots'> },
): string | null {
  if (STEPS_ABOVE_ALLOW_RULES.has(step) || wouldAllow === undefined) return null;
  const source = { kind: 'answer', where: 'an answer' } as const;
  const parsed = parseRule({ text: wouldAllow, source }, [tool]);
  if (!parsed.ok) return null;
  const { rule } = parsed;
  const kind = specifierKind(rule.tool);
  if (coversWholeTool(rule) && kind !== undefined) return null;
  if (kind === 'command' && rule.specifier?.includes('*') === true) return null;
  const [absolute] = makeAllowRulesAbsolute([rule], rights.roots);
  return absolute === undefined ? null : printRule(absolute);
}
