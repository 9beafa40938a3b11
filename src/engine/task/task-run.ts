import { deferred, onAbort } from '../../base/async.ts';
import type { Deadline } from '../../base/deadlines.ts';
import { errorInfo, type ErrorInfo } from '../../base/errors.ts';
import { Batched } from '../../base/batched.ts';
import type { AttachmentDetails } from '../../protocol/attachment.ts';
import type { EndReason } from '../../protocol/end-reason.ts';
import type { TaskInput } from '../../protocol/input.ts';
import { toolCalls, type AssistantMessage, type ToolCallPart } from '../../protocol/message.ts';
import type { RequestPrefix } from '../../protocol/model.ts';
import { grantFor } from '../../policy/mode-grants.ts';
import type { ModeGrant, PermissionRule, Rights } from '../../protocol/permission.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import type { AnyTool, FileMemory } from '../../protocol/tool.ts';
import { BackgroundShells } from '../shells/background-shells.ts';
import { Budget, expenseOf } from '../limits/budget.ts';
import { taskCaps } from '../limits/budget-caps.ts';
import type { EngineDeps } from './deps.ts';
import type { Ending } from './endings.ts';
import type { Measured } from '../limits/estimate.ts';
import { fileMemory } from './file-versions.ts';
import type { Journal } from './journal.ts';
import { EffectiveRights } from './effective-rights.ts';
import { orderForChild, stopOrder, type StopOrder } from './stop.ts';
import { TaskSlot } from './task-slot.ts';
import type { Tree } from './tree.ts';
import { interruptionId, TurnSignal } from './turn-signal.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

export interface TaskRunParts {
  /** As it was made here; of one that was opened, its log alone tells. */
  readonly given?: TaskSpec;
  readonly journal: Journal;
  readonly prefix: RequestPrefix;
  /** The frozen tool view: what stands in the request and what may run. */
  readonly view: ReadonlyMap<string, AnyTool>;
  readonly tree: Tree;
  /** Who gets its result: the task that made or resumed it; null where that is a person. */
  readonly parent: TaskRun | null;
  /**
   * Number of the last event that people here have not made: what the log grants and answers up to
   * there, nobody here has said. -1 where all of it is from here.
   */
  readonly importedUpTo?: number;
  readonly drive?: (run: TaskRun) => Promise<Ending>;
}

/** Aborts what waits in a task that is left as it is, to be gone on with later. */
const PARKED = Symbol('parked');

/** One task at work in this process. Its truth is its journal; the rest here dies with the process. */
export class TaskRun {
  readonly journal: Journal;
  readonly prefix: RequestPrefix;
  readonly view: ReadonlyMap<string, AnyTool>;
  readonly tree: Tree;
  readonly parent: TaskRun | null;
  readonly budget: Budget;
  readonly files: FileMemory;
  readonly shells: BackgroundShells;
  /** Images and documents that calls under way are about to show, by call. */
  readonly attaching = new Map<string, readonly AttachmentDetails[]>();
  /** Null: nothing was answered here yet. */
  measured: Measured | null = null;
  /** When it set to work here, by the monotonic clock. */
  workingSince: number | null = null;
  /** Resolves once the end is written. */
  readonly ended: Promise<void>;
  private readonly controller = new AbortController();
  /** Null: it can't be interrupted, since it is no conversation. */
  private readonly turn: TurnSignal | null;
  private readonly children = new Set<TaskRun>();
  private readonly announced: Batched;
  private readonly finished = deferred<void>();
  private readonly deps: EngineDeps;
  private readonly given: TaskSpec | null;
  private readonly recorded: TaskSpec;
  private readonly slot: TaskSlot;
  private newest: ReadonlyMap<string, ToolCallPart> = new Map();
  private readonly detaching = deferred<void>();
  private waker = deferred<void>();
  private readonly rightsInForce = new EffectiveRights();
  private wall: Deadline | null = null;
  private isAtEnd = false;
  private lostEnd: EndReason | null = null;
  private force = false;
  private readonly importedUpTo: number;
  /** What it does to its end; absent: it is a conversation. */
  readonly drive: TaskRunParts['drive'];

