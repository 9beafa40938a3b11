import { titleOf } from '../../base/title.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';
import type { TaskSummary, WorkspaceSummary } from '../../api/index.ts';
import { modelName, paidTokens } from '../../protocol/model.ts';
import { addUsageTotals, sumLedger, type Ledger } from '../../protocol/state/ledger.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { openQuestions } from '../../protocol/state/questions.ts';
import { toSourcePath } from '../../protocol/workspace-paths.ts';
import { formatUsage } from '../../report/figures.ts';
import { findPhase } from '../../report/timeline.ts';
import type { TaskRow } from './wire.ts';

/** The maximum length of a title, in code points. The index of the tasks keeps no more. */
const MAX_TITLE_LENGTH = 120;

/** The workspaces of tasks by the ids of the tasks. */
export type WorkspacesById = ReadonlyMap<string, WorkspaceSummary>;

/** Creates the row of a task that is not at work. Its `ledger` must be known. */
export function rowFromSummary(summary: TaskSummary, workspaces: WorkspacesById): TaskRow {
  const { id, root, parent, depth, agent, model, status, cwd, created, ended, turns } = summary;
  return {
    id,
    root,
    parent,
    depth,
    agent,
    title: toTitle(summary.description, parent),
    model,
    status,
    cwd,
    created,
    ended,
    turns,
    calls: null,
    ...sumUsage(summary.ledger ?? []),
    doing: status === 'parked' ? { kind: 'person', detail: 'parked' } : null,
    questions: summary.questions?.map((question) => question.id) ?? [],
    reused: summary.reused ?? null,
    workspace: describeWorkspace(id, workspaces),
  };
}

/** Creates the row of a task at work from the state that its events have made. */
export function rowFromState(state: TaskState, workspaces: WorkspacesById): TaskRow {
  const { spec, models, toolCounts, ledger, turns, status } = state;
  const { id, root, parent, depth, workspace } = spec;
  const isConversation = parent === null && workspace !== undefined;
  const phase = findPhase(state);
  return {
    id,
    root,
    parent,
    depth,
    agent: spec.agent.name,
    title: toTitle(truncate(spec.description, MAX_TITLE_LENGTH), parent),
    model: models.at(-1) ?? modelName(spec.model),
    status,
    cwd: isConversation ? (toSourcePath(spec.cwd, workspace) ?? spec.cwd) : spec.cwd,
    created: state.createdAt,
    ended: state.endedAt,
    turns,
    calls: [...toolCounts.values()].reduce((sum, count) => sum + count, 0),
    ...sumUsage(ledger),
    doing: phase === null ? null : { kind: phase.kind, detail: collapseWhitespace(phase.detail) },
    questions: openQuestions(state).map((question) => question.id),
    reused: state.reused?.of ?? null,
    workspace: describeWorkspace(id, workspaces),
  };
}

/** Orders rows from new to old, and those with equal times by id, so that the order is always the same. */
export function compareRowsNewestFirst(a: TaskRow, b: TaskRow): number {
  return b.created - a.created || (a.id < b.id ? -1 : 1);
}

/** Names a task on one line, as `muster tasks list` does. */
export function toTitle(description: string, parent: string | null): string {
  const title = parent === null ? titleOf(description) || description : description;
  return collapseWhitespace(title);
}

function sumUsage(ledger: Ledger): Pick<TaskRow, 'paidTokens' | 'tokens' | 'costUsd' | 'cost'> {
  const reported = sumLedger(ledger, { isEstimated: false });
  const estimated = sumLedger(ledger, { isEstimated: true });
  const { usage, costUsd } = addUsageTotals(reported, estimated);
  return { paidTokens: paidTokens(usage), costUsd, ...formatUsage({ reported, estimated }) };
}

function describeWorkspace(id: string, workspaces: WorkspacesById): TaskRow['workspace'] {
  const workspace = workspaces.get(id);
  if (workspace === undefined) return null;
  const { kind, branch, landing } = workspace;
  return { kind, branch, landing };
}
