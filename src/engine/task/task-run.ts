import { rejectOnAbort, deferred } from '../../base/async.ts';
import { errorInfo, type ErrorInfo } from '../../base/errors.ts';
import type { AttachmentDetails } from '../../protocol/attachment.ts';
import type { RequestPrefix } from '../../protocol/model.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import type { AnyTool, FileMemory } from '../../protocol/tool.ts';
import { BackgroundShells } from '../shells/background-shells.ts';
import { Budget, activationExpense } from '../limits/budget.ts';
import { taskCaps } from '../limits/configured-limits.ts';
import type { EngineDeps } from './deps.ts';
import type { TaskEnding } from './endings.ts';
import type { MeasuredRequest } from '../limits/estimate.ts';
import { createFileMemory } from './shared-files.ts';
import type { Journal } from './journal.ts';
import { stopOrder, type StopOrder, childStopOrder, newInterruptionId } from './stop-order.ts';
import { TaskSlot, type TaskTree } from './task-tree.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { TaskPermissions } from './task-permissions.ts';
import { Cancellation } from './cancellation.ts';
import type { EndReason } from '../../protocol/end-reason.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { TaskInput } from '../../protocol/input.ts';
import { toolCalls, type AssistantMessage, type ToolCallPart } from '../../protocol/message.ts';
import { CoalescedWork } from '../../base/coalesced-work.ts';

export interface TaskRunParts {
  /** The specification as it was created here, before redaction. Absent for a task that was read from its log. */
  readonly created?: TaskSpec;
  readonly journal: Journal;
  readonly prefix: RequestPrefix;
  /** The tools that stand in every request of the task, by name. No other tool may run. */
  readonly view: ReadonlyMap<string, AnyTool>;
  readonly tree: TaskTree;
  /** The task that created or resumed this one and gets its result; null where a person did. */
  readonly parent: TaskRun | null;
  /** See `TaskPermissionsParts.importedUpTo`. Default: -1. */
  readonly importedUpTo?: number;
  /** Default: one that a person can interrupt when the task has no parent. */
  readonly cancellation?: Cancellation;
  /** See `TaskRun.drive`. */
  readonly drive?: (run: TaskRun) => Promise<TaskEnding>;
}

/**
 * A task that runs in this process. Its log, the journal, holds everything that counts; the rest is lost when the
 * process ends.
 */
export class TaskRun {
  readonly journal: Journal;
  readonly prefix: RequestPrefix;
  readonly view: ReadonlyMap<string, AnyTool>;
  readonly tree: TaskTree;
  readonly parent: TaskRun | null;
  /** Runs the task to its end in place of a conversation; undefined for a conversation. */
  readonly drive: TaskRunParts['drive'];
  readonly permissions: TaskPermissions;
  readonly cancellation: Cancellation;
  readonly children: ChildRuns;
  readonly end = new EndTracker();
  readonly mailbox: Mailbox;
  readonly calls = new UnredactedCalls();
  readonly slot: TaskSlot;
  readonly budget: Budget;
  readonly files: FileMemory;
  readonly shells: BackgroundShells;
  /** Images and documents that running calls are about to show, by call id. */
  readonly attaching = new Map<string, readonly AttachmentDetails[]>();
  /** The size of the newest request as the provider counted it; null before the first answer here. */
  measured: MeasuredRequest | null = null;
  /** When the task started to work here, in milliseconds of the monotonic clock; null before that. */
  workingSince: number | null = null;
  private readonly deps: EngineDeps;
  private readonly created: TaskSpec | null;
  private readonly recorded: TaskSpec;
  private readonly detaching = deferred<void>();

