import { MusterError } from '../base/errors.ts';
import type { StandingRule, StandingRules } from '../engine/task/inbox.ts';
import { parseRule, printRule } from '../policy/rules/rules.ts';
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
  const parseTexts = (texts: ReturnType<SavedAnswers['rules']>): readonly StandingRule[] =>
    texts.flatMap(({ scope, ...text }) => {
      const result = parseRule(text);
      if (result.ok) return [{ rule: result.rule, scope }];
      onNotice(result.problem.message);
      return [];
    });
  const roots = new Map<string, string>();
  const findRoot = (directory: string): string => {
    const root = roots.get(directory) ?? projectRoot(directory);
    roots.set(directory, root);
    return root;
  };
  const rulesByRoot = new Map<string, ProjectRules>();
  const setRules = (root: string, list: readonly StandingRule[]): ProjectRules => {
    const rules = { list, rules: list.map(({ rule }) => rule) };
    rulesByRoot.set(root, rules);
    return rules;
  };
  const loadRules = (root: string): ProjectRules =>
    rulesByRoot.get(root) ?? setRules(root, parseTexts(saved.rules(root)));
  /** Changes the rules of one project, or of all projects that were read. */
  const changeRules = (
    { scope, root }: { readonly scope: StandingRule['scope']; readonly root: string },
    change: (list: readonly StandingRule[]) => readonly StandingRule[],
  ): void => {
    const changed = scope === 'project' ? [root] : [...rulesByRoot.keys()];
    for (const each of changed) setRules(each, change(loadRules(each).list));
  };
  const requireRoot = (directory: string | null, scope: StandingRule['scope']): string => {
    if (directory !== null) return findRoot(directory);
    const message = `scope ${scope}: the rule cannot be saved, because the task has no working directory in which it would apply`;
    throw new MusterError('INVALID_PARAM', message);
  };
  return {
    rules: (directory) => (directory === null ? [] : loadRules(findRoot(directory)).rules),
    list: (directory) => (directory === null ? [] : loadRules(findRoot(directory)).list),
    add(rule, { scope, directory }) {
      const root = requireRoot(directory, scope);
      loadRules(root);
      saved.add({ rule: rule.text, scope, projectRoot: root });
      changeRules({ scope, root }, (list) => [...list, { rule, scope }]);
    },
    remove(rule, { scope, directory }) {
      const root = requireRoot(directory, scope);
      const wanted = printRule(rule);
      const isMeant = (each: StandingRule): boolean =>
        each.scope === scope && printRule(each.rule) === wanted;
      const meant = loadRules(root).list.filter(isMeant);
      if (meant.length === 0) return false;
      const texts = new Set(meant.map((each) => each.rule.text));
      saved.remove({ rules: texts, scope, projectRoot: root });
      changeRules({ scope, root }, (list) => list.filter((each) => !isMeant(each)));
      return true;
    },
  };
}

/** The rules of a project, with and without their scopes. The arrays never change. */
interface ProjectRules {
  readonly list: readonly StandingRule[];
  readonly rules: readonly PermissionRule[];
}
