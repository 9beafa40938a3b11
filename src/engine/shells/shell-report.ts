import { formatDuration } from '../../base/text.ts';
import type { ShellState } from '../../protocol/state/owned-work.ts';
import type { ToolCaps } from '../../protocol/tool.ts';
import { readOutputPart, type OutputPart } from './output-part.ts';
import { shortenCommand, describeShellEnd } from './shell-end.ts';

/** For the lines around the output. */
const NOTE_BYTES = 1_000;

export interface ShellReportOptions {
  /** Where in the output to begin, in bytes; null: its end is shown. */
  readonly offset: number | null;
  readonly caps: Pick<ToolCaps, 'resultBytes'>;
  /** The present time, on the timeline of steady times. */
  readonly now: number;
  /** Why not all of the output is in its file; null: it is. */
  readonly problem: string | null;
}

/** State and output of a background shell, and what can be done about it. */
export function formatShellReport(
  id: string,
  shell: ShellState,
  reading: ShellReportOptions,
): string {
  const { command, end, startedAt, output } = shell;
  const { offset, caps, now, problem } = reading;
  const piece = readOutputPart(output, offset, Math.max(1, caps.resultBytes - NOTE_BYTES));
  const options = optionsFor(id, shell, piece);
  return [
    `Shell: ${shortenCommand(command)}`,
    `Status: ${end === null ? 'still running' : describeShellEnd(end)}`,
    `Duration: ${formatDuration(Math.max(0, (end?.at ?? now) - startedAt))}`,
    `Output file: ${output}`,
    '',
    outputText(piece, offset),
    ...(problem === null ? [] : [`[Not all of its output is in the file: ${problem}]`]),
    ...(options.length === 0 ? [] : ['', 'Options:', ...options.map((line) => `  - ${line}`)]),
  ].join('\n');
}

function outputText(piece: OutputPart, offset: number | null): string {
  if (!piece.ok) return `Its output can't be read: ${piece.problem}`;
  const { text, start, end, size } = piece;
  if (size === 0) return 'Output: none';
  if (start >= size) return `Output: nothing from byte ${offset ?? start} on; it has ${size} bytes`;
  const part = start === 0 && end === size ? '' : `, bytes ${start} to ${end} of ${size}`;
  return `Output${part}:\n${text}`;
}

function optionsFor(id: string, { end }: ShellState, piece: OutputPart): readonly string[] {
  const task = `task_id: "${id}"`;
  const isRunning = end === null;
  const options: string[] = [];
  if (isRunning) {
    options.push(
      `Wait longer: TaskOutput(${task}, timeout: 60000)`,
      `Check: TaskOutput(${task}, block: false)`,
      `Stop: TaskStop(${task})`,
    );
  }
  if (!piece.ok || piece.size === 0) return options;
  if (piece.start > 0) options.push(`From the start: TaskOutput(${task}, offset: 0)`);
  if (isRunning || piece.end < piece.size) {
    options.push(`Read on: TaskOutput(${task}, block: false, offset: ${piece.end})`);
  }
  return options;
}