  constructor(deps: EngineDeps, parts: TaskRunParts) {
    this.deps = deps;
    this.given = parts.given ?? null;
    this.journal = parts.journal;
    this.announced = new Batched(() => this.journal.sync());
    this.recorded = parts.journal.state.spec;
    this.prefix = parts.prefix;
    this.view = parts.view;
    this.tree = parts.tree;
    this.parent = parts.parent;
    this.ended = this.finished.promise;
    this.budget = new Budget(taskCaps(this.spec.limits), parts.parent?.budget ?? parts.tree.budget);
    // What an ended stint has used was booked above when it ended, and is nothing to the next one.
    if (this.state.end === null) this.budget.recover(expenseOf(this.state.activation));
    this.files = fileMemory(this.journal.state, parts.tree.stamps);
    this.shells = new BackgroundShells(deps, this);
    this.slot = new TaskSlot({
      tree: parts.tree,
      signal: this.signal,
      hadSlot: this.journal.state.lifetime.startedMs !== null,
      record: (...events) => this.journal.record(...events),
    });
    this.importedUpTo = parts.importedUpTo ?? -1;
    this.drive = parts.drive;
    this.turn = parts.parent === null ? new TurnSignal(this.signal) : null;
    parts.parent?.children.add(this);
    parts.tree.join(this);
  }

  /** As given while the log says the same but for redacted secrets: until its terms change. */
  get spec(): TaskSpec {
    const { spec } = this.state;
    return spec === this.recorded ? (this.given ?? spec) : spec;
  }

  get state(): TaskState {
    return this.journal.state;
  }

  /** What it may do now: its own rights, cut by what each task above it may do now. */
  get rights(): Rights {
    return this.rightsInForce.of(this.spec.rights, {
      above: this.parent?.rights ?? null,
      definition: this.spec.agent,
      grant: this.modeGrant,
      withoutGrant: this.state.modeWithoutGrant,
    });
  }

  /** The grant of the user to its agent now, which replaces its parent's mode. */
  get modeGrant(): ModeGrant | null {
    return this.spec.depth === 0 ? null : grantFor(this.spec.agent, this.modeGrants());
  }

  /** The modes that the user grants to agents, in this conversation or wherever it runs. */
  modeGrants(): readonly ModeGrant[] {
    const recorded = this.state.modeGrants;
    const above = this.parent?.modeGrants() ?? this.deps.inbox.modeGrants?.inForce() ?? [];
    if (recorded.length === 0) return above;
    return [
      ...above,
      ...recorded.flatMap(({ grant, seq }) => (this.isTrusted(seq) ? [grant] : [])),
    ];
  }

  /** The task at the top of its tree here: what the user grants to the conversation stands in its log. */
  get top(): TaskRun {
    return this.parent?.top ?? this;
  }

  /** Resolves once it survives a loss of power that this task has made the children it has. */
  keepChildren(): Promise<void> {
    return this.announced.ask();
  }

  /** Whether what an event of its log says of a person's will was said here. */
  isTrusted(seq: number): boolean {
    return seq > this.importedUpTo;
  }

  /** What the user has allowed to it, and to those above it, since it was made. */
  granted(): readonly PermissionRule[] {
    const own = this.state.granted.flatMap(({ rule, seq }) => (this.isTrusted(seq) ? [rule] : []));
    const above = this.parent?.granted() ?? [];
    return own.length === 0 ? above : [...own, ...above];
  }

  /**
   * Leaves it as a crash would, but that its log says so and nothing of it is cut off: it can be gone
   * on with. Nothing of it is at work.
   */
  park(questions: readonly string[]): void {
    try {
      this.journal.record({ type: 'task.parked', questions });
    } catch (thrown) {
      // A full disk: it reads as interrupted then, which it is.
      this.deps.onFault(this.spec.id, thrown);
    }
    this.controller.abort(PARKED);
  }

  get isParked(): boolean {
    return this.signal.reason === PARKED;
  }

  /** What to tell of it once it has ended: the state, and where the log has no end, why it has none. */
  outcome(): TaskState {
    const { state, lostEnd } = this;
    if (this.isParked) return { ...state, status: 'parked' };
    if (state.end !== null || lostEnd === null) return state;
    return { ...state, status: 'interrupted', end: lostEnd };
  }

  /** Its end could not be written; to be told all the same. */
  loseEnd(error: ErrorInfo): void {
    this.lostEnd = { status: 'failed', error, because: error.message, by: null };
  }

  /** How it ends is decided: what it is told from here on stands in no request. */
  decideEnd(): void {
    this.isAtEnd = true;
  }

  /** Whether no request follows: its end is decided, it is in its last turn, or told to stop. */
  get isEnding(): boolean {
    return this.isAtEnd || this.state.activation.lastTurn || this.signal.aborted;
  }

  /** Whether nobody waits for it: it, or one that it works for, is in the background. */
  get isBackground(): boolean {
    const { parent } = this;
    if (parent === null) return false;
    return parent.state.children.get(this.spec.id)?.background === true || parent.isBackground;
  }

  /** Something that it ran did not stop when told: a stop of it is a kill. */
  noteForce(): void {
    this.force = true;
  }

