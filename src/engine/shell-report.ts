import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { errorMessage } from '../base/errors.ts';
import { formatDuration } from '../base/text.ts';
import type { ShellState } from '../protocol/belongings.ts';
import type { ToolCaps, ToolOutput } from '../protocol/tool.ts';
import { plainText } from '../sys/plain-text.ts';
import { describeEnd, shellNoticeId } from './background-shells.ts';

/** For the lines around the output. */
const NOTE_BYTES = 1_000;

export interface ShellReading {
  /** Bytes of the output to leave out; 0: its end is shown, what comes before is left out. */
  readonly offset: number;
  readonly caps: ToolCaps;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** State and output of a background shell, for TaskOutput. */
export function shellReport(
  id: string,
  shell: ShellState,
  { offset, caps, now }: ShellReading,
): ToolOutput {
  const { command, end, startedAt, output } = shell;
  const status = end === null ? 'still running' : describeEnd(end);
  const head = [
    `Shell: ${command}`,
    `Status: ${status}`,
    `Duration: ${formatDuration((end?.at ?? now) - startedAt)}`,
  ];
  const options =
    end === null
      ? ['', 'Options:', `  - Stop: TaskStop(task_id: "${id}")`, `  - Read on: offset`]
      : [];
  const written = readPiece(output, offset, Math.max(0, caps.resultBytes - NOTE_BYTES));
  const text = [...head, '', written, ...options].join('\n').trimEnd();
  return end === null ? { text } : { text, told: [shellNoticeId(id)] };
}

function readPiece(path: string, offset: number, most: number): string {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (thrown) {
    return `Its output can't be read: ${errorMessage(thrown)}`;
  }
  try {
    const { size } = fstatSync(fd);
    if (offset >= size && size > 0) return `[Nothing from byte ${offset} on; ${size} bytes so far]`;
    const start = offset > 0 ? offset : Math.max(0, size - most);
    const bytes = Buffer.alloc(Math.min(most, size - start));
    const count = readSync(fd, bytes, 0, bytes.length, start);
    const text = plainText(bytes.subarray(0, count).toString('utf8')).trimEnd();
    return `Output, bytes ${start} to ${start + count} of ${size}:\n${text}`;
  } finally {
    closeSync(fd);
  }
}
