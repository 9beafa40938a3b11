import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { ToolOutput, ToolCaps } from '../../protocol/tool.ts';
import { describeRemoteEnd, describeShellEnd } from '../../protocol/state/task-texts.ts';
import { shellNoticeId, shortenCommand } from '../shells/shell-end.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { EngineContext } from '../delegation/engine-context.ts';
import { formatDuration, byteLength } from '../../base/text.ts';
import type { ShellState } from '../../protocol/state/owned-work.ts';
import { errorMessage } from '../../base/errors.ts';
import { plainText } from '../../sys/plain-text.ts';

/** A task's request to read a shell. */
interface ShellReadRequest {
  readonly caller: TaskRun;
  /** The task that started the shell; undefined if it does not run any more. */
  readonly owner: TaskRun | undefined;
  readonly id: string;
  /** The byte of the output to begin at; null for the end of the output. */
  readonly offset: number | null;
}

/** Reads a shell for a task. A task that reads the end of its own shell needs no notice of that end. */
export function readShellForTask(
  { deps: { settings, clock } }: EngineContext,
  { caller, owner, id, offset }: ShellReadRequest,
): ToolOutput {
  const shell = owner?.state.shells.get(id);
  if (owner === undefined || shell === undefined) {
    return { text: `task_id: shell ${id} is gone with its task`, error: 'NOT_FOUND' };
  }
  const text = formatShellReport(id, shell, {
    offset,
    caps: settings.caps,
    now: clock.monotonic(),
    problem: owner.shells.outputProblem(id),
  });
  return shell.end !== null && owner === caller ? { text, told: [shellNoticeId(id)] } : { text };
}

/** The bytes of a report that are reserved for the lines around the output. */
const NOTE_BYTES = 1_000;

/** The parameters of a report about a shell. */
interface ShellReportOptions {
  /** The byte of the output to begin at; null for the end of the output. */
  readonly offset: number | null;
  readonly caps: Pick<ToolCaps, 'resultBytes'>;
  /** The present time on the steady clock, in milliseconds. */
  readonly now: number;
  /** The reason why output is missing in the file; null when none is known to be missing. */
  readonly problem: string | null;
}

/** Formats the state and the output of a background shell, with the calls that are possible next. */
function formatShellReport(
  id: string,
  shell: ShellState,
  { offset, caps, now, problem }: ShellReportOptions,
): string {
  const { command, end, startedAt, output, remote } = shell;
  const isRemote = remote !== null;
  // The beginning of a result matters more than its end.
  const from = isRemote && end !== null ? (offset ?? 0) : offset;
  const part = readOutputPart(output, from, Math.max(1, caps.resultBytes - NOTE_BYTES));
  const options = listOptions(id, shell, part);
  const describeEnd = isRemote ? describeRemoteEnd : describeShellEnd;
  return [
    `${isRemote ? 'Call' : 'Shell'}: ${shortenCommand(command)}`,
    `Status: ${end === null ? 'still running' : describeEnd(end)}`,
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

function listOptions(id: string, { end }: ShellState, part: OutputPart): readonly string[] {
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

const NEWLINE = 0x0a;
/** The bytes of the replacement character, which replaces a byte that is not UTF-8. */
const MAX_BYTE_GROWTH = 3;

/** A part of an output file as plain text, with its position in bytes. */
type OutputPart =
  | {
      readonly ok: true;
      readonly text: string;
      readonly start: number;
      /** The offset at which the next part starts. */
      readonly end: number;
      /** The present size of the file. */
      readonly size: number;
    }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads a part of a file. The part ends with a full line if at least half of the bytes remain in that case, and never
 * within a character.
 *
 * @param offset the first byte to read; null for the end of the file
 * @param maxBytes the maximum size of the text in bytes
 */
export function readOutputPart(path: string, offset: number | null, maxBytes: number): OutputPart {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (thrown) {
    return { ok: false, problem: errorMessage(thrown) };
  }
  try {
    const part = readPart(fd, offset, maxBytes);
    return byteLength(part.text) <= maxBytes
      ? part
      : readPart(fd, offset, Math.max(1, Math.floor(maxBytes / MAX_BYTE_GROWTH)));
  } catch (thrown) {
    return { ok: false, problem: errorMessage(thrown) };
  } finally {
    closeSync(fd);
  }
}

function readPart(fd: number, offset: number | null, maxBytes: number): OutputPart & { ok: true } {
  const { size } = fstatSync(fd);
  const from = offset ?? Math.max(0, size - maxBytes);
  if (from >= size) return { ok: true, text: '', start: from, end: from, size };
  const buffer = Buffer.alloc(Math.min(maxBytes, size - from));
  const bytes = buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, from));
  const first = from === 0 ? 0 : findStart(bytes, { atLine: offset === null });
  const last = from + bytes.length === size ? bytes.length : findEnd(bytes, first);
  const text = plainText(bytes.toString('utf8', first, last)).trimEnd();
  return { ok: true, text, start: from + first, end: from + last, size };
}

/** Returns the index of the first byte to show: the start of a line if `atLine` is set, or else of a character. */
function findStart(bytes: Buffer, { atLine }: { readonly atLine: boolean }): number {
  const line = bytes.indexOf(NEWLINE) + 1;
  if (atLine && line > 0 && line <= bytes.length / 2) return line;
  let start = 0;
  while (start < bytes.length && start < 4 && isContinuation(bytes[start])) start += 1;
  // Bytes that are not UTF-8 have no start of a character.
  return start < 4 && start < bytes.length ? start : 0;
}

/** Returns the index after the last byte to show: the end of a line if possible, or else of a character. */
function findEnd(bytes: Buffer, first: number): number {
  const line = bytes.lastIndexOf(NEWLINE) + 1;
  if (line > first && line >= bytes.length / 2) return line;
  for (let back = 1; back <= 4 && bytes.length - back > first; back += 1) {
    const byte = bytes[bytes.length - back];
    if (isContinuation(byte)) continue;
    const isComplete = back >= characterLength(byte);
    return isComplete ? bytes.length : bytes.length - back;
  }
  return bytes.length;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}

/** Returns the number of bytes of the character that starts with this byte. */
function characterLength(byte: number | undefined): number {
  if (byte === undefined || byte < 0b1100_0000) return 1;
  if (byte < 0b1110_0000) return 2;
  return byte < 0b1111_0000 ? 3 : 4;
}
