import type { TaskEvent } from '../../../../api/index.ts';
import { toPrintableJson } from '../../../../base/printable-json.ts';
import { sanitizeForTerminal } from '../../../../base/terminal-text.ts';
import { truncate } from '../../../../base/text.ts';
import { TASK_VALUES } from '../../completion-values.ts';
import { printPieces } from './print.ts';
import { defineTasksCommand } from './with-tasks.ts';

const SHOWN_DETAIL = 200;

/** `muster tasks log`. JSON prints the events as they are in the log, one on each line. */
export const tasksLogCommand = defineTasksCommand({
  words: 'tasks log',
  summary: 'the events of one task',
  operands: [{ name: 'ID', completes: TASK_VALUES }],
  flags: ['from'],
  flagDetails: { from: { value: 'N', help: 'the number of the first event' } },
  examples: ['muster tasks log 4f2k9x --json', 'muster tasks log 4f2k9x --from 120'],
  parse: ({ operands: [id = ''], flags }) => ({ id, from: flags.count('from', 0) ?? 0 }),
  run: (tasks, { id, from, json }) =>
    printPieces(lines(tasks.events(id, from), json ? toPrintableJson : textLine)),
});

async function* lines(
  events: AsyncIterable<TaskEvent>,
  toLine: (event: TaskEvent) => string,
): AsyncGenerator<string, void, undefined> {
  for await (const event of events) yield `${toLine(event)}\n`;
}

function textLine(event: TaskEvent): string {
  const { v: _, task: _task, epoch: _epoch, seq, ts, type, ...rest } = event;
  const detail = JSON.stringify(rest);
  const shown = truncate(detail, SHOWN_DETAIL);
  // The repairs come last in the event of an answer. They are repeated after the cut, which would hide them.
  const cut = shown.length < detail.length ? `…${repairsText(event)}` : '';
  return sanitizeForTerminal(
    `${String(seq).padStart(4)} ${localTime(ts)} ${type.padEnd(14)} ${shown}${cut}`,
    'exact',
  );
}

function repairsText(event: TaskEvent): string {
  const repairs = 'repairs' in event ? Object.entries(event.repairs ?? {}) : [];
  if (repairs.length === 0) return '';
  return ` repaired: ${repairs.map(([repair, count]) => `${repair} × ${count}`).join(', ')}`;
}

/** Formats a time in the local time zone: `17:05:09.120`. A number that is no time gives a text of the same width. */
export function localTime(ms: number): string {
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return 'no date'.padEnd(12);
  const [hours, minutes, seconds] = [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) =>
    String(part).padStart(2, '0'),
  );
  return `${hours}:${minutes}:${seconds}.${String(at.getMilliseconds()).padStart(3, '0')}`;
}
