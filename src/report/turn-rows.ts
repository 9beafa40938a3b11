import type { TaskEvent } from '../protocol/events/event.ts';
import type { AnswerUsage } from '../protocol/used.ts';
import { toolCalls } from '../protocol/message.ts';
import type { Usage } from '../protocol/model.ts';

/** One model request and its outcome. */
export interface TurnRow {
  readonly turn: number;
  /** The number of its first event. */
  readonly seq: number;
  /** True if a rewind has removed it from the conversation. */
  readonly isCut: boolean;
  /** The time of its first request, in milliseconds since the epoch. */
  readonly at: number;
  /** The time until its answer ended or was given up, or null if no end is recorded. */
  readonly ms: number | null;
  /** `provider/id`. */
  readonly model: string;
  /**
   * The usage that the provider reported, or the estimate if it reported none, or null if neither exists yet.
   */
  readonly usage: Usage | null;
  readonly isEstimated: boolean;
  /** USD, or null if it is not known. */
  readonly costUsd: number | null;
  /** The number of further tries. */
  readonly retries: number;
  /** Names of the tools that the answer calls, in its order. */
  readonly calls: readonly string[];
  /** True if it asks for a summary of the context before that turn. */
  readonly isSummary?: true;
  /** True if that is a summary of the parent's conversation. */
  readonly isOfParent?: true;
  /** The failure, or null if it did not fail. */
  readonly failure: string | null;
}

/** Adds an event to the rows. A turn that is requested again remains one row. */
export function addTurnEvent(rows: TurnRow[], event: TaskEvent): void {
  switch (event.type) {
    case 'turn.started':
      begin(rows, event);
      return;
    case 'summary.started':
      begin(rows, event, {
        isSummary: true,
        ...(event.of === undefined ? {} : { isOfParent: true }),
      });
      return;
    case 'context.summarised':
    case 'summary.refused':
      end(rows, event, {
        model: event.model,
        failure: event.type === 'summary.refused' ? event.because : null,
      });
      return;
    case 'turn.retried':
      change(rows, event.turn, (row) => ({ ...row, retries: row.retries + 1 }));
      return;
    case 'turn.ended': {
      const calls = toolCalls(event.message).map(({ name }) => name);
      end(rows, event, { model: event.model, calls });
      return;
    }
    case 'turn.failed':
      end(rows, event, { failure: event.failure.message });
      return;
    default:
  }
}

/** Records that the request of a turn has ended, with its use and what else is known of it. */
function end(
  rows: TurnRow[],
  event: AnswerUsage & { readonly turn: number; readonly ts: number },
  outcome: Partial<TurnRow>,
): void {
  change(rows, event.turn, (row) => ({
    ...row,
    ...useOf(event),
    ms: Math.max(0, event.ts - row.at),
    ...outcome,
  }));
}

function begin(
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

function change(rows: TurnRow[], turn: number, next: (row: TurnRow) => TurnRow): void {
  const at = rows.findLastIndex((row) => row.turn === turn);
  const row = rows[at];
  if (row !== undefined) rows[at] = next(row);
}

function useOf({
  usage,
  costUsd = null,
  estimated,
}: AnswerUsage): Pick<TurnRow, 'usage' | 'costUsd' | 'isEstimated'> {
  if (estimated === undefined) return { usage, costUsd, isEstimated: false };
  return { usage: estimated.usage, costUsd: estimated.costUsd, isEstimated: true };
}
