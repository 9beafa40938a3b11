import type { AskedQuestion, Tasks } from '../../api/index.ts';
import { MusterError } from '../../base/errors.ts';
import { answerText } from '../../protocol/state/questions.ts';
import type { ChangeRing } from './change-ring.ts';
import type { ClosedQuestion, WebQuestion } from './wire.ts';

export interface QuestionBoardOptions {
  readonly tasks: Pick<Tasks, 'questions' | 'state'>;
  readonly ring: ChangeRing;
  /** Called with each question that is new since the start of the server. */
  readonly onAsked: (question: WebQuestion) => void;
}

/** The open questions of all tasks, and what becomes of them. */
export class QuestionBoard {
  readonly #options: QuestionBoardOptions;
  readonly #open = new Map<string, WebQuestion>();
  readonly #putOff = new Set<string>();
  /** The pages that are answering or have answered, the first one first, by the ids of questions that are reported as open. */
  readonly #answering = new Map<string, readonly string[]>();

  constructor(options: QuestionBoardOptions) {
    this.#options = options;
  }

  /** Lists the open questions, the oldest first. */
  list(): readonly WebQuestion[] {
    return [...this.#open.values()].toSorted((a, b) => a.askedAt - b.askedAt);
  }

  /** Returns the ids of the open questions of a task. */
  idsOf(task: string): readonly string[] {
    return [...this.#open.values()].flatMap(({ question }) =>
      question.task === task ? [question.id] : [],
    );
  }

  /** Reads the questions as they are when the server starts. Nobody is notified of them. */
  async begin(): Promise<void> {
    for (const asked of await this.#options.tasks.questions()) {
      this.#open.set(asked.question.id, this.#describe(asked));
    }
  }

  /** Reads the questions again, and reports those that are new, have changed or are closed. */
  async refresh(): Promise<void> {
    const { tasks, ring, onAsked } = this.#options;
    const asked = new Map((await tasks.questions()).map((each) => [each.question.id, each]));
    for (const [id, { question }] of this.#open) {
      if (asked.has(id)) continue;
      this.#open.delete(id);
      this.#putOff.delete(id);
      ring.add('closed', this.#describeEnd(id, question.task));
    }
    for (const [id, each] of asked) {
      const before = this.#open.get(id);
      const now = this.#describe(each);
      if (before !== undefined && JSON.stringify(before) === JSON.stringify(now)) continue;
      this.#open.set(id, now);
      ring.add('question', now);
      if (before === undefined) onAsked(now);
    }
  }

  /** Marks a question as put off. Throws `NOT_FOUND` if it is not open. */
  putOff(id: string): void {
    const question = this.#open.get(id);
    if (question === undefined) throw new MusterError('NOT_FOUND', `question ${id} is not open`);
    this.#putOff.add(id);
    const now = { ...question, isPutOff: true };
    this.#open.set(id, now);
    this.#options.ring.add('question', now);
  }

  /** Notes which page is answering a question, so that its end names that page. Answers must be given one after the other. */
  noteAnswer(id: string, client: string): void {
    if (this.#open.has(id)) this.#answering.set(id, [...(this.#answering.get(id) ?? []), client]);
  }

  /** Forgets that a page was answering, because its answer has not counted. */
  forgetAnswer(id: string, client: string): void {
    const others = this.#answering.get(id)?.filter((each) => each !== client) ?? [];
    if (others.length === 0) this.#answering.delete(id);
    else this.#answering.set(id, others);
  }

  #describe({ question, askedAt, pid }: AskedQuestion): WebQuestion {
    const root = this.#open.get(question.id)?.root ?? this.#findRoot(question.task);
    return { question, root, askedAt, pid, isPutOff: this.#putOff.has(question.id) };
  }

  #findRoot(task: string): string {
    return this.#options.tasks.state(task).spec.root;
  }

  #describeEnd(id: string, task: string): ClosedQuestion {
    const client = this.#answering.get(id)?.[0] ?? null;
    this.#answering.delete(id);
    return { id, task, outcome: this.#readOutcome(id, task) ?? 'withdrawn', client };
  }

  /** Reads the outcome of a question; null if it cannot be read any more. */
  #readOutcome(id: string, task: string): string | null {
    try {
      const { questions, closedQuestions } = this.#options.tasks.state(task);
      const settled = [...questions.values()].find(({ question }) => question.id === id)?.answer;
      if (settled) return answerText(settled.answer, settled.by);
      return closedQuestions.get(id) ?? null;
    } catch (thrown) {
      // The task has been deleted, or its log cannot be read.
      if (!(thrown instanceof MusterError)) throw thrown;
      return null;
    }
  }
}
