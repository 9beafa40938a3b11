import type { TaskEvent } from '../protocol/events/event.ts';
import type { AnswerUsage } from '../protocol/used.ts';
import { toolCalls } from '../protocol/message.ts';
import type { Usage } from '../protocol/model.ts';

/** One model request, with what came of it. */
export interface TurnRow {
  readonly turn: number;
  /** The number of the event that began it. */
  readonly seq: number;
  /** A rewind has taken it out of the conversation. */
  readonly isCut: boolean;
  /** When it was asked first, in milliseconds since the epoch. */
  readonly at: number;
  /** Until its answer ended or was given up; null: it is under way, or nobody saw its end. */
  readonly ms: number | null;
  /** `provider/id`. */
  readonly model: string;
  /** The provider's own, or the estimate where it gave none; null: there is neither yet. */
  readonly usage: Usage | null;
  readonly isEstimated: boolean;
  /** USD; null: not known. */
  readonly costUsd: number | null;
  /** How often it was sent again. */
  readonly retries: number;
  /** Names of the tools that the answer calls, in its order. */
  readonly calls: readonly string[];
  /** It asks for a summary of its context, before that turn. */
  readonly isSummary?: true;
  /** That is one of its parent's conversation. */
  readonly isOfParent?: true;
  /** Null: it did not fail. */
  readonly failure: string | null;
}

/** The rows after one more event; a turn that is asked once more is still one row. */
export function addToTurns(rows: TurnRow[], event: TaskEvent): void {
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
      change(rows, event.turn, (row) => ({
        ...row,
        ...useOf(event),
        ms: Math.max(0, event.ts - row.at),
        model: event.model,
        failure: event.type === 'summary.refused' ? event.because : null,
      }));
      return;
    case 'turn.retried':
      change(rows, event.turn, (row) => ({ ...row, retries: row.retries + 1 }));
      return;
    case 'turn.ended':
      change(rows, event.turn, (row) => ({
        ...row,
        ...useOf(event),
        ms: Math.max(0, event.ts - row.at),
        model: event.model,
        calls: toolCalls(event.message).map(({ name }) => name),
      }));
      return;
    case 'turn.failed':
      change(rows, event.turn, (row) => ({
        ...row,
        ...useOf(event),
        ms: Math.max(0, event.ts - row.at),
        failure: event.failure.message,
      }));
      return;
    default:
  }
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
