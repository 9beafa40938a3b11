import { formatDuration } from '../../base/text.ts';
import type { ShellState } from '../../protocol/state/owned-work.ts';
import type { ToolCaps } from '../../protocol/tool.ts';
import { readOutputPart, type OutputPart } from './output-part.ts';
import { shortenCommand, describeShellEnd } from './shell-end.ts';

/** The bytes of a report that are left for the lines around the output. */
const NOTE_BYTES = 1_000;

/** The parameters of a report about a shell. */
export interface ShellReportOptions {
  /** The byte of the output to begin at; null for the end of the output. */
  readonly offset: number | null;
  readonly caps: Pick<ToolCaps, 'resultBytes'>;
  /** The present time on the steady clock, in milliseconds. */
  readonly now: number;
  /** The reason why output is missing in its file; null when none is known. */
  readonly problem: string | null;
}

/** Formats the state and the output of a background shell, with the calls that are possible next. */
export function formatShellReport(
  id: string,
  shell: ShellState,
  { offset, caps, now, problem }: ShellReportOptions,
): string {
  const { command, end, startedAt, output } = shell;
  const part = readOutputPart(output, offset, Math.max(1, caps.resultBytes - NOTE_BYTES));
  const options = optionsFor(id, shell, part);
  return [
    `Shell: ${shortenCommand(command)}`,
    `Status: ${end === null ? 'still running' : describeShellEnd(end)}`,
    `Duration: ${formatDuration(Math.max(0, (end?.at ?? now) - startedAt))}`,
    `Output file: ${output}`,
    '',
    formatOutput(part, offset),
    ...(problem === null ? [] : [`[Not all of its output is in the file: ${problem}]`]),
    ...(options.length === 0 ? [] : ['', 'Options:', ...options.map((line) => `  - ${line}`)]),
  ].join('\n');
}

function formatOutput(part: OutputPart, offset: number | null): string {
  if (!part.ok) return `Its output can't be read: ${part.problem}`;
  const { text, start, end, size } = part;
  if (size === 0) return 'Output: none';
  if (start >= size) return `Output: nothing from byte ${offset ?? start} on; it has ${size} bytes`;
  const range = start === 0 && end === size ? '' : `, bytes ${start} to ${end} of ${size}`;
  return `Output${range}:\n${text}`;
}

function optionsFor(id: string, { end }: ShellState, part: OutputPart): readonly string[] {
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
  if (!part.ok || part.size === 0) return options;
  if (part.start > 0) options.push(`From the start: TaskOutput(${task}, offset: 0)`);
  if (isRunning || part.end < part.size) {
    options.push(`Read on: TaskOutput(${task}, block: false, offset: ${part.end})`);
  }
  return options;
}
