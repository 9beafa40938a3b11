import { MusterError, UsageError } from '../base/errors.ts';
import { isJsonObject, type JsonValue } from '../base/json.ts';
import { parseJsonLine } from '../base/jsonl.ts';
import { parseRule, type RuleText } from '../policy/rules/rules.ts';
import { StateFile } from './state-file.ts';
import { approvalDirectory, type StateOptions } from './state-directory.ts';

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

const FILE_NAME = 'answers.json';
const VERSION = 1;

/** The saved answers, in one file of the state directory. */
export class AnswerStore {
  readonly #file: StateFile;

  constructor(directory: string) {
    this.#file = new StateFile(directory, FILE_NAME);
  }

  get path(): string {
    return this.#file.path;
  }

  /**
   * Returns the answers for a project. Throws MusterError for a file that is damaged or not the user's own.
   */
  of(projectRoot: string): readonly SavedAnswer[] {
    return this.#parse(this.#file.read()).filter(
      ({ project }) => project === null || project === projectRoot,
    );
  }

  add(answer: SavedAnswer): void {
    const parsed = parseRule({
      text: answer.rule,
      source: { kind: 'answer', where: 'an answer' },
    });
    if (!parsed.ok) throw new UsageError(parsed.problem.message);
    this.#change((before) => [...before.filter((each) => !isSame(each, answer)), answer]);
  }

  /** Removes answers, and returns them. */
  remove(isMeant: (answer: SavedAnswer) => boolean): readonly SavedAnswer[] {
    let removed: readonly SavedAnswer[] = [];
    this.#change((before) => {
      removed = before.filter(isMeant);
      return before.filter((answer) => !isMeant(answer));
    });
    return removed;
  }

  #change(change: (before: readonly SavedAnswer[]) => readonly SavedAnswer[]): void {
    this.#file.update((text) => {
      const answers = change(this.#parse(text));
      return `${JSON.stringify({ version: VERSION, answers }, null, 2)}\n`;
    });
  }

  #parse(text: string | undefined): readonly SavedAnswer[] {
    if (text === undefined) return [];
    const value = parseJsonLine(text);
    if (!isJsonObject(value)) throw this.#file.damaged('it holds no JSON object');
    const { version, answers } = value;
    if (version !== VERSION) throw this.#file.damaged(`its version is not ${VERSION}`);
    if (!Array.isArray(answers)) throw this.#file.damaged('it holds no list of answers');
    return answers.map((each: JsonValue, index) => {
      const answer = readAnswer(each);
      if (answer === undefined) throw this.#file.damaged(`answer ${index + 1} is none`);
      return answer;
    });
  }
}

function isSame(a: SavedAnswer, b: SavedAnswer): boolean {
  return a.rule === b.rule && a.project === b.project;
}

function readAnswer(value: JsonValue): SavedAnswer | undefined {
  if (!isJsonObject(value)) return undefined;
  const { rule, project, answeredOn } = value;
  if (
    typeof rule !== 'string' ||
    (typeof project !== 'string' && project !== null) ||
    typeof answeredOn !== 'string' ||
    !parseRule({ text: rule, source: { kind: 'answer', where: '' } }).ok
  ) {
    return undefined;
  }
  return { rule, project, answeredOn };
}

export interface SavedAnswersOptions extends StateOptions {
  /** Called with one line that says why no answer counts. */
  readonly onProblem: (message: string) => void;
}

/**
 * Opens the saved answers for a run. A file that cannot be read allows nothing, and does not stop the run.
 */
export function openSavedAnswers(options: SavedAnswersOptions): SavedAnswers {
  return {
    rules: (projectRoot) => {
      try {
        const store = new AnswerStore(approvalDirectory(options));
        const source = { kind: 'answer', where: store.path } as const;
        return store.of(projectRoot).map(({ rule }) => ({ text: rule, source }));
      } catch (thrown) {
        if (!(thrown instanceof MusterError)) throw thrown;
        // A chosen directory in the project holds no answers, and whoever chose it need not be told each time.
        if (!(thrown instanceof UsageError))
          options.onProblem(`no saved answer counts: ${thrown.message}`);
        return [];
      }
    },
    add: ({ rule, scope, projectRoot }) =>
      new AnswerStore(approvalDirectory(options)).add({
        rule,
        project: scope === 'project' ? projectRoot : null,
        answeredOn: new Date().toISOString(),
      }),
  };
}
