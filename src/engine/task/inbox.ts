import { isDeepStrictEqual } from 'node:util';
import { rejectOnAbort, deferred, type Deferred } from '../../base/async.ts';
import { MusterError } from '../../base/errors.ts';
import { isMeantBy, type GrantScope, type OnAsk, type Question } from '../../protocol/question.ts';
import type { Rights, PermissionRule, ModeGrant } from '../../protocol/permission.ts';
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

/** The settings of an inbox. */
interface InboxOptions {
  readonly onAsk: OnAsk;
  /** The store of permanent rules; null when rules are given only to single tasks. */
  readonly standing: StandingRules | null;
  /** The grants of modes outside of the logs of tasks. Default: none. */
  readonly modeGrants?: ModeGrantStore;
}

/** A task that asks a question. */
interface Asker extends AnswerWriter {
  /** Aborts when the turn that asks is interrupted or the task is stopped. */
  readonly cancellation: { readonly turnSignal: AbortSignal };
  readonly state: TaskState;
  readonly tree: { readonly id: string };
}

/** An unanswered question, with the time at which it was asked. */
export interface WaitingQuestion {
  readonly question: Question;
  /** The time in milliseconds since the epoch. */
  readonly askedAt: number;
}

/** An unanswered question and the task that asks it. */
interface QuestionWithAsker {
  readonly asker: Asker;
  readonly question: Question;
}

interface Waiting extends QuestionWithAsker {
  readonly changed: Deferred<void>;
}

/** The unanswered questions of all tasks of this process. */
export class Inbox {
  readonly onAsk: OnAsk;
  readonly standingRules: StandingRules | null;
  readonly modeGrants: ModeGrantStore | null;
  private readonly waiting = new Map<string, Waiting>();
  private readonly listeners = new Set<() => void>();

  constructor({ onAsk, standing, modeGrants }: InboxOptions) {
    this.onAsk = onAsk;
    this.standingRules = standing;
    this.modeGrants = modeGrants ?? null;
  }

  /** The scopes that an answer "always" may have. */
  get scopes(): readonly GrantScope[] {
    return this.standingRules === null ? ['task'] : ['task', 'project', 'user'];
  }

  /** The scopes that a grant of a mode may have. */
  get modeScopes(): readonly Exclude<GrantScope, 'project'>[] {
    return this.modeGrants === null ? ['task'] : ['task', 'user'];
  }

  /** Returns the unanswered questions in the order in which they were asked, of one tree or of all (null). */
  open(tree: string | null = null): readonly WaitingQuestion[] {
    this.forgetSettled();
    return [...this.waiting.values()].flatMap(({ asker, question }) => {
      const askedAt = asker.state.questions.get(question.callId)?.askedAt;
      if (askedAt === undefined || (tree !== null && asker.tree.id !== tree)) return [];
      return [{ question, askedAt }];
    });
  }

  /**
   * Resolves when the question is answered or a new rule may have settled it. The caller then decides again, and
   * waits again if the question is still open. Rejects when its task is stopped or parked.
   */
  async wait(asker: Asker, question: Question): Promise<void> {
    const changed = deferred<void>();
    const { turnSignal } = asker.cancellation;
    // The entry stays while the caller decides again, so that the question can be answered meanwhile.
    this.waiting.set(question.id, { asker, question, changed });
    this.notifyListeners();
    await rejectOnAbort(changed.promise, turnSignal).finally(() => this.notifyListeners());
  }

  /** Lets all waiting callers decide again, after rights have changed. */
  reconsider(): void {
    for (const { changed } of this.waiting.values()) changed.resolve();
  }

  /** Calls `listener` when a question comes or goes, until the returned function is called. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private forgetSettled(): void {
    for (const [id, waiting] of this.waiting) if (!isWaiting(waiting)) this.waiting.delete(id);
  }

  /**
   * Finds the question with this id, or with the only id that begins with it. Throws MusterError: `NOT_FOUND` when
   * there is none, `INVALID_PARAM` when there are several.
   */
  find(prefix: string): QuestionWithAsker {
    const exact = this.waiting.get(prefix);
    if (exact !== undefined) return exact;
    const matches = [...this.waiting].filter(([, { question }]) => isMeantBy(question, prefix));
    const [first, second] = matches;
    if (first === undefined) {
      throw new MusterError('NOT_FOUND', `no question ${prefix} waits in this process`);
    }
    if (second === undefined) return first[1];
    const ids = matches.map(([id]) => id).join(', ');
    const message = `${prefix} is the beginning of several questions: ${ids}`;
    throw new MusterError('INVALID_PARAM', message);
  }

  private notifyListeners(): void {
    for (const listener of this.listeners) listener();
  }
}

/** Returns true when a question still needs an answer. */
export function isWaiting({ asker, question }: QuestionWithAsker): boolean {
  const asked = asker.state.questions.get(question.callId);
  return (
    asked?.question.id === question.id &&
    asked.answer === null &&
    !asker.cancellation.turnSignal.aborted
  );
}

/** The rules that the user has allowed permanently, in one project or everywhere. */
export interface StandingRules {
  /**
   * Returns the rules for tasks that work in this directory (absolute, real), or without a directory (null).
   * Returned arrays never change.
   */
  rules(directory: string | null): readonly PermissionRule[];
  /** Stores a rule, which applies from now on. Throws MusterError when it can't be stored; then it does not apply. */
  add(rule: PermissionRule, target: StandingRuleScope): void;
}

/** The scope of a permanent rule. */

interface StandingRuleScope {
  readonly scope: Exclude<GrantScope, 'task'>;
  /** The working directory of the task that asked. */
  readonly directory: string | null;
}

/** Returns a task's first root. Its recorded directory is not trusted, since an imported log may name any. */
export function workingDirectory({ roots }: Pick<Rights, 'roots'>): string | null {
  return roots[0] ?? null;
}

/** The modes that the user grants to agents outside of the logs of tasks. */
export interface ModeGrantStore {
  /** Returns the grants in files, variables and flags, and those that the user gave for every conversation. */
  inForce(): readonly ModeGrant[];
  /**
   * Stores a grant for every conversation, which applies from now on, and returns it as stored. Throws MusterError
   * when it can't be stored; then it does not apply.
   */
  add(grant: ModeGrant): ModeGrant;
}

/** Returns the events that record grants by flags in a conversation, so that they also apply when it is resumed. */
export function flagGrantEvents(
  store: ModeGrantStore | null,
  recorded: readonly { readonly grant: ModeGrant }[] = [],
): readonly EventBody[] {
  const flags = store?.inForce().filter(({ source }) => source.kind === 'flag') ?? [];
  const fresh = flags.filter(
    (flag) => !recorded.some(({ grant }) => isDeepStrictEqual(grant, flag)),
  );
  return fresh.map((grant) => ({ type: 'mode.granted', grant, scope: 'task', by: 'user' }));
}
