import { Budget } from './budget.ts';
import type { EngineSettings } from './deps.ts';
import { FileStamps } from './file-stamps.ts';
import type { LimitHit } from '../protocol/stint.ts';
import { Slots } from './slots.ts';

/** What the tasks of one tree share in this process: slots, budget, counts, and who wrote which file. */
export class Tree {
  /** The id of the task at its top here. */
  readonly id: string;
  readonly slots: Slots;
  readonly budget: Budget;
  readonly stamps = new FileStamps();
  private readonly maxTasks: number;
  /** Ids of all that were ever made, the top left out: one that is resumed is no new one. */
  private readonly tasks = new Set<string>();
  private requests = 0;
  private retries = 0;

  constructor(id: string, settings: EngineSettings) {
    this.id = id;
    this.slots = new Slots(settings.maxParallel);
    this.maxTasks = settings.maxTasks;
    const { treeTokens, treeCostUsd } = settings;
    this.budget = new Budget(
      {
        tokens: treeTokens > 0 ? { limit: 'tree_tokens', value: treeTokens } : null,
        costUsd: treeCostUsd > 0 ? { limit: 'tree_cost_usd', value: treeCostUsd } : null,
      },
      null,
    );
  }

  addTasks(ids: Iterable<string>): void {
    for (const id of ids) this.tasks.add(id);
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

  /** Why no task may be added; neither the top nor resumes count. */
  taskLimit(): LimitHit | null {
    const { size } = this.tasks;
    return size < this.maxTasks ? null : { limit: 'max_tasks', value: this.maxTasks, used: size };
  }
}
