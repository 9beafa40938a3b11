import { UsageError } from '../base/errors.ts';
import { parseRule, type RuleText } from '../policy/rules/rules.ts';
import {
  openApprovalList,
  readApprovals,
  type ApprovalReaderOptions,
  APPROVE_AGAIN,
} from './approval-list.ts';
import type { ListFormat } from '../store/state/state-list.ts';

/** The answer "always" to a question, saved as an allow rule. */
export interface SavedAnswer {
  /** The allow rule that the answer stands for. */
  readonly rule: string;
  /** The root of the project in which the answer applies (a real path), or null for every project. */
  readonly project: string | null;
  /** The time of the answer, in ISO 8601. */
  readonly answeredOn: string;
}

/** The saved answers, as a run reads and extends them. */
export interface SavedAnswers {
  /** Returns the allow rules that apply in a project, each with its scope. */
  rules(projectRoot: string): readonly (RuleText & { readonly scope: 'project' | 'user' })[];
  /**
   * Saves an answer. Throws MusterError if the answer cannot be saved, and UsageError for a text that is not a rule.
   */
  add(answer: {
    readonly rule: string;
    readonly scope: 'project' | 'user';
    readonly projectRoot: string;
  }): void;
  /** Removes answers by the texts of their rules. Throws MusterError if the file cannot be changed. */
  remove(answers: {
    readonly rules: ReadonlySet<string>;
    readonly scope: 'project' | 'user';
    readonly projectRoot: string;
  }): void;
}

/** The format of the file with the saved answers. */
export const SAVED_ANSWERS: ListFormat<SavedAnswer> = {
  fileName: 'answers.json',
  remedy: APPROVE_AGAIN,
  listName: 'answers',
  keyOf: ({ rule, project }) => JSON.stringify([rule, project]),
  describeInvalid: (position) => `entry ${position} is not a valid answer`,
  read({ rule, project, answeredOn }) {
    if (
      typeof rule !== 'string' ||
      (typeof project !== 'string' && project !== null) ||
      typeof answeredOn !== 'string' ||
      !parseSavedRule(rule).ok
    ) {
      return undefined;
    }
    return { rule, project, answeredOn };
  },
};

function parseSavedRule(text: string) {
  return parseRule({ text, source: { kind: 'answer', where: 'an answer' } });
}

/** Returns whether an answer applies in a project. */
export function isAnswerFor({ project }: SavedAnswer, projectRoot: string): boolean {
  return project === null || project === projectRoot;
}

/** Opens the saved answers for a run. If the file cannot be read, no answer applies. */
export function openSavedAnswers(options: ApprovalReaderOptions): SavedAnswers {
  return {
    rules: (projectRoot) => {
      const { path, entries } = readApprovals(options, SAVED_ANSWERS, 'no saved answer applies');
      const source = { kind: 'answer', where: path } as const;
      return entries
        .filter((each) => isAnswerFor(each, projectRoot))
        .map(({ rule, project }) => ({
          text: rule,
          source,
          scope: project === null ? 'user' : 'project',
        }));
    },
    remove: ({ rules, scope, projectRoot }) => {
      const project = scope === 'project' ? projectRoot : null;
      openApprovalList(options, SAVED_ANSWERS).remove(
        (each) => rules.has(each.rule) && each.project === project,
      );
    },
    add: ({ rule, scope, projectRoot }) => {
      const parsed = parseSavedRule(rule);
      const list = openApprovalList(options, SAVED_ANSWERS);
      if (!parsed.ok) throw new UsageError(parsed.problem.message);
      const project = scope === 'project' ? projectRoot : null;
      list.add([{ rule, project, answeredOn: new Date().toISOString() }]);
    },
  };
}
