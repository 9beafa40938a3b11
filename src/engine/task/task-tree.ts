import { Budget } from '../limits/budget.ts';
import { treeCaps, type EngineSettings } from '../limits/configured-limits.ts';
import { CommandQueue, Slots, TaskAdmission, type Slot } from '../limits/slots.ts';
import type { EngineDeps } from './deps.ts';
import { FileVersions, FileLocks } from './shared-files.ts';
import { TreeBoard } from './tree-board.ts';
import type { ModeToGrant } from '../../protocol/permission.ts';
import type { OnAsk } from '../../protocol/question.ts';
import type { Inbox, TaskWithMode, WaitingQuestion } from './inbox.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import { PromptCacheWarmUp } from '../limits/prompt-cache-warm-up.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { StopOrder } from './stop-order.ts';

/** The parts of a `TaskTree`. */
export interface TaskTreeParts extends Pick<EngineDeps, 'clock' | 'deadlines' | 'availableMemory'> {
  readonly settings: EngineSettings;
  readonly inbox: Inbox;
}

/** The part of a task that its tree uses. */
interface Member extends TaskWithMode {
  park(questions: readonly string[]): void;
  stop(order: StopOrder): void;
}

/** The state that the tasks of one tree share in this process, such as slots, budget, file versions and the board. */
export class TaskTree {
  /** The id of the task at the top of the tree in this process. */
  readonly id: string;
  readonly slots: Slots;
  readonly admission: TaskAdmission;
  readonly promptCache: PromptCacheWarmUp;
  readonly commands: CommandQueue;
  readonly budget: Budget;
  /** The limit on the wall time of the tree in milliseconds; null for no limit. */
  readonly wallMs: number | null;
  readonly fileVersions = new FileVersions();
  readonly fileLocks = new FileLocks();
  readonly board = new TreeBoard();
  /** The handling of questions to people. */
  onAsk: OnAsk;
  readonly idleDetector: IdleDetector;
  /** The summaries of conversations that are passed to tasks, each requested once. */
  readonly summaries: SharedSummaries = new Map();
  /** The questions for which the tree was parked; empty while the tree is at work. */
  parkedOn: readonly WaitingQuestion[] = [];
  /** The tasks that run in this process, each after its parent. */
  readonly members = new Set<Member>();
  /** The order that ended the tasks below the top task; null while there may be such tasks. */
  private stoppedBelow: StopOrder | null = null;
  private readonly maxTasks: number;
  /** The ids of all tasks that were ever created below the top task. A resumed task is not a new task. */
  private readonly tasks = new Set<string>();
  /** The ids of the tasks that run an item of a template. They do not count for the limit on tasks. */
  private readonly itemTasks = new Set<string>();
  /** The agents that did not get a mode that they asked for, each as `agent=mode`. */
  private readonly missingModes = new Set<string>();
  private requests = 0;
  private retries = 0;

  constructor(id: string, parts: TaskTreeParts) {
    const { settings, inbox, clock, deadlines } = parts;
    this.id = id;
    this.onAsk = inbox.onAsk;
    this.idleDetector = new IdleDetector({
      hasOpenQuestion: () => this.onAsk === 'park' && inbox.open(id).length > 0,
      onIdle: () => this.park(inbox.open(id)),
    });
    const slots = new Slots(settings.maxParallel);
    this.slots = slots;
    const { availableMemory = () => process.availableMemory() } = parts;
    this.admission = new TaskAdmission({
      clock,
      deadlines,
      availableMemory,
      countWorking: () => slots.taken,
    });
    this.promptCache = new PromptCacheWarmUp({ clock, deadlines, holdMs: settings.cacheHoldMs });
    this.maxTasks = settings.maxTasks;
    this.commands = new CommandQueue(settings.maxProcesses);
    this.wallMs = settings.treeWallMs;
    this.budget = new Budget(treeCaps(settings), null);
  }

  /** Registers a task that starts to run. Stops it if the tasks below the top task were stopped. */
  join(member: Member): void {
    this.members.add(member);
    if (this.stoppedBelow !== null && member.parent !== null) member.stop(this.stoppedBelow);
  }

  /** Stops all tasks below the top task, also those that are about to start. Each gets the order itself. */
  stopBelow(order: StopOrder): void {
    this.stoppedBelow = order;
    // The deepest tasks come first, because a task passes a different order on to its children.
    for (const member of [...this.members].toReversed()) {
      if (member.parent !== null) member.stop(order);
    }
  }

  leave(member: Member): void {
    this.members.delete(member);
  }

  /** Parks all running tasks, because nothing can continue before these questions are answered. */
  private park(questions: readonly WaitingQuestion[]): void {
    this.parkedOn = questions;
    const ids = questions.map(({ question }) => question.id);
    for (const member of this.members) member.park(ids);
  }

  /** Records that an agent does not get a mode. Returns true the first time for this agent and mode in the tree. */
  noteMissingMode({ agent, mode }: ModeToGrant): boolean {
    const key = `${agent}=${mode}`;
    const isFirst = !this.missingModes.has(key);
    this.missingModes.add(key);
    return isFirst;
  }

  addTasks(ids: Iterable<string>): void {
    for (const id of ids) this.tasks.add(id);
  }

  /** Adds tasks that run items of a template. The template run limits their number itself. */
  addItems(ids: Iterable<string>): void {
    for (const id of ids) {
      this.tasks.add(id);
      this.itemTasks.add(id);
    }
  }

