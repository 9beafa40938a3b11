import { selectOwnFindings } from '../../../protocol/board.ts';
import { shiftActivity, type Activity } from '../../../protocol/state/activity.ts';
import { sumLedger } from '../../../protocol/state/ledger.ts';
import { openQuestions } from '../../../protocol/state/questions.ts';
import { paidTokens } from '../../../protocol/model.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';
import type { TaskStatus } from '../../../protocol/result.ts';
import type { TaskState } from '../../../protocol/state/task-state.ts';
import { viewWorkspace, type WorkspaceView } from '../../../protocol/state/workspace-view.ts';
import type { LandingState } from '../../../protocol/workspace.ts';
import { textEnd } from './cut-text.ts';

/** A task as the tree shows it. */
export interface TreeTask {
  readonly id: string;
  readonly parent: string | null;
  readonly depth: number;
  /** The name of the agent definition of the task. */
  readonly agent: string;
  readonly description: string;
  readonly status: TaskStatus;
  readonly activity: Activity;
  /** The children that have not ended. */
  readonly openChildren: { readonly size: number };
  /** The ids of the questions for which the task is parked; empty if it is not parked. */
  readonly parkedOn: readonly string[];
  /** The number of questions of the task that wait for an answer. */
  readonly openQuestionCount: number;
  /** The number of calls that the user refused. */
  readonly refusedCount: number;
  /** The number of findings that the task has posted on the board. */
  readonly findingCount: number;
  /** The reason why the task ended; null if it is at work or completed. */
  readonly endReason: string | null;
  /** The last line of the last answer of the task. */
  readonly lastLine: string;
  /** The model of the last answer, as `provider/id`; before the first answer, the model that was chosen for the task. */
  readonly model: string;
  readonly mode: PermissionMode;
  /** The effort of its requests; null for the default of the model. */
  readonly effort: string | null;
  /** The tokens of its conversation, as the provider counted them last; null if they are not known. */
  readonly contextTokens: number | null;
  readonly turns: number;
  readonly tokens: number;
  /** The cost in USD; null if the price of an answer is not known. */
  readonly costUsd: number | null;
  /** The cost of the answers with a known price, in USD. */
  readonly pricedUsd: number;
  /** The workspace of the task, as long as its changes have not landed; null if it has none. */
  readonly workspace: WorkspaceView | null;
  /** The state of its changes. */
  readonly landing: LandingState;
  /** The time when the current work of the task began, by the monotonic clock of this process. */
  readonly since: number;
  /** The time when the task ended, by the same clock; null if it has not ended. */
  readonly endedAt: number | null;
}

const MAX_LAST_LINE = 200;

/**
 * Creates the row of a task from the fold of its log. `clockShift` is the clock shift of this process. It converts
 * the times of the log to the clock of this process, because another process may have written the log.
 */
export function taskRow(state: TaskState, clockShift: number): TreeTask {
  const { spec } = state;
  const behindMs = state.lifetime.newest.clockShift - clockShift;
  return {
    id: spec.id,
    parent: spec.parent,
    depth: spec.depth,
    agent: spec.agent.name,
    description: spec.description,
    status: state.status,
    activity: shiftActivity(state.activity, behindMs),
    openChildren: { size: state.openChildren.size },
    parkedOn: state.parkedOn,
    openQuestionCount: state.questions.size === 0 ? 0 : openQuestions(state).length,
    refusedCount: state.denials.length,
    findingCount:
      state.findings.length === 0 ? 0 : selectOwnFindings(state.findings, spec.id).length,
    endReason: state.end === null || state.end.status === 'completed' ? null : state.end.because,
    lastLine: lastLine(state.lastText),
    model: state.models.at(-1) ?? `${spec.model.provider}/${spec.model.id}`,
    mode: spec.rights.mode,
    effort: spec.agent.effort ?? null,
    contextTokens: state.conversation.compaction.counted?.tokens ?? null,
    turns: state.turns,
    tokens: paidTokens(state.usage),
    costUsd: state.costUsd,
    pricedUsd: state.costUsd ?? sumLedger(state.ledger, { isEstimated: false }).costUsd,
    workspace: viewWorkspace(state, 'open'),
    landing: 'open',
    since: state.activation.since + behindMs,
    endedAt: state.endedAt === null ? null : state.endedAt - clockShift,
  };
}

export function hasEnded({ endedAt }: Pick<TreeTask, 'endedAt'>): boolean {
  return endedAt !== null;
}

/** Returns the last line of an answer without the marks of a heading. */
function lastLine(text: string): string {
  const end = textEnd(text, MAX_LAST_LINE).trimEnd();
  const line = end.slice(end.lastIndexOf('\n') + 1).trim();
  return line.replace(/^#{1,6} +/, '');
}
