import type { TaskEvent, Tasks } from '../../../../api/index.ts';
import { jsonText } from '../../../../base/json-text.ts';
import { terminalText } from '../../../../base/terminal-text.ts';
import { truncate } from '../../../../base/text.ts';
import { printPieces } from './print.ts';
import { localTime } from './time.ts';

const SHOWN_DETAIL = 200;

interface TaskLogQuery {
  readonly id: string;
  readonly from: number;
  readonly json: boolean;
}

/** `muster tasks log`. JSON: the events as they stand in the log, a line each. */
export async function showLog(tasks: Tasks, { id, from, json }: TaskLogQuery): Promise<number> {
  await printPieces(lines(tasks.events(id, from), json ? jsonLine : textLine));
  return 0;
}

async function* lines(
  events: AsyncIterable<TaskEvent>,
  toLine: (event: TaskEvent) => string,
): AsyncGenerator<string, void, undefined> {
  for await (const event of events) yield `${toLine(event)}\n`;
}

function jsonLine(event: TaskEvent): string {
  return jsonText(event);
}

function textLine(event: TaskEvent): string {
  const { v: _, task: _task, epoch: _epoch, seq, ts, type, ...rest } = event;
  const detail = JSON.stringify(rest);
  const shown = truncate(detail, SHOWN_DETAIL);
  // Behind the message of an answer they would be cut off.
  const cut = shown.length < detail.length ? `…${repairsText(event)}` : '';
  return terminalText(
    `${String(seq).padStart(4)} ${localTime(ts)} ${type.padEnd(14)} ${shown}${cut}`,
    'exact',
  );
}

function repairsText(event: TaskEvent): string {
  const repairs = 'repairs' in event ? Object.entries(event.repairs ?? {}) : [];
  if (repairs.length === 0) return '';
  return ` repaired: ${repairs.map(([repair, count]) => `${repair} × ${count}`).join(', ')}`;
}
