import { rejectOnAbort, deferred } from '../../base/async.ts';
import { errorInfo, type ErrorInfo } from '../../base/errors.ts';
import type { AttachmentDetails } from '../../protocol/attachment.ts';
import type { RequestPrefix } from '../../protocol/model.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import type { AnyTool, FileMemory } from '../../protocol/tool.ts';
import { BackgroundShells } from '../shells/background-shells.ts';
import { Budget, activationExpense } from '../limits/budget.ts';
import { taskCaps } from '../limits/configured-limits.ts';
import type { CallProcess } from './call-process.ts';
import type { EngineDeps } from './deps.ts';
import type { TaskEnding } from './endings.ts';
import type { MeasuredRequest } from '../limits/estimate.ts';
import { createFileMemory } from './shared-files.ts';
import type { Journal } from './journal.ts';
import type { LandingTool } from './landing-tool.ts';
import { stopOrder, type StopOrder, childStopOrder, newInterruptionId } from './stop-order.ts';
import { TaskSlot, type TaskTree } from './task-tree.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { TaskPermissions } from './task-permissions.ts';
import { UnredactedCalls } from './unredacted-calls.ts';
import { Cancellation } from './cancellation.ts';
import type { EndReason } from '../../protocol/end-reason.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { AskHookAgent, CallHookTool, HookAnswer } from '../../protocol/hook.ts';
import type { TaskInput } from '../../protocol/input.ts';
import { CoalescedWork } from '../../base/coalesced-work.ts';

/** The parts of a `TaskRun`. */
export interface TaskRunParts {
  /** The specification before redaction. Absent for a task that was read from its log. */
  readonly created?: TaskSpec;
  readonly journal: Journal;
  readonly prefix: RequestPrefix;
  /** The tools of the task, by name. No other tool can run. */
  readonly view: ReadonlyMap<string, AnyTool>;
  /** The tool that the task gets when a descendant gets a workspace; null for none. */
  readonly landing: LandingTool | null;
  readonly tree: TaskTree;
  /** The task that created or resumed this task and gets its result; null when a person did. */
  readonly parent: TaskRun | null;
  /** See `TaskPermissionsParts.importedUpTo`. Default: -1. */
  readonly importedUpTo?: number;
  /** Default: a cancellation that lets a person interrupt the current turn if the task has no parent. */
  readonly cancellation?: Cancellation;
  /** See `TaskRun.drive`. */
  readonly drive?: (run: TaskRun) => Promise<TaskEnding>;
  readonly hookPorts: HookPorts;
}

/** The ports by which hooks of a task use other parts of the engine. */
export interface HookPorts {
  /** Has a child of the task answer the question of a hook. */
  readonly askAgent: (run: TaskRun, ...asked: Parameters<AskHookAgent>) => Promise<HookAnswer>;
  readonly callTool: (run: TaskRun, ...called: Parameters<CallHookTool>) => Promise<HookAnswer>;
  readonly findUrlProblem: (run: TaskRun, url: string) => Promise<string | null>;
}

/** A task that runs in this process. Everything that must survive the process is in its journal. */
export class TaskRun {
  readonly journal: Journal;
  readonly tree: TaskTree;
  readonly parent: TaskRun | null;
  /** Runs the task to its end without a model; undefined for a conversation. */
  readonly drive: TaskRunParts['drive'];
  readonly hookPorts: HookPorts;
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
  /** The images and documents that running calls will add to the conversation, by call id. */
  readonly pendingAttachments = new Map<string, readonly AttachmentDetails[]>();
  /** The size of the newest request as counted by the provider; null before the first answer in this process. */
  measured: MeasuredRequest | null = null;
  /**
   * The time at which the task started to work in this process, in milliseconds of the monotonic clock; null before
   * that.
   */
  workingSince: number | null = null;
  /** Resolves when the state of the directory is recorded, if the work must be accepted. No call runs before. */
  preparation: Promise<void> = Promise.resolve();
  /** The ids of the messages of the user that hooks were told of. */
  readonly messagesSeenByHooks = new Set<string>();
  /** True if hooks were told that the subagent has started, so that they are told of its end. */
  isKnownToHooks = false;
  /** The number of turns after which hooks were last told that the task ends; null: they were not told yet. */
  turnsAtStopHooks: number | null = null;
  /** The process in which tools of the task run; null if they run in this process. */
  process: CallProcess | null = null;
  private readonly firstPrefix: RequestPrefix;
  private readonly laterPrefix: RequestPrefix;
  private readonly firstView: ReadonlyMap<string, AnyTool>;
  private readonly laterView: ReadonlyMap<string, AnyTool>;
  private readonly deps: EngineDeps;
  private readonly created: TaskSpec | null;
  private readonly recorded: TaskSpec;
  private readonly detaching = deferred<void>();

