import type { PermissionRule, Rights, RuleSet } from '../protocol/permission.ts';
import type { Restriction } from '../protocol/state/questions.ts';
import { printRule } from './rules/rules.ts';

/**
 * Adds the ask and deny rules that the user has set for a conversation. A rule that the rights have already is not added
 * again, so that it keeps its source.
 */
export function addRestrictions(rights: Rights, restrictions: readonly Restriction[]): Rights {
  if (restrictions.length === 0) return rights;
  const extend = (list: Restriction['list']): readonly PermissionRule[] => {
    const known = new Set(rights.rules[list].map(printRule));
    const added = restrictions.filter(
      (each) => each.list === list && !known.has(printRule(each.rule)),
    );
    return [...rights.rules[list], ...added.map(({ rule }) => rule)];
  };
  return { ...rights, rules: { ...rights.rules, ask: extend('ask'), deny: extend('deny') } };
}

/**
 * Removes the ask and deny rules that the user has set for the conversation from the recorded rights of a task. Such
 * rules come from the tasks above, which have them as long as they are in force: otherwise a rule that the user removes
 * would stay in force for the tasks that were created in the meantime.
 */
export function dropInheritedRestrictions(rights: Rights): Rights {
  const { rules } = rights;
  const keep = (list: Restriction['list']): RuleSet[Restriction['list']] => {
    const kept = rules[list].filter((rule) => !isRestriction(rule));
    return kept.length === rules[list].length ? rules[list] : kept;
  };
  const [ask, deny] = [keep('ask'), keep('deny')];
  if (ask === rules.ask && deny === rules.deny) return rights;
  return { ...rights, rules: { ...rules, ask, deny } };
}

/** Tells whether an ask or deny rule was set by the user for a conversation. Files and flags have other sources. */
function isRestriction({ source }: PermissionRule): boolean {
  return source.kind === 'answer';
}
