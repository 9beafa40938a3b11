import { Budget } from '../limits/budget.ts';
import { treeCaps } from '../limits/budget-caps.ts';
import { CommandQueue } from '../limits/command-lanes.ts';
import type { EngineDeps } from './deps.ts';
import { FileVersions } from './file-versions.ts';
import { FileLocks } from './file-locks.ts';
import type { SharedSummaries } from './shared-summaries.ts';
import type { ModeToGrant } from '../../protocol/permission.ts';
import type { OnAsk } from '../../protocol/question.ts';
import type { Inbox, WaitingQuestion } from './inbox.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import { Slots } from '../limits/slots.ts';
import { IdleDetector } from '../limits/idle-detector.ts';
import { Admission } from '../limits/admission.ts';
import { PromptCacheWarmUp } from '../limits/prompt-cache-warm-up.ts';
import type { EngineSettings } from '../limits/engine-settings.ts';

export interface TreeParts extends Pick<EngineDeps, 'clock' | 'deadlines' | 'availableMemory'> {
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
export class Tree {
  /** The id of the task at its top here. */
  readonly id: string;
  readonly slots: Slots;
  readonly startGate: Admission;
  readonly warmPrefixes: PromptCacheWarmUp;
  readonly commands: CommandQueue;
  readonly budget: Budget;
  /** Milliseconds; null: no limit. */
  readonly wallMs: number | null;
  readonly stamps = new FileVersions();
  readonly fileTurns = new FileLocks();
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
  private readonly modesLacked = new Set<string>();
  private requests = 0;
  private retries = 0;

  constructor(id: string, parts: TreeParts) {
    const { settings, inbox, clock, deadlines } = parts;
    this.id = id;
    this.onAsk = inbox.onAsk;
    this.idleDetector = new IdleDetector({
      isWaitedFor: () => this.onAsk === 'park' && inbox.open(id).length > 0,
      onStandstill: () => this.park(inbox.open(id)),
    });
    const slots = new Slots(settings.maxParallel);
    this.slots = slots;
    const { availableMemory = () => process.availableMemory() } = parts;
    this.startGate = new Admission({
      clock,
      deadlines,
      availableMemory,
      atWork: () => slots.taken,
    });
    this.warmPrefixes = new PromptCacheWarmUp({ clock, deadlines, holdMs: settings.cacheHoldMs });
    this.maxTasks = settings.maxTasks;
    this.commands = new CommandQueue(settings.maxProcesses);
    this.wallMs = settings.treeWallMs;
    this.budget = new Budget(treeCaps(settings), null);
  }

  /** From when a task is at work here. */
  join(member: Member): void {
    this.members.add(member);
  }

  quit(member: Member): void {
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
    const isFirst = !this.modesLacked.has(key);
    this.modesLacked.add(key);
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

  requestSent(): void {
    this.requests += 1;
  }

  /** Retries that a tree has left: together at most 10, and one more for each five requests. */
  get retriesLeft(): number {
    return 10 + Math.floor(this.requests / 5) - this.retries;
  }

  retried(): void {
    this.retries += 1;
  }

  /** Why no task may be added; neither the top nor resumes nor items count. */
  taskLimit(): LimitHit | null {
    const used = this.tasks.size - this.items.size;
    return used < this.maxTasks ? null : { limit: 'max_tasks', value: this.maxTasks, used };
  }
}