  constructor(deps: EngineDeps, parts: TaskRunParts) {
    const { journal, parent, tree, prefix, landing } = parts;
    this.deps = deps;
    this.created = parts.created ?? null;
    this.calls.rememberQuoted(this.created?.enclosed);
    this.recorded = journal.state.spec;
    this.journal = journal;
    this.firstPrefix = prefix;
    this.laterPrefix =
      landing === null ? prefix : { ...prefix, tools: [...prefix.tools, landing.spec] };
    this.firstView = parts.view;
    this.laterView =
      landing === null ? parts.view : new Map([...parts.view, [landing.tool.name, landing.tool]]);
    this.tree = tree;
    this.parent = parent;
    this.drive = parts.drive;
    this.hookPorts = parts.hookPorts;
    this.permissions = new TaskPermissions({
      task: this,
      parent: parent?.permissions ?? null,
      userGrants: () => deps.inbox.modeGrants?.listGrants() ?? [],
      importedUpTo: parts.importedUpTo ?? -1,
    });
    this.cancellation =
      parts.cancellation ??
      new Cancellation({ deadlines: deps.deadlines, isInterruptible: parent === null });
    const { signal } = this.cancellation;
    this.children = new ChildRuns(() => journal.sync());
    this.mailbox = new Mailbox({ record: (event) => journal.record(event), signal });
    this.budget = new Budget(taskCaps(this.spec.limits), parent?.budget ?? tree.budget);
    // The expenses of an ended activation were added to the budgets above when it ended, and do not count for the
    // next activation.
    if (this.state.end === null)
      this.budget.addEarlierUse(activationExpense(this.state.activation));
    this.files = createFileMemory(journal.state, tree.fileVersions);
    this.shells = new BackgroundShells(deps, {
      id: this.spec.id,
      workspace: this.spec.rights.workspace,
      journal,
      view: parts.view,
      signal,
      isParked: () => this.cancellation.isParked,
      recordKill: () => this.cancellation.recordKill(),
      fail: (thrown) => this.fail(thrown),
      wake: () => this.mailbox.wake(),
    });
    this.slot = new TaskSlot({
      tree,
      signal,
      hadSlot: journal.state.lifetime.startedMs !== null,
      worksForWaitingTask: this.spec.source === 'hook',
      record: (...events) => journal.record(...events),
    });
    parent?.children.add(this);
    tree.join(this);
  }

  /**
   * The specification without redaction, as long as the terms of the task have not changed; then the recorded
   * specification.
   */
  get spec(): TaskSpec {
    const { spec } = this.state;
    return spec === this.recorded ? (this.created ?? spec) : spec;
  }

  /** The beginning of the next request. */
  get prefix(): RequestPrefix {
    return this.state.hasWorkspacesBelow ? this.laterPrefix : this.firstPrefix;
  }

  /** The tools of the task, by name. No other tool can run. */
  get view(): ReadonlyMap<string, AnyTool> {
    return this.state.hasWorkspacesBelow ? this.laterView : this.firstView;
  }

  get state(): TaskState {
    return this.journal.state;
  }

  /** The task at the top of the tree. Its log holds the grants of the user for the whole conversation. */
  get top(): TaskRun {
    return this.parent?.top ?? this;
  }

  /** The names of the agents from the main agent down to this one. */
  chain(): readonly string[] {
    return [...(this.parent?.chain() ?? []), this.spec.agent.name];
  }

  /** True when no call waits for this task, or for one of the tasks above it. */
  get isBackground(): boolean {
    const { parent } = this;
    if (parent === null) return false;
    return parent.state.children.get(this.spec.id)?.background === true || parent.isBackground;
  }

  /**
   * True when no further request will be sent: the end is decided, the last turn has begun, or the task was stopped.
   */
  get isEnding(): boolean {
    return (
      this.end.isDecided ||
      this.state.activation.hasLastTurnBegun ||
      this.cancellation.signal.aborted
    );
  }

  /** Returns the state to report after the end of the task, with the reason if its end is not stored safely. */
  outcome(): TaskState {
    const { state, end } = this;
    if (this.cancellation.isParked) return { ...state, status: 'parked' };
    if (end.unwrittenEnd === null) return state;
    return { ...state, status: 'interrupted', end: end.unwrittenEnd };
  }

  /** Stops this task and its descendants. Only the first order has an effect. */
  stop(order: StopOrder): void {
    this.cancellation.stop(order);
    this.children.stopAll(order);
    this.shells.abortAll();
  }

