import type { StandingRules } from '../engine/standing-rules.ts';
import { parseRule } from '../policy/rules.ts';
import type { PermissionRule } from '../protocol/permission.ts';
import type { SavedAnswers } from './saved-answers.ts';

export interface StandingRulesOptions {
  readonly saved: SavedAnswers;
  /** Absolute, real. */
  readonly projectRoot: string;
  /** Told of a kept rule that can't be read: it is as if it were not there. */
  readonly onNotice: (line: string) => void;
}

/** What was answered once and for all, in force for every task of this process. */
export function standingRules({
  saved,
  projectRoot,
  onNotice,
}: StandingRulesOptions): StandingRules {
  let rules: readonly PermissionRule[] = saved.rules(projectRoot).flatMap((each) => {
    const parsed = parseRule(each);
    if (parsed.ok) return [parsed.rule];
    onNotice(parsed.problem.message);
    return [];
  });
  return {
    get rules() {
      return rules;
    },
    add(rule, scope) {
      saved.add({ rule: rule.text, scope, projectRoot });
      rules = [...rules, rule];
    },
  };
}