  constructor(deps: EngineDeps, parts: TaskRunParts) {
    const { journal, parent, tree } = parts;
    this.deps = deps;
    this.created = parts.created ?? null;
    this.recorded = journal.state.spec;
    this.journal = journal;
    this.prefix = parts.prefix;
    this.view = parts.view;
    this.tree = tree;
    this.parent = parent;
    this.drive = parts.drive;
    this.permissions = new TaskPermissions({
      task: this,
      parent: parent?.permissions ?? null,
      userGrants: () => deps.inbox.modeGrants?.inForce() ?? [],
      importedUpTo: parts.importedUpTo ?? -1,
    });
    this.cancellation =
      parts.cancellation ??
      new Cancellation({ deadlines: deps.deadlines, isInterruptible: parent === null });
    const { signal } = this.cancellation;
    this.children = new ChildRuns(() => journal.sync());
    this.mailbox = new Mailbox({ record: (event) => journal.record(event), signal });
    this.budget = new Budget(taskCaps(this.spec.limits), parent?.budget ?? tree.budget);
    // The expenses of an ended activation were booked above when it ended, and do not count for the next one.
    if (this.state.end === null)
      this.budget.addEarlierUse(activationExpense(this.state.activation));
    this.files = createFileMemory(journal.state, tree.fileVersions);
    this.shells = new BackgroundShells(deps, {
      journal,
      view: parts.view,
      signal,
      recordKill: () => this.cancellation.recordKill(),
      fail: (thrown) => this.fail(thrown),
      wake: () => this.mailbox.wake(),
    });
    this.slot = new TaskSlot({
      tree,
      signal,
      hadSlot: journal.state.lifetime.startedMs !== null,
      record: (...events) => journal.record(...events),
    });
    parent?.children.add(this);
    tree.join(this);
  }

  /** The specification without redaction, as long as its terms are those it was created with. */
  get spec(): TaskSpec {
    const { spec } = this.state;
    return spec === this.recorded ? (this.created ?? spec) : spec;
  }

  get state(): TaskState {
    return this.journal.state;
  }

  /** The task at the top of the tree: its log holds what the user grants to the whole conversation. */
  get top(): TaskRun {
    return this.parent?.top ?? this;
  }

  /** The names of the agents from the main agent down to this one. */
  chain(): readonly string[] {
    return [...(this.parent?.chain() ?? []), this.spec.agent.name];
  }

  /** True when no call waits for this task, or for a task above it. */
  get isBackground(): boolean {
    const { parent } = this;
    if (parent === null) return false;
    return parent.state.children.get(this.spec.id)?.background === true || parent.isBackground;
  }

  /** True when no further request is sent: the end is decided, the last turn has begun, or the task is stopped. */
  get isEnding(): boolean {
    return (
      this.end.isDecided ||
      this.state.activation.hasLastTurnBegun ||
      this.cancellation.signal.aborted
    );
  }

  /** The state to report once the task has ended, with the reason when the log has no end. */
  outcome(): TaskState {
    const { state, end } = this;
    if (this.cancellation.isParked) return { ...state, status: 'parked' };
    if (state.end !== null || end.lost === null) return state;
    return { ...state, status: 'interrupted', end: end.lost };
  }

  /** Stops this task and all below it. The first order counts. */
  stop(order: StopOrder): void {
    this.cancellation.stop(order);
    this.children.stopAll(order);
    this.shells.abortAll();
  }

  /** Ends the task as failed, with all below it, when its log cannot take something that it must know. */
  fail(thrown: unknown): void {
    const because = `task ${this.spec.id} above it failed: ${errorInfo(thrown).message}`;
    this.cancellation.stop(thrown);
    this.children.stopAll(stopOrder('parent', because));
    this.shells.abortAll();
  }

  /** Ends what a conversation does now, with the children that it waits for. Background work continues. */
  interrupt(order: StopOrder): void {
    const because = order.reason;
    this.journal.record({ type: 'turn.interrupted', input: newInterruptionId(), because });
    this.cancellation.interruptTurn(order);
    this.children.stopForeground(order);
  }

  /** Leaves the task as a crash would, to be resumed later, but says so in its log and loses nothing. */
  park(questions: readonly string[]): void {
    try {
      this.journal.record({ type: 'task.parked', questions });
    } catch (thrown) {
      // On a full disk the task reads as interrupted, which it is.
      this.deps.onFault(this.spec.id, thrown);
    }
    this.cancellation.park();
  }

  /** Stops everything that the task has started and waits for it, since nothing may run and cost money without the task. */
  async stopOwnedWork(because: string): Promise<void> {
    this.children.stopAll(stopOrder('parent', because));
    this.shells.abortAll();
    await this.children.allEnded();
    await this.shells.stopAll();
  }

