import type { TaskEvent } from '../protocol/events/event.ts';
import type { Repair, Repairs } from '../protocol/repair.ts';

/** The repairs that were made to the answers of each model, by `provider/id`. */
export type RepairsByModel = ReadonlyMap<string, ReadonlyMap<Repair, number>>;

/** Counts the repairs in the events of one or more logs. */
export class RepairCount {
  private readonly models = new Map<string, Map<Repair, number>>();
  /** The model to which the current turn's request was sent. */
  private requested = '';

  get byModel(): RepairsByModel {
    return this.models;
  }

  add(event: TaskEvent): void {
    switch (event.type) {
      case 'turn.started':
        this.requested = event.model;
        return;
      case 'turn.ended':
        return this.count(event.model, event.repairs);
      case 'turn.retried':
      case 'turn.failed':
        return this.count(this.requested, event.repairs);
      default:
    }
  }

  private count(model: string, repairs: Repairs = {}): void {
    for (const [repair, count] of listRepairs(repairs)) {
      const counts = this.models.get(model) ?? new Map<Repair, number>();
      this.models.set(model, counts.set(repair, (counts.get(repair) ?? 0) + count));
    }
  }
}

function listRepairs(repairs: Repairs): readonly (readonly [Repair, number])[] {
  return Object.entries(repairs).map(([repair, count]) => [repair as Repair, count] as const);
}
