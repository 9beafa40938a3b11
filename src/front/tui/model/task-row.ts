import { laterActivity, type Activity } from '../../../protocol/activity.ts';
import { openQuestions } from '../../../protocol/inbox-state.ts';
import { paidTokens } from '../../../protocol/model.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';
import type { TaskStatus } from '../../../protocol/result.ts';
import type { TaskState } from '../../../protocol/state.ts';
import { endOf } from './cut-text.ts';

/** What the tree shows of a task. */
export interface TaskRow {
  readonly id: string;
  readonly parent: string | null;
  readonly depth: number;
  /** Name of its definition. */
  readonly agent: string;
  readonly description: string;
  readonly status: TaskStatus;
  readonly activity: Activity;
  /** Those that have not ended. */
  readonly openChildren: { readonly size: number };
  readonly parkedOn: readonly string[];
  /** Questions of it that wait for an answer. */
  readonly asks: number;
  /** Why it ended, where that is no success; null: it is at work, or it was one. */
  readonly because: string | null;
  /** The end of what it has said. */
  readonly lastLine: string;
  /** `provider/id`, as answered last or decided on. */
  readonly model: string;
  readonly mode: PermissionMode;
  readonly turns: number;
  readonly tokens: number;
  readonly costUsd: number | null;
  /** When it began to work on what it works on now, by the monotonic clock of this process. */
  readonly since: number;
  /** The same for its end. */
  readonly endedAt: number | null;
}

const MOST_LAST_LINE = 200;

/**
 * `state`: the fold of the task's log by now. `clockShift`: that of this process, which need not be the
 * one that wrote the log.
 */
export function taskRow(state: TaskState, clockShift: number): TaskRow {
  const { spec } = state;
  const behindMs = state.lifetime.newest.clockShift - clockShift;
  return {
    id: spec.id,
    parent: spec.parent,
    depth: spec.depth,
    agent: spec.agent.name,
    description: spec.description,
    status: state.status,
    activity: laterActivity(state.activity, behindMs),
    openChildren: { size: state.openChildren.size },
    parkedOn: state.parkedOn,
    asks: state.questions.size === 0 ? 0 : openQuestions(state).length,
    because: state.end === null || state.end.status === 'completed' ? null : state.end.because,
    lastLine: lastLine(state.lastText),
    model: state.models.at(-1) ?? `${spec.model.provider}/${spec.model.id}`,
    mode: spec.rights.mode,
    turns: state.turns,
    tokens: paidTokens(state.usage),
    costUsd: state.costUsd,
    since: state.stint.since + behindMs,
    endedAt: state.endedAt === null ? null : state.endedAt - clockShift,
  };
}

export function hasEnded({ endedAt }: Pick<TaskRow, 'endedAt'>): boolean {
  return endedAt !== null;
}

function lastLine(text: string): string {
  const end = endOf(text, MOST_LAST_LINE).trimEnd();
  return end.slice(end.lastIndexOf('\n') + 1).trim();
}
