import type { ClosedQuestion, Overview, TaskRow, WebQuestion } from '../../wire.ts';
import { Announcer } from '../model/announcer.ts';
import { retryDelay } from '../model/retry-delay.ts';
import { isActiveTask } from '../model/status-texts.ts';
import { describeThrown, PageError, type PageDataSource, type StreamState } from './page-source.ts';

/** The connection of the page to its server. */
export type ConnectionState = StreamState | { readonly kind: 'loading' };

/** A question that somebody has closed while this page showed it. */
export interface ClosedNotice {
  readonly question: WebQuestion;
  readonly closed: ClosedQuestion;
  /** True if this page has answered it. */
  readonly isOwn: boolean;
}

/** The maximum number of closed questions that the page still shows. */
const MAX_CLOSED = 20;

/**
 * The tasks and questions of the page. It follows the changes of the server, and calls its listeners at most once for
 * each picture that the browser draws.
 */
export class PageStore {
  /** The name by which the page recognizes its own answers. */
  readonly client = crypto.randomUUID();
  readonly announcer = new Announcer();
  readonly tasks = new Map<string, TaskRow>();
  readonly questions = new Map<string, WebQuestion>();
  /** The questions that were closed while the page was open, the newest first. */
  closed: readonly ClosedNotice[] = [];
  connection: ConnectionState = { kind: 'loading' };
  /** The version of Muster; null before the first data. */
  version: string | null = null;
  /** A number that grows with each change of the tasks. */
  revision = 0;
  /** Called with each question that is new after the first load. */
  onQuestion: (question: WebQuestion) => void = () => {};
  readonly source: PageDataSource;
  private readonly listeners = new Set<() => void>();
  private isScheduled = false;
  private stop: () => void = () => {};
  /** The number of attempts in a row to load the overview that have failed. */
  private failures = 0;

  constructor(source: PageDataSource) {
    this.source = source;
  }

  /**
   * Loads the overview and follows the changes after it. If that fails, it is tried again after a wait that grows, unless the
   * server does not let the page in.
   */
  async load(): Promise<void> {
    this.stop();
    let overview: Overview;
    try {
      overview = await this.source.overview();
    } catch (thrown) {
      if (isRefusal(thrown)) {
        this.connection = { kind: 'refused', reason: describeThrown(thrown) };
      } else {
        this.failures += 1;
        this.connection = { kind: 'broken' };
        setTimeout(() => void this.load(), retryDelay(this.failures));
      }
      this.changed();
      return;
    }
    this.failures = 0;
    this.replace(overview);
  }

  /** Adds a function that is called after changes. Returns the function that removes it. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  private replace({ cursor, version, tasks, questions }: Overview): void {
    this.version = version;
    this.tasks.clear();
    for (const row of tasks) this.tasks.set(row.id, row);
    this.questions.clear();
    for (const each of questions) this.questions.set(each.question.id, each);
    if (this.source.actions === null) this.connection = { kind: 'open' };
    const noted =
      <T>(note: (data: T) => void) =>
      (data: T): void => {
        note(data);
        this.revision += 1;
        this.changed();
      };
    this.stop = this.source.followChanges(cursor, {
      changes: {
        rows: noted((rows) => {
          for (const row of rows) this.setRow(row);
        }),
        gone: noted((ids) => {
          for (const id of ids) this.tasks.delete(id);
        }),
        question: noted((question) => this.setQuestion(question)),
        closed: noted((closed) => this.close(closed)),
        reset: () => void this.load(),
      },
      state: (state) => {
        this.connection = state;
        this.changed();
      },
    });
    this.revision += 1;
    this.changed();
  }

  private setRow(row: TaskRow): void {
    const before = this.tasks.get(row.id);
    this.tasks.set(row.id, row);
    if (before !== undefined && isActiveTask(before) && !isActiveTask(row)) {
      this.announcer.add(`${row.agent}: ${row.title}: ${row.status}`);
    }
  }

  private setQuestion(question: WebQuestion): void {
    const isNew = !this.questions.has(question.question.id);
    this.questions.set(question.question.id, question);
    if (!isNew) return;
    this.announcer.add(
      `A question waits: ${question.question.chain.at(-1) ?? ''}, ${question.question.tool}`,
    );
    this.onQuestion(question);
  }

  private close(closed: ClosedQuestion): void {
    const question = this.questions.get(closed.id);
    if (question === undefined) return;
    this.questions.delete(closed.id);
    const isOwn = closed.client === this.client;
    this.closed = [{ question, closed, isOwn }, ...this.closed].slice(0, MAX_CLOSED);
    if (!isOwn) this.announcer.add(`A question was closed elsewhere: ${closed.outcome}`);
  }

  private changed(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    const notify = (): void => {
      this.isScheduled = false;
      for (const listener of this.listeners) listener();
    };
    // A hidden page draws no pictures, but its title still counts the questions.
    if (document.hidden) setTimeout(notify, 250);
    else requestAnimationFrame(notify);
  }
}

/** Returns whether an error means that another attempt would be refused as well, until the person opens another address. */
function isRefusal(thrown: unknown): boolean {
  return thrown instanceof PageError && (thrown.status === 401 || thrown.status === 403);
}
