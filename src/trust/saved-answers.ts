import { UsageError } from '../base/errors.ts';
import { parseRule, type RuleText } from '../policy/rules/rules.ts';
import {
  openApprovalList,
  readApprovals,
  type ApprovalReaderOptions,
  APPROVE_AGAIN,
} from './approval-list.ts';
import type { ListFormat } from '../store/state/state-list.ts';

/** A question that was answered with "always". */
export interface SavedAnswer {
  /** The allow rule that the answer stands for. */
  readonly rule: string;
  /**
   * The root of the project for which the answer holds, without links, or null for every project.
   */
  readonly project: string | null;
  /** The time of the answer, ISO 8601. */
  readonly answeredOn: string;
}

export interface SavedAnswers {
  /** Returns the allow rules of a project: its own, then those for every project. */
  rules(projectRoot: string): readonly RuleText[];
  /**
   * Saves an answer. Throws MusterError if it cannot be saved, and UsageError for a text that is no rule.
   */
  add(answer: {
    readonly rule: string;
    readonly scope: 'project' | 'user';
    readonly projectRoot: string;
  }): void;
}

/** The file of the saved answers. */
export const SAVED_ANSWERS: ListFormat<SavedAnswer> = {
  fileName: 'answers.json',
  remedy: APPROVE_AGAIN,
  listName: 'answers',
  keyOf: ({ rule, project }) => JSON.stringify([rule, project]),
  describeInvalid: (position) => `answer ${position} is none`,
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

/** Returns whether an answer holds in a project. */
export function isAnswerFor({ project }: SavedAnswer, projectRoot: string): boolean {
  return project === null || project === projectRoot;
}

/** Opens the saved answers for a run. A file that cannot be read allows nothing. */
export function openSavedAnswers(options: ApprovalReaderOptions): SavedAnswers {
  return {
    rules: (projectRoot) => {
      const { path, entries } = readApprovals(options, SAVED_ANSWERS, 'no saved answer counts');
      const source = { kind: 'answer', where: path } as const;
      return entries
        .filter((each) => isAnswerFor(each, projectRoot))
        .map(({ rule }) => ({ text: rule, source }));
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
