import { MusterError } from '../base/errors.ts';
import type { StandingRules } from '../engine/task/inbox.ts';
import { parseRule, type RuleText } from '../policy/rules/rules.ts';
import type { PermissionRule } from '../protocol/permission.ts';
import { projectRoot } from '../sys/files/project-directories.ts';
import type { SavedAnswers } from './saved-answers.ts';

export interface StandingRulesOptions {
  readonly saved: SavedAnswers;
  /** Called with a message for each saved rule that cannot be read. Such a rule is ignored. */
  readonly onNotice: (line: string) => void;
}

/**
 * Creates the store of the rules from answers with "always". The saved rules of a project are read when they are first
 * needed. Later answers are saved and added.
 */
export function createStandingRules({ saved, onNotice }: StandingRulesOptions): StandingRules {
  const parseTexts = (texts: readonly RuleText[]): readonly PermissionRule[] =>
    texts.flatMap((each) => {
      const result = parseRule(each);
      if (result.ok) return [result.rule];
      onNotice(result.problem.message);
      return [];
    });
  const roots = new Map<string, string>();
  const findRoot = (directory: string): string => {
    const root = roots.get(directory) ?? projectRoot(directory);
    roots.set(directory, root);
    return root;
  };
  /** The rules of each project, by the root of the project. */
  const rulesByRoot = new Map<string, readonly PermissionRule[]>();
  const loadRules = (root: string): readonly PermissionRule[] => {
    const rules = rulesByRoot.get(root) ?? parseTexts(saved.rules(root));
    rulesByRoot.set(root, rules);
    return rules;
  };
  return {
    rules: (directory) => (directory === null ? [] : loadRules(findRoot(directory))),
    add(rule, { scope, directory }) {
      if (directory === null) {
        const message = `scope ${scope}: the rule cannot be saved, because the task has no working directory in which it would apply`;
        throw new MusterError('INVALID_PARAM', message);
      }
      const root = findRoot(directory);
      const before = loadRules(root);
      saved.add({ rule: rule.text, scope, projectRoot: root });
      if (scope === 'project') rulesByRoot.set(root, [...before, rule]);
      else for (const [each, rules] of rulesByRoot) rulesByRoot.set(each, [...rules, rule]);
    },
  };
}
