import { isDeepStrictEqual } from 'node:util';
import { rejectOnAbort, deferred, type Deferred } from '../../base/async.ts';
import { MusterError } from '../../base/errors.ts';
import { isMeantBy, type GrantScope, type OnAsk, type Question } from '../../protocol/question.ts';
import type { Rights, PermissionRule, ModeGrant } from '../../protocol/permission.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { StopOrder } from './stop-order.ts';

/** A task whose mode an answer may change. */
export interface TaskWithMode {
  readonly spec: TaskState['spec'];
  readonly permissions: { readonly rights: Pick<Rights, 'mode' | 'roots'> };
  readonly journal: AnswerLog;
  readonly parent: TaskWithMode | null;
}

/** The task whose log an answer is written to. */
export interface AnswerWriter extends TaskWithMode {
  readonly state: Pick<TaskState, 'conversation'>;
  /** The task at the top of its tree, which is the conversation. */
  readonly top: TaskWithMode & { readonly state: Pick<TaskState, 'conversation'> };
  /** All tasks of the tree that run in this process, each after its parent. */
  readonly tree: { readonly members: Iterable<TaskWithMode> };
}

interface AnswerLog {
  record(...bodies: readonly EventBody[]): void;
}

/** The settings of an inbox. */
interface InboxOptions {
  readonly onAsk: OnAsk;
  /** The store of permanent rules; null when rules can only be granted to single tasks. */
  readonly standing: StandingRules | null;
  /** The store of mode grants that hold outside of a single conversation. Default: none. */
  readonly modeGrants?: ModeGrantStore;
  /** True if the user sits at a prompt, to which a plain no to the main agent returns. Default: false. */
  readonly isUserPresent?: boolean;
}

/** A task that asks a question. */
export interface Asker extends AnswerWriter {
  /** Aborts when the turn that asks is interrupted or the task is stopped. */
  readonly cancellation: { readonly turnSignal: AbortSignal };
  readonly state: TaskState;
  readonly tree: AnswerWriter['tree'] & { readonly id: string };
  interrupt(order: StopOrder, record: (interruption: EventBody) => void): void;
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

/** A question in the inbox, with the signal that wakes the task that asks. */
interface WaitingEntry extends QuestionWithAsker {
  readonly changed: Deferred<void>;
}

/** The unanswered questions of all tasks of this process. */
export class Inbox {
  readonly onAsk: OnAsk;
  readonly standingRules: StandingRules | null;
  readonly modeGrants: ModeGrantStore | null;
  readonly isUserPresent: boolean;
  private readonly waiting = new Map<string, WaitingEntry>();
  private readonly listeners = new Set<() => void>();

  constructor({ onAsk, standing, modeGrants, isUserPresent = false }: InboxOptions) {
    this.onAsk = onAsk;
    this.isUserPresent = isUserPresent && onAsk === 'wait';
    this.standingRules = standing;
    this.modeGrants = modeGrants ?? null;
  }

  /** The scopes that are offered for the answer "always". */
  get scopes(): readonly GrantScope[] {
    return this.standingRules === null ? ['task'] : ['task', 'project', 'user'];
  }

  /** The scopes that are offered for the grant of a mode. */
  get modeScopes(): readonly Exclude<GrantScope, 'project'>[] {
    return this.modeGrants === null ? ['task'] : ['task', 'user'];
  }

  /**
   * Returns the unanswered questions in the order in which they were asked.
   *
   * @param tree the id of the tree; null for all trees
   */
  open(tree: string | null = null): readonly WaitingQuestion[] {
    this.removeSettled();
    return [...this.waiting.values()].flatMap(({ asker, question }) => {
      const askedAt = asker.state.questions.get(question.callId)?.askedAt;
      if (askedAt === undefined || (tree !== null && asker.tree.id !== tree)) return [];
      return [{ question, askedAt }];
    });
  }