  /** Moves the task to the background: the call that waits for it returns. */
  detach(because: string): void {
    const child = this.parent?.state.children.get(this.spec.id);
    if (child === undefined || child.background || child.status !== null) return;
    this.parent?.journal.record({ type: 'child.detached', child: this.spec.id, because });
    this.detaching.resolve();
  }

  /** Resolves when the call that waits for the task returns without its end. */
  get detached(): Promise<void> {
    return this.detaching.promise;
  }

  /** Releases everything that the task holds. Called after its end is written. */
  close(): void {
    this.cancellation.close();
    this.slot.release();
    this.parent?.children.remove(this);
    this.tree.leave(this);
    this.journal.close();
    this.end.finish();
  }
}

/** A child at work. */
interface ChildRun {
  readonly end: { readonly written: Promise<void> };
  readonly isBackground: boolean;
  stop(order: StopOrder): void;
}

/** The children of one task that are at work in this process. */
export class ChildRuns {
  private readonly running = new Set<ChildRun>();
  private readonly synced: CoalescedWork;

  /** `sync` writes the parent's log to the disk. */
  constructor(sync: () => Promise<void>) {
    this.synced = new CoalescedWork(sync);
  }

  add(child: ChildRun): void {
    this.running.add(child);
  }

  remove(child: ChildRun): void {
    this.running.delete(child);
  }

  /** Tells all of them to stop because their parent stops. */
  stopAll(order: StopOrder): void {
    for (const child of this.running) child.stop(childStopOrder(order));
  }

  /** Tells those to stop that a call of the parent waits for. */
  stopForeground(order: StopOrder): void {
    for (const child of this.running) if (!child.isBackground) child.stop(order);
  }

  /** Resolves when none is at work here. */
  async allEnded(): Promise<void> {
    await Promise.all([...this.running].map((child) => child.end.written));
  }

  /** Resolves when a loss of power can no longer make the parent forget the children that it has created. */
  persisted(): Promise<void> {
    return this.synced.request();
  }
}

/** Tracks the end of a task from the decision to the record in its log. */
class EndTracker {
  private readonly finished = deferred<void>();
  /** Resolves once the end is in the log, or is known not to get there. */
  readonly written = this.finished.promise;
  /** True when the loop has decided how the task ends: no request follows that could hold a new message. */
  isDecided = false;
  /** The end that could not be written to the log; null when there is none. */
  lost: EndReason | null = null;

  decide(): void {
    this.isDecided = true;
  }

  /** Notes that the end could not be written to the log, so that the parent still gets the reason. */
  recordLoss(error: ErrorInfo): void {
    this.lost = { status: 'failed', error, because: error.message, by: null };
  }

  /** Resolves `written`. */
  finish(): void {
    this.finished.resolve();
  }
}

interface MailboxParts {
  readonly record: (event: EventBody) => void;
  /** Aborts when the task is stopped. */
  readonly signal: AbortSignal;
}

/** Brings messages to a task, and wakes the task when it waits for something. */
export class Mailbox {
  private readonly parts: MailboxParts;
  private waiting = deferred<void>();

  constructor(parts: MailboxParts) {
    this.parts = parts;
  }

  /** Queues an input for the task's next request and wakes the task. */
  send(input: TaskInput): void {
    this.parts.record({ type: 'input.queued', input });
    this.wake();
  }

  /** Lets the task look again whether what it waits for has come. */
  wake(): void {
    this.waiting.resolve();
  }

  /** Resolves at the next `wake`; rejects with the signal's reason when the task is stopped. */
  async nextMessage(): Promise<void> {
    const { signal } = this.parts;
    const waiting = deferred<void>();
    this.waiting = waiting;
    await rejectOnAbort(waiting.promise, signal);
  }
}

/**
 * The tool calls of the newest answer as the model wrote them. The log, and so the state, holds them with secrets
 * redacted; a call that runs in the same process needs the original.
 */
class UnredactedCalls {
  private newest: ReadonlyMap<string, ToolCallPart> = new Map();

  remember(message: AssistantMessage): void {
    this.newest = new Map(toolCalls(message).map((call) => [call.id, call]));
  }

  /** Replaces each call by its original, where this process has seen it. */
  restore(calls: readonly ToolCallPart[]): readonly ToolCallPart[] {
    return calls.map((call) => this.newest.get(call.id) ?? call);
  }
}