  /**
   * Fails the task and stops its descendants, because an essential event can't be written to its log, or because its own
   * process has ended.
   */
  fail(thrown: unknown): void {
    const because = `task ${this.spec.id} above it failed: ${errorInfo(thrown).message}`;
    this.cancellation.stop(thrown);
    this.children.stopAll(stopOrder('parent', because));
    this.shells.abortAll();
  }

  /**
   * Interrupts the current step of a conversation, and the children for which it waits. Background work continues.
   *
   * @param record records the event. Default: the event is recorded alone
   */
  interrupt(
    order: StopOrder,
    record = (interruption: EventBody): void => this.journal.record(interruption),
  ): void {
    const because = order.reason;
    record({ type: 'turn.interrupted', input: newInterruptionId(), because });
    this.cancellation.interruptTurn(order);
    this.children.stopForeground(order);
  }

  /**
   * Parks the task, so that it can be resumed later. Its log records this, and its work is aborted without an end.
   */
  park(questions: readonly string[]): void {
    try {
      this.journal.record({ type: 'task.parked', questions });
    } catch (thrown) {
      // If the event can't be written, the task has the status `interrupted` instead, which is also correct.
      this.deps.onFault(this.spec.id, thrown);
    }
    this.cancellation.park();
  }

  /**
   * Stops the children and shells of the task and waits for their ends, because nothing may run and cost money
   * without the task.
   */
  async stopOwnedWork(because: string): Promise<void> {
    this.children.stopAll(stopOrder('parent', because));
    this.shells.abortAll();
    await this.children.waitForAll();
    await this.shells.stopAll();
  }

  /** Moves the task to the background: the call that waits for the task returns. */
  detach(because: string): void {
    const child = this.parent?.state.children.get(this.spec.id);
    if (child === undefined || child.background || child.status !== null) return;
    this.parent?.journal.record({ type: 'child.detached', child: this.spec.id, because });
    this.detaching.resolve();
  }

  /** Resolves when the task is moved to the background. */
  get detached(): Promise<void> {
    return this.detaching.promise;
  }

  /** Releases all resources of the task. Called after its end is written. */
  close(): void {
    this.cancellation.close();
    this.slot.release();
    this.parent?.children.remove(this);
    this.tree.leave(this);
    this.journal.close();
    // A conversation in the terminal UI ends after each answer. Its servers run on until the next message.
    const goesOn = this.parent === null && this.deps.inbox.isUserPresent;
    if (!goesOn) this.deps.mcp?.endTask(this.recorded.id);
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

  /** @param sync writes the parent's log to the disk */
  constructor(sync: () => Promise<void>) {
    this.synced = new CoalescedWork(sync);
  }

  add(child: ChildRun): void {
    this.running.add(child);
  }

  remove(child: ChildRun): void {
    this.running.delete(child);
  }

  /** Stops all children, because their parent stops. */
  stopAll(order: StopOrder): void {
    for (const child of this.running) child.stop(childStopOrder(order));
  }

  /** Stops the children for which a call of the parent waits. */
  stopForeground(order: StopOrder): void {
    for (const child of this.running) if (!child.isBackground) child.stop(order);
  }

  /** Resolves when all children have ended. */
  async waitForAll(): Promise<void> {
    await Promise.all([...this.running].map((child) => child.end.written));
  }

  /** Resolves when the records of all created children in the parent's log are safe from a loss of power. */
  waitUntilPersisted(): Promise<void> {
    return this.synced.request();
  }
}

/** Tracks the end of a task from the decision to the record in its log. */
class EndTracker {
  private readonly finished = deferred<void>();
  /** Resolves once the end is in the log, or once writing it has failed. */
  readonly written = this.finished.promise;
  /** True when the loop has decided how the task ends. No request follows that could contain a new message. */
  isDecided = false;
  /** The end that could not be written to the log; null if there is no such end. */
  unwrittenEnd: EndReason | null = null;

  decide(): void {
    this.isDecided = true;
  }

  /** Records that the end could not be written to the log, so that the parent still gets the reason. */
  recordUnwritten(error: ErrorInfo): void {
    this.unwrittenEnd = { status: 'failed', error, because: error.message, by: null };
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

/** Delivers messages to a task, and wakes the task when it waits for something. */
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

  /** Wakes the task, so that it checks again whether it must continue to wait. */
  wake(): void {
    this.waiting.resolve();
  }

  /** Resolves at the next `wake`; rejects with the signal's reason when the task is stopped. */
  async waitForWake(): Promise<void> {
    const { signal } = this.parts;
    const waiting = deferred<void>();
    this.waiting = waiting;
    await rejectOnAbort(waiting.promise, signal);
  }
}