  get wasForced(): boolean {
    return this.force;
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Of what it does now, which can end without the task. */
  get turnSignal(): AbortSignal {
    return this.turn?.signal ?? this.signal;
  }

  /** The next step is about to be taken. */
  beginStep(): void {
    // What an interruption had to kill is no kill of the task that went on.
    if (this.turn?.renew() === true) this.force = false;
  }

  /** Whether that is why something rejected which the task did. */
  isInterruption(thrown: unknown): boolean {
    return !this.signal.aborted && this.turnSignal.aborted && thrown === this.turnSignal.reason;
  }

  /** Ends what a conversation does now, with what it waits for; what is in the background goes on. */
  interrupt(order: StopOrder): void {
    const { because } = order;
    this.journal.record({ type: 'turn.interrupted', input: interruptionId(), because });
    this.cutTurn(order);
    for (const child of this.children) if (!child.isBackground) child.stop(order);
  }

  /** The same for what runs in itself, where its log says already that it is interrupted. */
  cutTurn(order: StopOrder): void {
    this.turn?.interrupt(order);
  }

  /** Stops this task and all below it. The first order stands. */
  stop(order: StopOrder): void {
    if (!this.controller.signal.aborted) this.controller.abort(order);
    for (const child of this.children) child.stop(orderForChild(order));
    this.shells.abortAll();
  }

  /** Ends it as failed, with all below it: what it has to know of can't be written into its log. */
  fail(thrown: unknown): void {
    const because = `task ${this.spec.id} above it failed: ${errorInfo(thrown).message}`;
    if (!this.controller.signal.aborted) this.controller.abort(thrown);
    for (const child of this.children) child.stop(stopOrder('parent', because));
    this.shells.abortAll();
  }

  /** Nothing that it has started may go on, and be paid for, without it. */
  async stopOwnedWork(because: string): Promise<void> {
    for (const child of this.children) child.stop(stopOrder('parent', because));
    this.shells.abortAll();
    await this.childrenEnded();
    await this.shells.stopAll();
  }

  /** Resolves when nothing below it is at work here. */
  async childrenEnded(): Promise<void> {
    await Promise.all([...this.children].map((child) => child.ended));
  }

  /** Its caller waits for it no longer: it goes on in the background. */
  detach(because: string): void {
    const child = this.parent?.state.children.get(this.spec.id);
    if (child === undefined || child.background || child.status !== null) return;
    this.parent?.journal.record({ type: 'child.detached', child: this.spec.id, because });
    this.detaching.resolve();
  }

  /** Resolves when its caller waits for it no longer. */
  get detached(): Promise<void> {
    return this.detaching.promise;
  }

  /** Says something to its model, in its next request; wakes it when it waits. */
  tell(input: TaskInput): void {
    this.journal.record({ type: 'input.queued', input });
    this.wake();
  }

  /** What it waits for may have come. */
  wake(): void {
    this.waker.resolve();
  }

  /** Resolves at the next `wake`; rejects when the task is stopped. */
  async news(): Promise<void> {
    const waker = deferred<void>();
    this.waker = waker;
    const forget = onAbort(this.signal, () => waker.reject(this.signal.reason));
    await waker.promise.finally(forget);
  }

  /** The newest answer as the model gave it: in the log, and so in the state, its secrets are redacted. */
  keepAsGiven(message: AssistantMessage): void {
    this.newest = new Map(toolCalls(message).map((call) => [call.id, call]));
  }

  /** These calls as the model gave them, where this process has seen it. */
  asGiven(calls: readonly ToolCallPart[]): readonly ToolCallPart[] {
    return calls.map((call) => this.newest.get(call.id) ?? call);
  }

  /** Ends the task with what `order` gives when `ms` have passed. */
  stopAfter(ms: number, order: () => StopOrder): void {
    this.wall = this.deps.deadlines.after(ms, () => this.stop(order()));
  }

  /**
   * Waits for a slot of the tree; at once when it holds one. May be called by several calls of one
   * message at a time: they wait for the same slot. Rejects when stopped meanwhile.
   */
  async takeSlot(): Promise<void> {
    await this.slot.take();
  }

  /** For as long as the task waits for children, a person or a rate limit. */
  giveSlot(): void {
    this.slot.give();
  }

  /** Agent names from the main agent down to this one. */
  chain(): readonly string[] {
    return [...(this.parent?.chain() ?? []), this.spec.agent.name];
  }

  /** After the end is written: gives back all it held. */
  close(): void {
    this.wall?.cancel();
    this.giveSlot();
    this.parent?.children.delete(this);
    this.tree.quit(this);
    this.journal.close();
    this.finished.resolve();
  }
}
