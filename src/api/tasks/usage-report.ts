import {
  addUsageTotals,
  NO_USAGE_TOTAL,
  type LedgerEntry,
  type UsageTotal,
} from '../../protocol/state/ledger.ts';
import type { TaskSummary } from '../../store/task-store.ts';
import type { UsageKey } from './usage-keys.ts';

export interface UsageQuery {
  readonly by: UsageKey;
  /** The first day that counts, `YYYY-MM-DD` in UTC, or null for all. */
  readonly since: string | null;
  /** A task, which counts with its descendants, or null for all. */
  readonly task: string | null;
}

/** The use that providers reported and the use that was estimated. */
export interface UsageSum {
  readonly tasks: number;
  readonly reported: UsageTotal;
  readonly estimated: UsageTotal;
}

export interface UsageRow extends UsageSum {
  /** The id of a task or of a root, the name of an agent or model, or a day. */
  readonly key: string;
  /** The description of a task, or the key of another row. */
  readonly title: string;
}

export interface UsageReport extends UsageQuery {
  /** The most expensive first, but days in order. */
  readonly rows: readonly UsageRow[];
  readonly total: UsageSum;
  /** Models with answers for which no price is known. */
  readonly unpricedModels: readonly string[];
  /** Ids of tasks whose logs cannot be read, and which are not counted. */
  readonly unknownTasks: readonly string[];
}

interface Counted {
  readonly task: TaskSummary;
  readonly entry: LedgerEntry;
}

/** Adds up ledgers. */
export function usageReport(all: readonly TaskSummary[], query: UsageQuery): UsageReport {
  const { by, since, task: top } = query;
  const tasks = top === null ? all : withBelow(all, top);
  const counted = tasks.flatMap((task): readonly Counted[] =>
    (task.ledger ?? [])
      .filter(({ day }) => since === null || day >= since)
      .map((entry) => ({ task, entry })),
  );
  const titles = new Map(all.map((task) => [task.id, titleOf(task)]));
  const groups = Map.groupBy(counted, (each) => keyOf(by, each));
  const rows = Array.from(groups, ([key, group]): UsageRow => {
    const isId = by === 'task' || by === 'tree';
    return { key, title: isId ? (titles.get(key) ?? '') : key, ...sumOf(group) };
  });
  const unpriced = counted.filter(({ entry }) => entry.unpriced > 0);
  return {
    ...query,
    rows: rows.toSorted(by === 'day' ? byDay : costliestFirst),
    total: sumOf(counted),
    unpricedModels: [...new Set(unpriced.map(({ entry }) => entry.model))].toSorted(),
    unknownTasks: tasks.filter(({ ledger }) => ledger === undefined).map(({ id }) => id),
  };
}

function withBelow(all: readonly TaskSummary[], top: string): readonly TaskSummary[] {
  const children = Map.groupBy(all, ({ parent }) => parent);
  const found = new Map(all.filter(({ id }) => id === top).map((task) => [task.id, task]));
  // A map is walked to its end while it grows; a task that is found again is not added.
  for (const [id] of found) for (const task of children.get(id) ?? []) found.set(task.id, task);
  return [...found.values()];
}

function keyOf(by: UsageKey, { task, entry }: Counted): string {
  switch (by) {
    case 'task':
      return task.id;
    case 'tree':
      return task.root;
    case 'type':
      return task.agent;
    case 'model':
      return entry.model;
    case 'day':
      return entry.day;
    default:
      return by satisfies never;
  }
}

function sumOf(counted: readonly Counted[]): UsageSum {
  let reported = NO_USAGE_TOTAL;
  let estimated = NO_USAGE_TOTAL;
  const tasks = new Set<string>();
  for (const { task, entry } of counted) {
    tasks.add(task.id);
    if (entry.isEstimated) estimated = addUsageTotals(estimated, entry);
    else reported = addUsageTotals(reported, entry);
  }
  return { tasks: tasks.size, reported, estimated };
}

function titleOf({ agent, description }: TaskSummary): string {
  return `${agent}: ${description}`.replaceAll(/\s+/g, ' ');
}

function byDay(a: UsageRow, b: UsageRow): number {
  return a.key < b.key ? -1 : 1;
}

function costliestFirst(a: UsageRow, b: UsageRow): number {
  return cost(b) - cost(a) || tokens(b) - tokens(a) || byDay(a, b);
}

function cost({ reported, estimated }: UsageSum): number {
  return reported.costUsd + estimated.costUsd;
}

function tokens({ reported, estimated }: UsageSum): number {
  const { usage } = addUsageTotals(reported, estimated);
  return usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
}
