import { Budget } from './budget.ts';
import type { EngineSettings } from './deps.ts';
import type { LimitHit } from './limits.ts';
import { Slots } from './slots.ts';

/** What the tasks of one tree share: slots, budget, and who descends from whom. */
export class Tree {
  readonly slots: Slots;
  readonly budget: Budget;
  /** Parent by task, ended ones too; null for the root. */
  private readonly parents = new Map<string, string | null>();
  private readonly maxTasks: number;
  private requests = 0;
  private retries = 0;

  constructor(settings: EngineSettings) {
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

  add(id: string, parent: string | null): void {
    this.parents.set(id, parent);
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

  /** Why no task may be added; the root does not count. */
  taskLimit(): LimitHit | null {
    const used = Math.max(this.parents.size - 1, 0);
    if (used < this.maxTasks) return null;
    return { limit: 'max_tasks', value: this.maxTasks, used };
  }

  /** Ids below `ancestor` that begin with `prefix`. */
  descendants(ancestor: string, prefix: string): readonly string[] {
    return [...this.parents.keys()].filter(
      (id) => id.startsWith(prefix) && this.isBelow(id, ancestor),
    );
  }

  private isBelow(id: string, ancestor: string): boolean {
    for (let at = this.parents.get(id) ?? null; at !== null; at = this.parents.get(at) ?? null) {
      if (at === ancestor) return true;
    }
    return false;
  }
}
