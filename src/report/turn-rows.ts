import type { TaskEvent } from '../protocol/events/event.ts';
import type { AnswerUsage } from '../protocol/used.ts';
import { toolCalls } from '../protocol/message.ts';
import type { Usage } from '../protocol/model.ts';
import { readSentCall } from '../protocol/sent-call.ts';

/** One turn: a request to a model and its outcome. */
export interface TurnRow {
  readonly turn: number;
  /** The number of the turn's first event. */
  readonly seq: number;
  /** Whether a rewind has removed the turn from the conversation. */
  readonly isCut: boolean;
  /** The time of the turn's first request, in milliseconds since the epoch. */
  readonly at: number;
  /** The milliseconds until the answer ended or failed, or null if no end is recorded. */
  readonly ms: number | null;
  /** The `provider/id` of the model. */
  readonly model: string;
  /**
   * The usage that the provider reported, or the estimate if it reported none, or null if neither exists yet.
   */
  readonly usage: Usage | null;
  readonly isEstimated: boolean;
  /** The cost in USD, or null if it is not known. */
  readonly costUsd: number | null;
  /** The number of retries after the first request. */
  readonly retries: number;
  /** The names of the tools that the answer calls, in order. */
  readonly calls: readonly string[];
  /** True if the request asks for a summary of the context before this turn. */
  readonly isSummary?: true;
  /** True if it is a summary of the parent's conversation. */
  readonly isOfParent?: true;
  /** The failure, or null if the turn did not fail. */
  readonly failure: string | null;
}

/** Adds an event to the rows. A turn that is requested again remains one row. */
export function addTurnEvent(rows: TurnRow[], event: TaskEvent): void {
  switch (event.type) {
    case 'turn.started':
      beginRow(rows, event);
      return;
    case 'summary.started':
      beginRow(rows, event, {
        isSummary: true,
        ...(event.of === undefined ? {} : { isOfParent: true }),
      });
      return;
    case 'context.summarised':
    case 'summary.refused':
      endRow(rows, event, {
        model: event.model,
        failure: event.type === 'summary.refused' ? event.because : null,
      });
      return;
    case 'turn.retried':
      changeRow(rows, event.turn, (row) => ({ ...row, retries: row.retries + 1 }));
      return;
    case 'turn.ended': {
      const calls = toolCalls(event.message).map((call) => readSentCall(call).name);
      endRow(rows, event, { model: event.model, calls });
      return;
    }
    case 'turn.failed':
      endRow(rows, event, { failure: event.failure.message });
      return;
    default:
  }
}

/** Records that the request of a turn has ended, with its usage and outcome. */
function endRow(
  rows: TurnRow[],
  event: AnswerUsage & { readonly turn: number; readonly ts: number },
  outcome: Partial<TurnRow>,
): void {
  changeRow(rows, event.turn, (row) => ({
    ...row,
    ...readUsage(event),
    ms: Math.max(0, event.ts - row.at),
    ...outcome,
  }));
}

function beginRow(
  rows: TurnRow[],
  { turn, seq, ts, model }: Extract<TaskEvent, { type: 'turn.started' | 'summary.started' }>,
  summary: Pick<TurnRow, 'isSummary' | 'isOfParent'> = {},
): void {
  const last = rows.at(-1);
  if (last?.turn === turn && last.ms === null && !last.isCut) return;
  rows.push({
    turn,
    seq,
    isCut: false,
    at: ts,
    ms: null,
    model,
    usage: null,
    isEstimated: false,
    costUsd: null,
    retries: 0,
    calls: [],
    failure: null,
    ...summary,
  });
}

function changeRow(rows: TurnRow[], turn: number, update: (row: TurnRow) => TurnRow): void {
  const at = rows.findLastIndex((row) => row.turn === turn);
  const row = rows[at];
  if (row !== undefined) rows[at] = update(row);
}

function readUsage({
  usage,
  costUsd = null,
  estimated,
}: AnswerUsage): Pick<TurnRow, 'usage' | 'costUsd' | 'isEstimated'> {
  if (estimated === undefined) return { usage, costUsd, isEstimated: false };
  return { usage: estimated.usage, costUsd: estimated.costUsd, isEstimated: true };
}
