import { byteLength, formatDuration, plural } from '../../base/text.ts';
import { plainText } from '../../sys/plain-text.ts';
import type { RunOutcome } from './command-run.ts';
import { leftRunningNote } from './remaining-processes.ts';
import { sandboxNotes, type CommandPlace } from './sandbox-notes.ts';
import type { CommandOutput } from './output-buffer.ts';

export interface RunLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly place: CommandPlace;
}

/** For the notes beside the output. */
const NOTE_BYTES = 2500;

/** The output (beginning and end of a long one), and how the command ended, for the model. */
export function describeRun(outcome: RunOutcome, output: CommandOutput, limits: RunLimits): string {
  if (outcome.startError !== undefined) {
    return `The shell could not be started: ${outcome.startError}`;
  }
  const shown = outputParts(output, limits.maxBytes - NOTE_BYTES);
  const notes = sandboxNotes(outcome, shown.join('\n'), limits.place);
  const parts = [...shown, ...endNotes(outcome, limits), ...notes];
  return parts.filter((part) => part !== '').join('\n');
}

function outputParts(output: CommandOutput, maxBytes: number): string[] {
  const { head, tail, left } = output.kept();
  if (left === 0) {
    const whole = plainText(Buffer.concat([head, tail]).toString('utf8')).trimEnd();
    // Bytes that are no UTF-8 grow when they are shown.
    return [byteLength(whole) <= maxBytes ? whole : `${firstBytes(whole, maxBytes)}… [cut]`];
  }
  const half = Math.floor(maxBytes / 2);
  const start = head.subarray(0, head.lastIndexOf(10) + 1 || head.length);
  const end = tail.subarray(tail.indexOf(10) + 1);
  const missing = output.total - start.length - end.length;
  return [
    firstBytes(plainText(start.toString('utf8')).trimEnd(), half),
    `[… ${plural(missing, 'byte')} left out; ${whereWhole(output)} …]`,
    lastBytes(plainText(end.toString('utf8')).trimEnd(), half),
  ];
}

function whereWhole(output: CommandOutput): string {
  if (output.spillProblem !== undefined) {
    return `the whole could not be kept (${output.spillProblem})`;
  }
  const part = output.isOverSpill ? 'the first part' : 'the whole';
  return `${part} is in ${output.spilledTo ?? 'no file'}: Read it with offset, or Grep it`;
}

function endNotes(outcome: RunOutcome, limits: RunLimits): string[] {
  const left = leftRunningNote(outcome.left);
  const notes = left === null ? [] : [left];
  switch (outcome.endedBy) {
    case 'timeout':
      notes.push(
        `[stopped: not done after ${formatDuration(limits.timeoutMs)}; a longer timeout (up to 600000 ms) may be given]`,
      );
      break;
    case 'cancel':
      notes.push('[stopped: the call was cancelled]');
      break;
    case 'output_limit':
      notes.push('[stopped: it wrote more than the limit of the spill file (output.spill_bytes)]');
      break;
    case 'itself':
      notes.push(endNote(outcome));
  }
  return notes;
}

/** A command that did not keep what it made has not succeeded, whatever its exit code is. */
function endNote({ signal, exitCode, settled }: RunOutcome): string {
  if (signal !== null) return `[ended by ${signal}]`;
  return exitCode === 0 && settled.removed.length > 0
    ? '[it ended without an error, but not all that it made was kept]'
    : `[exit code ${exitCode}]`;
}

function firstBytes(text: string, maxBytes: number): string {
  if (byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text).subarray(0, maxBytes);
  return bytes.toString('utf8').replace(/\uFFFD+$/, '');
}

function lastBytes(text: string, maxBytes: number): string {
  if (byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text);
  return bytes
    .subarray(bytes.length - maxBytes)
    .toString('utf8')
    .replace(/^\uFFFD+/, '');
}
