import type { Decision, DecisionStep, Rights } from '../protocol/permission.ts';
import { makeAllowRulesAbsolute } from './rules/absolute-rules.ts';
import { parseRule, printRule } from './rules/rules.ts';
import { specifierKind } from '../protocol/specifier-kind.ts';
import { coversWholeTool } from './rules/tool-cover.ts';

/** What no allow rule lifts. */
const ABOVE_ALLOW_RULES: ReadonlySet<DecisionStep> = new Set<DecisionStep>([
  'tool_set',
  'deny_rule',
  'floor',
  'ask_rule',
]);

/**
 * The rule that an "always" to this question gives: the narrowest that lets the call run, its paths
 * written out, so that it means the same in every task. Null where none would act, and where only one
 * would that reaches far beyond the call: the whole of a tool whose rules can be narrower, or a command
 * with a `*` of its own, which in a rule would stand for any text.
 */
export function chooseOfferedRule(
  { step, wouldAllow }: Decision,
  { tool, rights }: { readonly tool: string; readonly rights: Pick<Rights, 'roots'> },
): string | null {
  if (ABOVE_ALLOW_RULES.has(step) || wouldAllow === undefined) return null;
  const source = { kind: 'answer', where: 'an answer' } as const;
  const parsed = parseRule({ text: wouldAllow, source }, [tool]);
  if (!parsed.ok) return null;
  const { rule } = parsed;
  const kind = specifierKind(rule.tool);
  if (coversWholeTool(rule) && kind !== undefined) return null;
  if (kind === 'command' && rule.specifier?.includes('*') === true) return null;
  const [pinned] = makeAllowRulesAbsolute([rule], rights.roots);
  return pinned === undefined ? null : printRule(pinned);
}
