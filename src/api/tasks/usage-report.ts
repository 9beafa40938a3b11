import {
  addUsageTotals,
  NO_USAGE_TOTAL,
  type LedgerEntry,
  type UsageTotal,
} from '../../protocol/state/ledger.ts';
import type { TaskSummary } from '../../store/task-store.ts';
import type { UsageKey } from './usage-keys.ts';

export interface UsageQuery {
  /** The key by which rows are grouped, or several for a row for each combination of their values. */
  readonly by: UsageKey | readonly UsageKey[];
  /** The first day that is counted, `YYYY-MM-DD` in UTC, or null for all days. */
  readonly since: string | null;
  /** The id of a task that is counted with its descendants, or null for all tasks. */
  readonly task: string | null;
}

/** The usage that providers reported, and the usage that was estimated. */
export interface UsageSum {
  readonly tasks: number;
  readonly reported: UsageTotal;
  readonly estimated: UsageTotal;
}

/** The value of one key for a row. */
export interface UsageGroup {
  readonly by: UsageKey;
  /** The id of a task or of a root, the name of an agent or model, the status of a task, or a day. */
  readonly key: string;
  /** The description of a task, or the key of another group. */
  readonly title: string;
}

export interface UsageRow extends UsageSum {
  /** One group for each key of the query, in its order. */
  readonly groups: readonly UsageGroup[];
  /** The keys of the groups, joined by commas. */
  readonly key: string;
  /** The titles of the groups, joined by commas. */
  readonly title: string;
}

export interface UsageReport extends UsageQuery {
  /** The rows, the most expensive first. If the first key is the day, days are in chronological order. */
  readonly rows: readonly UsageRow[];
  readonly total: UsageSum;
  /** Models of answers without a known price. */
  readonly unpricedModels: readonly string[];
  /** Ids of tasks that are not counted, because their logs cannot be read. */
  readonly unknownTasks: readonly string[];
}

interface CountedEntry {
  readonly task: TaskSummary;
  readonly entry: LedgerEntry;
}

/** Adds up the ledgers of the tasks that the query selects. */
export function usageReport(all: readonly TaskSummary[], query: UsageQuery): UsageReport {
  const { by, since, task: top } = query;
  const tasks = top === null ? all : selectTree(all, top);
  const counted = tasks.flatMap((task): readonly CountedEntry[] =>
    (task.ledger ?? [])
      .filter(({ day }) => since === null || day >= since)
      .map((entry) => ({ task, entry })),
  );
  const titles = new Map(all.map((task) => [task.id, formatTitle(task)]));
  const keys = [by].flat();
  const listGroups = (each: CountedEntry): readonly UsageGroup[] =>
    keys.map((name) => {
      const key = getGroupKey(name, each);
      const isTaskId = name === 'task' || name === 'tree';
      return { by: name, key, title: isTaskId ? (titles.get(key) ?? '') : key };
    });
  const byGroups = Map.groupBy(counted, (each) => JSON.stringify(listGroups(each)));
  const rows = Array.from(byGroups.values(), (entries): UsageRow => {
    const groups = entries.slice(0, 1).flatMap(listGroups);
    const join = (field: 'key' | 'title') => groups.map((group) => group[field]).join(', ');
    return { groups, key: join('key'), title: join('title'), ...sumUsage(entries) };
  });
  const unpriced = counted.filter(({ entry }) => entry.unpriced > 0);
  return {
    ...query,
    rows: rows.toSorted(keys[0] === 'day' ? compareByDay : compareByCost),
    total: sumUsage(counted),
    unpricedModels: [...new Set(unpriced.map(({ entry }) => entry.model))].toSorted(),
    unknownTasks: tasks.filter(({ ledger }) => ledger === undefined).map(({ id }) => id),
  };
}

/** Returns a task and its descendants. */
function selectTree(all: readonly TaskSummary[], top: string): readonly TaskSummary[] {
  const children = Map.groupBy(all, ({ parent }) => parent);
  const tree = new Map(all.filter(({ id }) => id === top).map((task) => [task.id, task]));
  // This loop also visits the entries that it adds to the map.
  for (const [id] of tree) for (const task of children.get(id) ?? []) tree.set(task.id, task);
  return [...tree.values()];
}

function getGroupKey(by: UsageKey, { task, entry }: CountedEntry): string {
  switch (by) {
    case 'task':
      return task.id;
    case 'tree':
      return task.root;
    case 'type':
      return task.agent;
    case 'model':
      return entry.model;
    case 'outcome':
      return task.status;
    case 'day':
      return entry.day;
    default:
      return by satisfies never;
  }
}

function sumUsage(counted: readonly CountedEntry[]): UsageSum {
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

function formatTitle({ agent, description }: TaskSummary): string {
  return `${agent}: ${description}`.replaceAll(/\s+/g, ' ');
}

function compareTexts(a = '', b = ''): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function compareByDay(a: UsageRow, b: UsageRow): number {
  return compareTexts(a.groups[0]?.key, b.groups[0]?.key) || compareByCost(a, b);
}

function compareByCost(a: UsageRow, b: UsageRow): number {
  return getCost(b) - getCost(a) || getTokens(b) - getTokens(a) || compareTexts(a.key, b.key);
}

function getCost({ reported, estimated }: UsageSum): number {
  return reported.costUsd + estimated.costUsd;
}

function getTokens({ reported, estimated }: UsageSum): number {
  const { usage } = addUsageTotals(reported, estimated);
  return usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
}
