import type { HookCondition, HookMatch } from '../protocol/hook.ts';
import type { Rights } from '../protocol/permission.ts';
import type { ResolvedCall } from './call.ts';
import { findRuleAgainst } from './decide.ts';
import { createCallSubjects, type DecisionContext } from './decision-input.ts';
import { findAllowingRule } from './rules/match-rules.ts';

/**
 * Compares a call with the condition of a hook. The hook runs at calls to which a deny rule with this text would apply, and its
 * permission counts only for calls that an allow rule with this text would allow: a hook for `Bash(git *)` sees
 * `git status && rm -r x`, and cannot allow it.
 *
 * @param rights the rights of the task, for the meaning of relative paths
 * @param context.shellParser null only for a call without commands
 */
export function matchHookCondition(
  { rules, allowing }: HookCondition,
  call: ResolvedCall,
  rights: Pick<Rights, 'roots' | 'workspace'>,
  context: Pick<DecisionContext, 'home' | 'shellParser'>,
): HookMatch {
  if (rules.length === 0) return 'loosely';
  const tools = [call.tool, ...(call.access.alsoNeeds ?? [])];
  const forms = tools.map((tool) => createCallSubjects({ ...call, tool }, rights, context));
  if (!forms.some((form) => findRuleAgainst(rules, form) !== undefined)) return 'no';
  return forms.every(({ subject }) => findAllowingRule(allowing, subject) !== undefined)
    ? 'yes'
    : 'loosely';
}
