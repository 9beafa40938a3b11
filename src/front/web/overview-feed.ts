import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskEvent, Tasks } from '../../api/index.ts';
import { errorMessage } from '../../base/errors.ts';
import { VERSION } from '../../base/version.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { ChangeRing } from './change-ring.ts';
import { QuestionBoard } from './question-board.ts';
import {
  compareRowsNewestFirst,
  rowFromState,
  rowFromSummary,
  type WorkspacesById,
} from './task-rows.ts';
import type { Overview, TaskRow, WebQuestion } from './wire.ts';

/** The time between a change and its report, so that many changes are one message. */
const FLUSH_MS = 100;
/**
 * The interval at which the list of all tasks is compared with what was reported, while a page is open. It finds tasks that
 * were deleted or imported, and those that ended before anybody saw them at work.
 */
const COMPARE_MS = 5_000;
/** The age of the list at which a new overview compares it first. */
const MAX_OVERVIEW_AGE_MS = 1_000;
const RESTART_MS = 1_000;

export interface OverviewFeedOptions {
  readonly tasks: Tasks;
  readonly onNotice: (line: string) => void;
  /** Called with each question that is new. */
  readonly onAsked: (question: WebQuestion) => void;
}

/** The list of all tasks and questions, which follows what every process writes to the logs. */
export class OverviewFeed {
  readonly ring = new ChangeRing();
  readonly questions: QuestionBoard;
  readonly #options: OverviewFeedOptions;
  readonly #rows = new Map<string, TaskRow>();
  /** The states of the tasks at work, which the watch keeps up to date. */
  readonly #atWork = new Map<string, TaskState>();
  readonly #changed = new Set<string>();
  #workspaces: WorkspacesById = new Map();
  #comparedAt = -Infinity;
  #hasNewQuestions = false;
  #flushTimer: NodeJS.Timeout | null = null;
  #compareTimer: NodeJS.Timeout | null = null;
  #readers = 0;

  constructor(options: OverviewFeedOptions) {
    this.#options = options;
    const { tasks, onAsked } = options;
    this.questions = new QuestionBoard({ tasks, ring: this.ring, onAsked });
  }

  /** Follows the tasks until the signal aborts. Resolves when the list is complete. */
  async begin(signal: AbortSignal): Promise<void> {
    void this.#watch(signal);
    await this.#compare();
    await this.questions.begin();
    signal.addEventListener('abort', () => this.#stopTimers(), { once: true });
  }

  async overview(): Promise<Overview> {
    if (performance.now() - this.#comparedAt > MAX_OVERVIEW_AGE_MS) await this.#compare();
    this.#reportRows();
    const tasks = [...this.#rows.values()].toSorted(compareRowsNewestFirst);
    const { cursor } = this.ring;
    return { cursor, version: VERSION, tasks, questions: this.questions.list() };
  }

  /** Notes that a page reads the changes. Returns the function that ends this. */
  addReader(): () => void {
    this.#readers += 1;
    this.#compareTimer ??= setInterval(() => void this.#compareGuarded(), COMPARE_MS).unref();
    return () => {
      this.#readers -= 1;
      if (this.#readers === 0) this.#stopComparing();
    };
  }

  /** Watches until the signal aborts. A log that cannot be read ends the watch, which then begins again. */
  async #watch(signal: AbortSignal): Promise<void> {
    const listener = {
      atWork: (state: TaskState) => this.#noteState(state),
      event: (_event: TaskEvent, state: TaskState) => this.#noteEvent(state),
      left: (state: TaskState) => this.#noteState(state, { hasLeft: true }),
    };
    let reported = '';
    while (!signal.aborted) {
      try {
        await this.#options.tasks.watch(null, { listener, signal });
      } catch (thrown) {
        const message = errorMessage(thrown);
        if (message !== reported)
          this.#options.onNotice(`the tasks cannot be followed: ${message}`);
        reported = message;
      }
      this.#atWork.clear();
      await sleep(RESTART_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  #noteEvent(state: TaskState): void {
    const { id } = state.spec;
    this.#noteState(state);
    const open = [...state.questions.values()].filter(({ answer }) => answer === null);
    const known = this.questions.idsOf(id);
    if (open.length === known.length && open.every(({ question }) => known.includes(question.id)))
      return;
    this.#hasNewQuestions = true;
  }

  #noteState(state: TaskState, { hasLeft }: { readonly hasLeft: boolean } = { hasLeft: false }) {
    const { id } = state.spec;
    // The row of a task that has ended is made of this state once more, which no later event changes.
    if (state.end === null && !hasLeft) this.#atWork.set(id, state);
    else {
      this.#atWork.delete(id);
      this.#setRow(rowFromState(state, this.#workspaces));
    }
    if (hasLeft) this.#hasNewQuestions = true;
    this.#changed.add(id);
    this.#flushTimer ??= setTimeout(() => void this.#flush(), FLUSH_MS).unref();
  }

  async #flush(): Promise<void> {
    this.#flushTimer = null;
    this.#reportRows();
    if (!this.#hasNewQuestions) return;
    this.#hasNewQuestions = false;
    await this.#guard(() => this.questions.refresh());
  }

  /** Reports the rows that have changed since the last report. */
  #reportRows(): void {
    const rows: TaskRow[] = [];
    for (const id of this.#changed) {
      const state = this.#atWork.get(id);
      if (state !== undefined) this.#setRow(rowFromState(state, this.#workspaces));
      const row = this.#rows.get(id);
      if (row !== undefined) rows.push(row);
    }
    this.#changed.clear();
    if (rows.length > 0) this.ring.add('rows', rows);
  }

  #setRow(row: TaskRow): void {
    this.#rows.set(row.id, row);
  }

  /** Compares the list of all tasks with the rows, and reports the differences. */
  async #compare(): Promise<void> {
    const { tasks } = this.#options;
    this.#workspaces = new Map((await tasks.workspaceSummaries()).map((each) => [each.id, each]));
    const listed = tasks.list({ withLedgers: true });
    const isFirst = this.#comparedAt === -Infinity;
    this.#comparedAt = performance.now();
    const ids = new Set<string>();
    for (const summary of listed) {
      const { id } = summary;
      ids.add(id);
      if (this.#atWork.has(id)) continue;
      const before = this.#rows.get(id);
      const now = { ...rowFromSummary(summary, this.#workspaces), calls: before?.calls ?? null };
      if (before !== undefined && JSON.stringify(before) === JSON.stringify(now)) continue;
      this.#setRow(now);
      if (!isFirst) this.#changed.add(id);
    }
    const gone = [...this.#rows.keys()].filter((id) => !ids.has(id) && !this.#atWork.has(id));
    for (const id of gone) this.#rows.delete(id);
    this.#reportRows();
    if (gone.length > 0) this.ring.add('gone', gone);
  }

  async #compareGuarded(): Promise<void> {
    await this.#guard(async () => {
      await this.#compare();
      await this.questions.refresh();
    });
  }

  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (thrown) {
      this.#options.onNotice(`the list of tasks cannot be read: ${errorMessage(thrown)}`);
    }
  }

  #stopComparing(): void {
    if (this.#compareTimer !== null) clearInterval(this.#compareTimer);
    this.#compareTimer = null;
  }

  #stopTimers(): void {
    this.#stopComparing();
    if (this.#flushTimer !== null) clearTimeout(this.#flushTimer);
    this.#flushTimer = null;
  }
}
