import { type UsageTotal, knownCost } from '../../../../protocol/state/ledger.ts';
import type { TaskReport } from '../../../../report/task-report.ts';
import type { TreeReport } from '../../../../report/tree-report.ts';
import type { TurnRow } from '../../../../report/turn-rows.ts';

/** Describes a tree for programs: times are milliseconds since the epoch, and each receipt covers one task. */
export function treeJson({ rows, from, to, reported, estimated }: TreeReport): object {
  return {
    from,
    to,
    reported: useJson(reported),
    estimated: useJson(estimated),
    tasks: rows.map(({ id, level, report, problem }) => ({
      task_id: id,
      level,
      problem,
      ...(report === null ? {} : taskJson(report)),
    })),
  };
}

function taskJson(report: TaskReport): object {
  const { parent, agent, description, status, model, receipt } = report;
  return {
    parent,
    subagent_type: agent,
    description,
    status,
    ended_because: report.end?.because ?? null,
    model_used: model,
    created: report.createdAt,
    until: report.until,
    tool_summary: report.tools,
    reported: useJson(report.reported),
    estimated: useJson(report.estimated),
    spans: report.spans,
    rewinds: report.rewinds,
    turns: report.turns.map(turnJson),
    receipt,
    events: report.events,
  };
}

function turnJson(row: TurnRow): object {
  const { turn, at, ms, model, usage, isEstimated, isCut, costUsd, retries, calls, failure } = row;
  return {
    turn,
    at,
    ms,
    model,
    retries,
    calls,
    failure,
    usage,
    estimated: isEstimated,
    cost_usd: costUsd,
    rewound: isCut,
    ...(row.isSummary === undefined ? {} : { summary: true }),
  };
}

function useJson(use: UsageTotal): object {
  const { input, output, cacheRead, cacheWrite } = use.usage;
  return {
    answers: use.answers,
    usage: { input, output, cache_read: cacheRead, cache_write: cacheWrite },
    cost_usd: knownCost(use),
  };
}