  /**
   * Resolves when the question is answered, or when a new rule may have settled it. The caller then decides again,
   * and waits again if the question is still open. Rejects when the task is stopped or parked.
   */
  async wait(asker: Asker, question: Question): Promise<void> {
    const changed = deferred<void>();
    const { turnSignal } = asker.cancellation;
    // The entry stays while the caller decides again, so that the question can still be answered.
    this.waiting.set(question.id, { asker, question, changed });
    this.notifyListeners();
    await rejectOnAbort(changed.promise, turnSignal).finally(() => this.notifyListeners());
  }

  /** Makes all waiting callers decide again, because rights have changed. */
  reconsider(): void {
    for (const { changed } of this.waiting.values()) changed.resolve();
  }

  /** Calls `listener` whenever a question is added or removed, until the returned function is called. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private removeSettled(): void {
    for (const [id, waiting] of this.waiting) if (!isWaiting(waiting)) this.waiting.delete(id);
  }

  /**
   * Finds the question with this id, or the only question whose id begins with `prefix`. Throws MusterError:
   * `NOT_FOUND` when there is no such question, `INVALID_PARAM` when there are several.
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
  const recorded = asker.state.questions.get(question.callId);
  return (
    recorded?.question.id === question.id &&
    recorded.answer === null &&
    !asker.cancellation.turnSignal.aborted
  );
}

/** The rules that the user has allowed permanently, in one project or everywhere. */
export interface StandingRules {
  /**
   * Returns the rules for tasks whose directory (absolute, real) this is, or for tasks without a directory (null).
   * Returned arrays never change.
   */
  rules(directory: string | null): readonly PermissionRule[];
  /**
   * Stores a rule, which applies from then on. Throws MusterError when the rule can't be stored; it does not apply
   * then.
   */
  add(rule: PermissionRule, target: StandingRuleScope): void;
  /**
   * Removes a rule, which no longer applies from then on. Returns false if there is no such rule. Throws MusterError when
   * the store can't be changed.
   */
  remove(rule: PermissionRule, target: StandingRuleScope): boolean;
  /** Returns the rules for tasks with this directory, each with its scope. */
  list(directory: string | null): readonly StandingRule[];
}

/** A permanent rule with its scope. */
export interface StandingRule {
  readonly rule: PermissionRule;
  readonly scope: StandingRuleScope['scope'];
}

/** The scope of a permanent rule. */
interface StandingRuleScope {
  readonly scope: Exclude<GrantScope, 'task'>;
  /** The working directory of the task that asked. */
  readonly directory: string | null;
}

/**
 * Returns the first root of a task, or null. The directory in its log is not used, because an imported log could name
 * any directory.
 */
export function workingDirectory({ roots }: Pick<Rights, 'roots'>): string | null {
  return roots[0] ?? null;
}

/** The user's grants of modes to agents that hold in every conversation. */
export interface ModeGrantStore {
  /** Returns the grants from files, variables and flags, and the ones that the user gave for every conversation. */
  listGrants(): readonly ModeGrant[];
  /**
   * Stores a grant for every conversation, which applies from then on, and returns the stored grant. Throws
   * MusterError when the grant can't be stored; it does not apply then.
   */
  add(grant: ModeGrant): ModeGrant;
}

/**
 * Returns the events that record the grants from command-line flags in a conversation, so that the grants also apply
 * when it is resumed.
 *
 * @param recorded the grants that the log of the conversation holds already
 */
export function flagGrantEvents(
  store: ModeGrantStore | null,
  recorded: readonly { readonly grant: ModeGrant }[] = [],
): readonly EventBody[] {
  const flags = store?.listGrants().filter(({ source }) => source.kind === 'flag') ?? [];
  const fresh = flags.filter(
    (flag) => !recorded.some(({ grant }) => isDeepStrictEqual(grant, flag)),
  );
  return fresh.map((grant) => ({ type: 'mode.granted', grant, scope: 'task', by: 'user' }));
}
