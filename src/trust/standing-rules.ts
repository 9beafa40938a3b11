import { MusterError } from '../base/errors.ts';
import type { StandingRules } from '../engine/task/inbox.ts';
import { parseRule, type RuleText } from '../policy/rules/rules.ts';
import type { PermissionRule } from '../protocol/permission.ts';
import { projectRoot } from '../sys/files/project-directories.ts';
import type { SavedAnswers } from './saved-answers.ts';

export interface StandingRulesOptions {
  readonly saved: SavedAnswers;
  /** Called for a saved rule that cannot be read and is ignored. */
  readonly onNotice: (line: string) => void;
}

/**
 * Creates the store of rules from answers with "always": those that were saved when they are first needed, and those
 * given since.
 */
export function createStandingRules({ saved, onNotice }: StandingRulesOptions): StandingRules {
  const parsed = (texts: readonly RuleText[]): readonly PermissionRule[] =>
    texts.flatMap((each) => {
      const result = parseRule(each);
      if (result.ok) return [result.rule];
      onNotice(result.problem.message);
      return [];
    });
  const roots = new Map<string, string>();
  const rootOf = (directory: string): string => {
    const root = roots.get(directory) ?? projectRoot(directory);
    roots.set(directory, root);
    return root;
  };
  /** By the root of the project. */
  const kept = new Map<string, readonly PermissionRule[]>();
  const keptIn = (root: string): readonly PermissionRule[] => {
    const rules = kept.get(root) ?? parsed(saved.rules(root));
    kept.set(root, rules);
    return rules;
  };
  return {
    rules: (directory) => (directory === null ? [] : keptIn(rootOf(directory))),
    add(rule, { scope, directory }) {
      if (directory === null) {
        const message = `scope ${scope}: the task works in no directory that you granted it`;
        throw new MusterError('INVALID_PARAM', message);
      }
      const root = rootOf(directory);
      const before = keptIn(root);
      saved.add({ rule: rule.text, scope, projectRoot: root });
      if (scope === 'project') kept.set(root, [...before, rule]);
      else for (const [each, rules] of kept) kept.set(each, [...rules, rule]);
    },
  };
}