  /** Returns true when there is a task with this full id below the top task. */
  hasTask(id: string): boolean {
    return this.tasks.has(id);
  }

  countRequest(): void {
    this.requests += 1;
  }

  /** The remaining retries of the tree: 10, and one more for each five requests, minus the retries so far. */
  get remainingRetries(): number {
    return 10 + Math.floor(this.requests / 5) - this.retries;
  }

  countRetry(): void {
    this.retries += 1;
  }

  /**
   * Returns the limit on tasks if it is reached, otherwise null. The top task, resumed tasks and template items do
   * not count.
   */
  findTaskLimitHit(): LimitHit | null {
    const used = this.tasks.size - this.itemTasks.size;
    return used < this.maxTasks ? null : { limit: 'max_tasks', value: this.maxTasks, used };
  }
}

/** The text before the prompt of each task that one answer created with `context: summary`. */
export interface SummaryText {
  readonly text: string;
  /** The task that requested the summary; null when there is no summary. `because` then contains the reason. */
  readonly from: string | null;
  readonly because: string | null;
}

/**
 * The summaries by conversation. A summary is null if the task that requested it was stopped or had no budget. The
 * next task then requests the summary again.
 */
type SharedSummaries = Map<string, Promise<SummaryText | null>>;

interface IdleDetectorOptions {
  /** Returns true if a question is open for which an idle tree should be parked. */
  hasOpenQuestion(): boolean;
  /** Called when nothing is at work and nothing will start by itself. */
  onIdle(): void;
}

/**
 * Counts the work in progress in a tree, to detect when everything waits for a person. A wait that ends by itself (a
 * timer, a command, a model's answer) counts as work. A wait that only another task or a person can end does not
 * count.
 */
export class IdleDetector {
  private readonly options: IdleDetectorOptions;
  private workCount = 0;
  private isCheckPending = false;

  constructor(options: IdleDetectorOptions) {
    this.options = options;
  }

  /** Counts `work` as in progress until its promise settles. */
  async trackWork<T>(work: () => Promise<T>): Promise<T> {
    this.workCount += 1;
    try {
      return await work();
    } finally {
      this.endWork();
    }
  }

  /**
   * Runs a wait inside of work. The work does not count until the wait settles. The wait starts before the count
   * changes.
   */
  async trackWait<T>(wait: () => Promise<T>): Promise<T> {
    const ended = wait();
    this.endWork();
    try {
      return await ended;
    } finally {
      this.workCount += 1;
    }
  }

  /**
   * Ends one unit of work. The check for idleness is deferred until all consequences of this end have run, because
   * the end of a child wakes its parent only then.
   */
  private endWork(): void {
    this.workCount -= 1;
    if (this.workCount > 0 || this.isCheckPending || !this.options.hasOpenQuestion()) return;
    this.isCheckPending = true;
    setImmediate(() => {
      this.isCheckPending = false;
      if (this.workCount === 0 && this.options.hasOpenQuestion()) this.options.onIdle();
    });
  }
}

interface TaskSlotParts {
  readonly tree: Pick<TaskTree, 'slots' | 'admission'>;
  readonly signal: AbortSignal;
  /** True when the task was at work before. It then needs no admission. */
  readonly hadSlot: boolean;
  /** True if the task works while another task waits for it in the middle of its own work. It then needs no slot. */
  readonly worksForWaitingTask: boolean;
  readonly record: (...events: readonly EventBody[]) => void;
}

/**
 * The slot of one task. The task holds the slot while it is at work, and releases it while it waits for other tasks.
 */
export class TaskSlot {
  private readonly parts: TaskSlotParts;
  private slot: Slot | null = null;
  private pendingTake: Promise<void> | null = null;
  private hadSlot: boolean;

  constructor(parts: TaskSlotParts) {
    this.parts = parts;
    this.hadSlot = parts.hadSlot;
  }

  /**
   * Takes the slot, unless the task holds it already. Several callers may wait at the same time. Rejects when the
   * signal aborts.
   */
  async take(): Promise<void> {
    if (this.slot !== null || this.parts.worksForWaitingTask) return;
    this.pendingTake ??= this.acquire().finally(() => {
      this.pendingTake = null;
    });
    await this.pendingTake;
  }

  release(): void {
    this.slot?.release();
    this.slot = null;
  }

  private async acquire(): Promise<void> {
    const { tree, signal } = this.parts;
    signal.throwIfAborted();
    // Take a free slot synchronously, so that the next task sees that this task is at work.
    const slot = tree.slots.takeFree() ?? (await this.waitForSlot());
    const because = this.hadSlot ? null : tree.admission.findWaitReason();
    this.slot = because === null ? slot : await this.waitForAdmission(slot, because);
    this.hadSlot = true;
  }

  private waitForSlot(): Promise<Slot> {
    return this.parts.tree.slots.acquire(this.parts.signal, { isResuming: this.hadSlot });
  }

  private async waitForAdmission(slot: Slot, because: string): Promise<Slot> {
    const { tree, signal, record } = this.parts;
    slot.release();
    const message = `it waits to start for ${because}`;
    record({ type: 'task.held', because }, { type: 'warning', message });
    await tree.admission.wait(signal);
    return this.waitForSlot();
  }
}
