import { repeats } from './check-requests.ts';
import type { KillPlan } from './kill-plan.ts';
import type { TreeRun } from './tree-run.ts';

/** Where kills fell, over many runs. */
export class Tally {
  /** Kills that met a process at work. */
  kills = 0;
  private runs = 0;
  private repeated = 0;
  private readonly triggers = new Map<string, number>();
  private readonly standings = new Map<string, number>();
  private readonly timesKilled = new Map<string, number>();

  add(plan: KillPlan, { stretches, model }: TreeRun): void {
    const kills = stretches.filter(({ killedAt }) => killedAt !== null).length;
    this.runs += 1;
    this.kills += kills;
    this.repeated += repeats(model.requests);
    count(this.timesKilled, `${kills} times`);
    for (const [index, { killedAt }] of stretches.entries()) {
      if (killedAt === null) continue;
      count(this.triggers, plan.kills[index]?.kind ?? 'patience');
      for (const part of killedAt) count(this.standings, part);
    }
  }

  describe(): string {
    return [
      `${this.kills} kills in ${this.runs} runs (${list(this.timesKilled)}); ${this.repeated} requests were sent again`,
      `  killed by: ${list(this.triggers)}`,
      `  in the midst of: ${list(this.standings)}`,
    ].join('\n');
  }
}

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

function list(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([what, times]) => `${what} ${times}`)
    .join(', ');
}
