import type { Use } from '../../../../protocol/ledger.ts';
import type { TaskReport } from '../../../../api/report/task-report.ts';
import type { TreeReport } from '../../../../api/report/tree-report.ts';
import { knownCost } from '../../../../protocol/ledger.ts';

/** For programs: times are milliseconds since the epoch, receipts those of each task alone. */
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
    turns: report.turns.map(({ costUsd, isEstimated, usage, seq: _, isCut, ...turn }) => ({
      ...turn,
      usage,
      estimated: isEstimated,
      cost_usd: costUsd,
      rewound: isCut,
    })),
    receipt,
    events: report.events,
  };
}

function useJson(use: Use): object {
  const { input, output, cacheRead, cacheWrite } = use.usage;
  return {
    answers: use.answers,
    usage: { input, output, cache_read: cacheRead, cache_write: cacheWrite },
    cost_usd: knownCost(use),
  };
}
