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

/** A task of a tree, as far as that is concerned. */
interface Member {
  park(questions: readonly string[]): void;
}

/**
 * What the tasks of one tree share in this process: slots, budget, counts, who wrote
 * which file, and whether they are parked.
 */
export class TaskTree {
  /** The id of the task at its top here. */
  readonly id: string;
  readonly slots: Slots;
  readonly admission: TaskAdmission;
  readonly promptCache: PromptCacheWarmUp;
  readonly commands: CommandQueue;
  readonly budget: Budget;
  /** Milliseconds; null: no limit. */
  readonly wallMs: number | null;
  readonly fileVersions = new FileVersions();
  readonly fileLocks = new FileLocks();
  /** What happens to its questions. */
  onAsk: OnAsk;
  readonly idleDetector: IdleDetector;
  /** Of conversations that tasks here are handed, by conversation: asked for once. */
  readonly summaries: SharedSummaries = new Map();
  /** The questions that it was left for; empty while it is at work. */
  parkedOn: readonly WaitingQuestion[] = [];
  private readonly members = new Set<Member>();
  private readonly maxTasks: number;
  /** Ids of all that were ever made, the top left out: one that is resumed is no new one. */
  private readonly tasks = new Set<string>();
  /** Those of them that do not count: they are items of a run of a template. */
  private readonly items = new Set<string>();
  /** Agents that asked for a mode that they did not get, with that mode. */
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

  /** From when a task is at work here. */
  join(member: Member): void {
    this.members.add(member);
  }

  leave(member: Member): void {
    this.members.delete(member);
  }

  /** Leaves all that is at work, as it is. */
  private park(questions: readonly WaitingQuestion[]): void {
    this.parkedOn = questions;
    const ids = questions.map(({ question }) => question.id);
    for (const member of this.members) member.park(ids);
  }

  /** Whether no task of this tree was made before whose agent lacks this mode. */
  isFirstToLack({ agent, mode }: ModeToGrant): boolean {
    const key = `${agent}=${mode}`;
    const isFirst = !this.missingModes.has(key);
    this.missingModes.add(key);
    return isFirst;
  }

  addTasks(ids: Iterable<string>): void {
    for (const id of ids) this.tasks.add(id);
  }

  /** The tasks of items, whose number their template's run bounds. */
  addItems(ids: Iterable<string>): void {
    for (const id of ids) {
      this.tasks.add(id);
      this.items.add(id);
    }
  }

  /** Whether this is one of those, by its whole id. */
  hasTask(id: string): boolean {
    return this.tasks.has(id);
  }

  countRequest(): void {
    this.requests += 1;
  }

  /** Retries that a tree has left: together at most 10, and one more for each five requests. */
  get remainingRetries(): number {
    return 10 + Math.floor(this.requests / 5) - this.retries;
  }

  countRetry(): void {
    this.retries += 1;
  }

  /** Why no task may be added; neither the top nor resumes nor items count. */
  findTaskLimitHit(): LimitHit | null {
    const used = this.tasks.size - this.items.size;
    return used < this.maxTasks ? null : { limit: 'max_tasks', value: this.maxTasks, used };
  }
}

/** What stands before the prompt of each task that one message has made with `context: summary`. */
export interface SummaryText {
  readonly text: string;
  /** The task that has asked for it; null: no summary could be had, and why `because` says. */
  readonly from: string | null;
  readonly because: string | null;
}

/** By conversation; null: whoever asked was stopped, or had no budget for it, and the next one asks. */
export type SharedSummaries = Map<string, Promise<SummaryText | null>>;
