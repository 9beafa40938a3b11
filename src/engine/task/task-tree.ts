import { Budget } from '../limits/budget.ts';
import { treeCaps } from '../limits/configured-limits.ts';
import { CommandQueue } from '../limits/command-queue.ts';
import type { EngineDeps } from './deps.ts';
import { FileVersions, FileLocks } from './shared-files.ts';
import type { ModeToGrant } from '../../protocol/permission.ts';
import type { OnAsk } from '../../protocol/question.ts';
import type { Inbox, WaitingQuestion } from './inbox.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import { Slots } from '../limits/slots.ts';
import { IdleDetector } from '../limits/idle-detector.ts';
import { TaskAdmission } from '../limits/admission.ts';
import { PromptCacheWarmUp } from '../limits/prompt-cache-warm-up.ts';
import type { EngineSettings } from '../limits/engine-settings.ts';

export interface TaskTreeParts extends Pick<EngineDeps, 'clock' | 'deadlines' | 'availableMemory'> {
  readonly settings: EngineSettings;
  readonly inbox: Inbox;
}

/** The part of a task that its tree uses. */
interface Member {
  park(questions: readonly string[]): void;
}

/** The state that the tasks of one tree share in this process, such as slots, budget and file versions. */
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
  /** The handling of questions to people. */
  onAsk: OnAsk;
  readonly idleDetector: IdleDetector;
  /** The summaries of conversations that are passed to tasks, each requested once. */
  readonly summaries: SharedSummaries = new Map();
  /** The questions for which the tree was parked; empty while it works. */
  parkedOn: readonly WaitingQuestion[] = [];
  private readonly members = new Set<Member>();
  private readonly maxTasks: number;
  /** The ids of all tasks that were ever created below the top task. A resumed task is not new. */
  private readonly tasks = new Set<string>();
  /** The ids of those that run an item of a template and do not count for the limit on tasks. */
  private readonly items = new Set<string>();
  /** The agents that lacked a mode that they asked for, each with that mode. */
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

  /** Registers a task that starts to run. */
  join(member: Member): void {
    this.members.add(member);
  }

  leave(member: Member): void {
    this.members.delete(member);
  }

  /** Parks all running tasks because of these questions. */
  private park(questions: readonly WaitingQuestion[]): void {
    this.parkedOn = questions;
    const ids = questions.map(({ question }) => question.id);
    for (const member of this.members) member.park(ids);
  }

  /** Notes that an agent lacks a mode. Returns true at the first time in this tree. */
  isFirstToLack({ agent, mode }: ModeToGrant): boolean {
    const key = `${agent}=${mode}`;
    const isFirst = !this.missingModes.has(key);
    this.missingModes.add(key);
    return isFirst;
  }

  addTasks(ids: Iterable<string>): void {
    for (const id of ids) this.tasks.add(id);
  }

  /** Adds tasks that run items of a template, whose number that run bounds. */
  addItems(ids: Iterable<string>): void {
    for (const id of ids) {
      this.tasks.add(id);
      this.items.add(id);
    }
  }

  /** Returns true when the tree has a task with this full id below its top. */
  hasTask(id: string): boolean {
    return this.tasks.has(id);
  }

  countRequest(): void {
    this.requests += 1;
  }

  /** The remaining retries of the tree: it has 10, and one more for each five requests. */
  get remainingRetries(): number {
    return 10 + Math.floor(this.requests / 5) - this.retries;
  }

  countRetry(): void {
    this.retries += 1;
  }

  /** Returns the limit on tasks if it is reached. The top task, resumed tasks and template items don't count. */
  findTaskLimitHit(): LimitHit | null {
    const used = this.tasks.size - this.items.size;
    return used < this.maxTasks ? null : { limit: 'max_tasks', value: this.maxTasks, used };
  }
}

/** The text before the prompt of each task that one message created with `context: summary`. */
export interface SummaryText {
  readonly text: string;
  /** The task that requested the summary; null when there is none, for the reason in `because`. */
  readonly from: string | null;
  readonly because: string | null;
}

/**
 * The summaries by conversation. Null: the task that requested it was stopped or had no budget, and the next task
 * requests it again.
 */
export type SharedSummaries = Map<string, Promise<SummaryText | null>>;
