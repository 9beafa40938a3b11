import { paidTokens } from '../../protocol/model.ts';
import { addUsageTotals } from '../../protocol/state/ledger.ts';
import { formatUsage } from '../../report/figures.ts';
import type { TaskReport } from '../../report/task-report.ts';
import type { TreeReport, TreeRow } from '../../report/tree-report.ts';
import { toTitle } from './task-rows.ts';
import {
  MAX_TEXT,
  type ComparedTask,
  type ComparedTree,
  type CompareReply,
  type TimelineReply,
  type UsagePoint,
  type UsageReply,
} from './wire.ts';

/** Creates the timeline of a tree. */
export function toTimeline({ rows, from, to, omitted = 0 }: TreeReport): TimelineReply {
  return {
    from,
    to,
    omitted,
    rows: rows.flatMap(({ id, level, report }) =>
      report === null
        ? []
        : [
            {
              id,
              level,
              agent: report.agent,
              title: toTitle(report.description, report.parent),
              status: report.status,
              created: report.createdAt,
              until: report.until,
              spans: report.spans.map((span) => [span.kind, span.from, span.to, span.detail]),
            },
          ],
    ),
  };
}

/** Creates the usage of a tree over time. */
export function toTreeUsage(tree: TreeReport): UsageReply {
  const { rows, from, to, reported, estimated, omitted = 0 } = tree;
  const points = rows.flatMap(({ id, report }) => report?.turns.flatMap(usagePoints(id)) ?? []);
  return {
    from,
    to,
    reported,
    estimated,
    points: points.toSorted((a, b) => a.at - b.at),
    omitted,
  };
}

function usagePoints(task: string): (turn: TaskReport['turns'][number]) => readonly UsagePoint[] {
  return ({ turn, at, ms, model, usage, costUsd, isEstimated }) => {
    if (usage === null) return [];
    const { input, output, cacheRead, cacheWrite } = usage;
    const tokens = { input, output, cacheRead, cacheWrite };
    return [{ at: at + (ms ?? 0), task, turn, model, ...tokens, costUsd, isEstimated }];
  };
}

/** Compares two trees: each on its side, and the tasks that belong together in pairs. */
export function compareTrees(left: TreeReport, right: TreeReport): CompareReply {
  return {
    left: toComparedTree(left),
    right: toComparedTree(right),
    pairs: pairRows(left.rows, right.rows),
  };
}

function toComparedTree(tree: TreeReport): ComparedTree {
  const { rows, from, to, reported, estimated, omitted = 0 } = tree;
  const reports = rows.flatMap(({ report }) => report ?? []);
  const files = reports.flatMap(({ receipt }) => receipt.filesChanged.map(({ path }) => path));
  return {
    id: rows[0]?.id ?? '',
    from,
    to,
    reported,
    estimated,
    omitted,
    rows: rows.map(toComparedTask),
    files: [...new Set(files)].toSorted(),
    result: (rows[0]?.report?.result ?? '').slice(0, MAX_TEXT),
  };
}

function toComparedTask({ id, level, report }: TreeRow): ComparedTask {
  if (report === null) {
    return { ...UNREADABLE, id, level };
  }
  const { usage, costUsd } = addUsageTotals(report.reported, report.estimated);
  return {
    id,
    level,
    agent: report.agent,
    title: toTitle(report.description, report.parent),
    status: report.status,
    model: report.model,
    turns: report.turns.length,
    calls: report.toolCalls,
    ...formatUsage(report),
    paidTokens: paidTokens(usage),
    costUsd,
    ms: report.until - report.createdAt,
  };
}

/** The row of a task whose log cannot be read. */
const UNREADABLE: Omit<ComparedTask, 'id' | 'level'> = {
  agent: '',
  title: '(log unusable)',
  status: 'interrupted',
  model: '',
  turns: 0,
  calls: 0,
  tokens: '?',
  paidTokens: 0,
  cost: '?',
  costUsd: 0,
  ms: 0,
};

/**
 * Pairs the rows of two trees: the tops, and the n-th child with an agent and a description below the rows of a pair. The
 * rows of the left tree come in their order, and then the remaining rows of the right one.
 */
export function pairRows(
  left: readonly TreeRow[],
  right: readonly TreeRow[],
): CompareReply['pairs'] {
  const rightByPlace = new Map(listPlaces(right).map((place, at) => [place, at]));
  const paired = new Set<number>();
  const pairs = listPlaces(left).map((place, at) => {
    const other = rightByPlace.get(place) ?? null;
    if (other !== null) paired.add(other);
    return { left: at, right: other };
  });
  const rest = right.flatMap((_, at) => (paired.has(at) ? [] : [{ left: null, right: at }]));
  return [...pairs, ...rest];
}

/** Names the place of each row by those of its ancestors, its agent, its description, and its number among equal ones. */
function listPlaces(rows: readonly TreeRow[]): readonly string[] {
  const places: string[] = [];
  const counts = new Map<string, number>();
  return rows.map(({ level, report }) => {
    const name = level === 0 ? 'top' : JSON.stringify([report?.agent, report?.description]);
    const base = `${places[level - 1] ?? ''}/${name}`;
    const count = (counts.get(base) ?? 0) + 1;
    counts.set(base, count);
    const place = `${base}#${count}`;
    places.length = Math.min(places.length, level);
    places[level] = place;
    return place;
  });
}
