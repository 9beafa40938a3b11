import { deferred, onAbort, type Deferred } from '../../base/async.ts';
import { MusterError } from '../../base/errors.ts';
import { isMeantBy, type GrantScope, type OnAsk, type Question } from '../../protocol/question.ts';
import type { ModeGrantStore } from './mode-grant-store.ts';
import type { StandingRules } from './standing-rules.ts';
import type { Rights } from '../../protocol/permission.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** The task whose log an answer is written to. */
export interface AnswerWriter {
  readonly spec: TaskState['spec'];
  readonly state: Pick<TaskState, 'conversation'>;
  readonly permissions: { readonly rights: Pick<Rights, 'roots'> };
  readonly journal: AnswerLog;
  /** The task at the top of its tree, which is the conversation. */
  readonly top: { readonly journal: AnswerLog };
}

interface AnswerLog {
  record(...bodies: readonly EventBody[]): void;
}

export interface InboxOptions {
  readonly onAsk: OnAsk;
  /** Null: nothing is kept beyond a task. */
  readonly standing: StandingRules | null;
  /** Grants outside of the logs of tasks. Default: none. */
  readonly modeGrants?: ModeGrantStore;
}

/** A task that asks. */
export interface Asker extends AnswerWriter {
  /** Of what it does now. */
  readonly cancellation: { readonly turnSignal: AbortSignal };
  readonly state: TaskState;
  readonly tree: { readonly id: string };
}

/** A question that waits in this process. */
export interface WaitingQuestion {
  readonly question: Question;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
}

/** A question that waits in this process, and the task that asks it. */
export interface WaitingAsker {
  readonly asker: Asker;
  readonly question: Question;
}

interface Waiting extends WaitingAsker {
  readonly changed: Deferred<void>;
}

/** The questions of all tasks of this process, in one place. */
export class Inbox {
  readonly onAsk: OnAsk;
  readonly standing: StandingRules | null;
  readonly modeGrants: ModeGrantStore | null;
  private readonly waiting = new Map<string, Waiting>();
  private readonly listeners = new Set<() => void>();

  constructor({ onAsk, standing, modeGrants }: InboxOptions) {
    this.onAsk = onAsk;
    this.standing = standing;
    this.modeGrants = modeGrants ?? null;
  }

  /** How far an "always" may reach. */
  get scopes(): readonly GrantScope[] {
    return this.standing === null ? ['task'] : ['task', 'project', 'user'];
  }

  /** The scopes that a grant of a mode may have. */
  get modeScopes(): readonly Exclude<GrantScope, 'project'>[] {
    return this.modeGrants === null ? ['task'] : ['task', 'user'];
  }

  /** Those without an answer, in the order in which they came. `tree`: of that one alone. */
  open(tree: string | null = null): readonly WaitingQuestion[] {
    this.forgetSettled();
    return [...this.waiting.values()].flatMap(({ asker, question }) => {
      const askedAt = asker.state.questions.get(question.callId)?.askedAt;
      if (askedAt === undefined || (tree !== null && asker.tree.id !== tree)) return [];
      return [{ question, askedAt }];
    });
  }

  /**
   * Resolves when the question has its answer, or a rule was given that may have settled it: whoever
   * asks looks again, and waits again where it did not. Rejects when its task is stopped, or left.
   */
  async wait(asker: Asker, question: Question): Promise<void> {
    const changed = deferred<void>();
    const { turnSignal } = asker.cancellation;
    const forget = onAbort(turnSignal, () => changed.reject(turnSignal.reason));
    // Kept while whoever asks looks again: it can be answered meanwhile, too.
    this.waiting.set(question.id, { asker, question, changed });
    this.tell();
    try {
      await changed.promise;
    } finally {
      forget();
      this.tell();
    }
  }

  /** Rights have changed: whoever asks looks whether it still has to. */
  reconsider(): void {
    for (const { changed } of this.waiting.values()) changed.resolve();
  }

  /** Calls it whenever a question has come or gone, until the returned function is called. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private forgetSettled(): void {
    for (const [id, waiting] of this.waiting) if (!isWaiting(waiting)) this.waiting.delete(id);
  }

  /**
   * The question with this id, or with the only id that begins with it. Throws MusterError: `NOT_FOUND` when none
   * waits here, `INVALID_PARAM` when several do.
   */
  find(prefix: string): WaitingAsker {
    const whole = this.waiting.get(prefix);
    if (whole !== undefined) return whole;
    const found = [...this.waiting].filter(([, { question }]) => isMeantBy(question, prefix));
    const [first, second] = found;
    if (first === undefined) {
      throw new MusterError('NOT_FOUND', `no question ${prefix} waits in this process`);
    }
    if (second === undefined) return first[1];
    const named = found.map(([id]) => id).join(', ');
    throw new MusterError('INVALID_PARAM', `${prefix} means several questions: ${named}`);
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

/** Whether a question still needs an answer. */
export function isWaiting({ asker, question }: WaitingAsker): boolean {
  const asked = asker.state.questions.get(question.callId);
  return (
    asked?.question.id === question.id &&
    asked.answer === null &&
    !asker.cancellation.turnSignal.aborted
  );
}
