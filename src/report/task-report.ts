import { buildReceipt } from '../receipts/receipt.ts';
import { LogFold, type RescanLog } from '../engine/task/fold-log.ts';
import type { EndReason } from '../protocol/end-reason.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import { sumLedger, type UsageTotal } from '../protocol/state/ledger.ts';
import { modelName } from '../protocol/model.ts';
import type { Receipt, TaskStatus } from '../protocol/result.ts';
import { liveEventFilter } from '../protocol/events/rewound.ts';
import type { Span } from './span.ts';
import { Timeline } from './timeline.ts';
import { addTurnEvent, type TurnRow } from './turn-rows.ts';
import type { ChangedPaths } from '../protocol/state/overlaps.ts';
import {
  listChangedPaths,
  viewWorkspace,
  type WorkspaceView,
} from '../protocol/state/workspace-view.ts';
import type { LandingState } from '../protocol/workspace.ts';
import type { BoardFinding } from '../protocol/board.ts';
import type { TaskState } from '../protocol/state/task-state.ts';

/** A task as its log describes it. Times are milliseconds since the epoch. */
export interface TaskReport {
  readonly id: string;
  readonly parent: string | null;
  /** The name of the task's agent definition. */
  readonly agent: string;
  readonly description: string;
  readonly prompt: string;
  readonly status: TaskStatus;
  readonly end: EndReason | null;
  /** The full answer, or the part that exists. */
  readonly result: string;
  /** The `provider/id` of the model that answered last, or of the chosen model if none has answered yet. */
  readonly model: string;
  readonly createdAt: number;
  /** The time of the task's end or, without an end, of its last event. For a running task, the present time. */
  readonly until: number;
  readonly spans: readonly Span[];
  readonly turns: readonly TurnRow[];
  readonly tools: readonly { readonly tool: string; readonly count: number }[];
  readonly toolCalls: number;
  /** The usage of this task, without its children, that the provider reported. */
  readonly reported: UsageTotal;
  /** The usage of this task, without its children, that was estimated. */
  readonly estimated: UsageTotal;
  readonly receipt: Receipt;
  readonly warnings: readonly string[];
  /** The findings in the log of the task. */
  readonly findings: readonly BoardFinding[];
  readonly events: number;
  /** The rewinds of the task. */
  readonly rewinds: readonly RewindRow[];
  /** The workspace of the task; null if it has none. */
  readonly workspace: ReportedWorkspace | null;
}

/** The workspace of a task, with the files that the task has changed there. */
export interface ReportedWorkspace extends WorkspaceView, ChangedPaths {
  readonly landing: LandingState;
  /** True if the task has ended and left changes. */
  readonly hasLeftChanges: boolean;
}

/** A rewind of a task. */
export interface RewindRow {
  /** The number of the event that records the rewind. */
  readonly seq: number;
  /** The number of the event to which the rewind went back. */
  readonly to: number;
  readonly at: number;
  readonly files: number;
}

/** The moment of a report. */
interface ReportedMoment {
  readonly isOwned: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly landing: LandingState;
}

/** Builds the report of a task in one pass over its events, in order. */
export class TaskReportFold {
  private readonly fold: LogFold;
  private readonly timeline = new Timeline();
  private readonly turns: TurnRow[] = [];
  private readonly rewinds: RewindRow[] = [];
  private events = 0;

  /** @param readAgain reads the events of the log again */
  constructor(readAgain: RescanLog) {
    this.fold = new LogFold(readAgain);
  }

  readonly add = (event: TaskEvent): void => {
    this.fold.add(event);
    this.events += 1;
    const { state } = this.fold;
    if (state === null) return;
    this.timeline.add(event, state);
    addTurnEvent(this.turns, event);
    if (event.type === 'task.rewound') this.recordRewind(event);
  };

  private recordRewind({
    seq,
    ts: at,
    to,
    files,
  }: Extract<TaskEvent, { type: 'task.rewound' }>): void {
    this.rewinds.push({ seq, to, at, files: files.length });
    const isLive = liveEventFilter(this.rewinds, seq);
    for (const [index, turn] of this.turns.entries()) {
      this.turns[index] = { ...turn, isCut: !isLive(turn.seq) };
    }
  }

  /**
   * Returns the report, or null if the event with the specification is missing.
   *
   * @param at `isOwned` is whether a living process runs the task; `landing`: what has become of its changes
   */
  report(at: ReportedMoment): TaskReport | null {
    const { state } = this.fold;
    if (state === null) return null;
    const status = findStatus(state, at);
    const isActive = status === 'running' || status === 'queued' || status === 'parked';
    // The clock may have been set back, so `now` may be before the last event.
    const lastKnown = Math.max(isActive ? at.now : state.createdAt, this.timeline.last);
    const until = state.endedAt === null ? lastKnown : Math.max(state.endedAt, state.createdAt);
    const { spec } = state;
    const tools = Array.from(state.toolCounts, ([tool, count]) => ({ tool, count }));
    return {
      id: spec.id,
      parent: spec.parent,
      agent: spec.agent.name,
      description: spec.description,
      prompt: spec.prompt,
      status,
      end: state.end,
      result: state.end === null ? state.lastText : state.result,
      model: state.models.at(-1) ?? modelName(spec.model),
      createdAt: state.createdAt,
      until,
      spans: this.timeline.spans(until),
      turns: this.turns,
      tools,
      toolCalls: tools.reduce((sum, { count }) => sum + count, 0),
      reported: sumLedger(state.ledger, { isEstimated: false }),
      estimated: sumLedger(state.ledger, { isEstimated: true }),
      receipt: buildReceipt({ ...state, status }),
      warnings: state.warnings,
      findings: state.findings,
      events: this.events,
      rewinds: this.rewinds,
      workspace: reportWorkspace({ ...state, status }, at.landing),
    };
  }
}

function reportWorkspace(state: TaskState, landing: LandingState): ReportedWorkspace | null {
  const view = viewWorkspace(state, landing);
  const { id, workspace } = state.spec;
  if (view === null || workspace === undefined) return null;
  const { source } = workspace;
  const hasLeftChanges = state.workspace.left?.isChanged === true;
  return { ...view, id, source, paths: listChangedPaths(state), landing, hasLeftChanges };
}

/** Returns the status of a task. A task without an end and without an owner was interrupted. */
function findStatus(state: TaskState, { isOwned }: { readonly isOwned: boolean }): TaskStatus {
  const wasInterrupted = state.end === null && !isOwned && state.status !== 'parked';
  return wasInterrupted ? 'interrupted' : state.status;
}
