import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { atScopeEnd } from '../../base/at-scope-end.ts';
import { dropMissing } from '../../base/drop-missing.ts';
import { errorMessage } from '../../base/errors.ts';
import { byteLength, formatDuration, plural } from '../../base/text.ts';
import {
  type ToolContext,
  type ToolOutput,
  PASS_THROUGH_FILTER,
  type ByteFilter,
  type ToolCaps,
} from '../../protocol/tool.ts';
import { isCpuLimitEnd } from '../../sys/processes/cpu-limit.ts';
import { plainText } from '../../sys/plain-text.ts';
import { describeProcessLimit } from '../../sys/processes/process-limit.ts';
import { failure } from '../shared/output.ts';
import {
  type CommandInDirectory,
  startCommand,
  supervise,
  type RunOutcome,
} from './command-run.ts';
import { formatLeftProcesses, listLeftProcesses } from './left-processes.ts';
import { sandboxNotes, type CommandLocation } from './sandbox-notes.ts';

const PROGRESS_INTERVAL_MS = 250;

/**
 * Runs a command until it ends, until `timeout` milliseconds have passed, or until the call is cancelled, and returns
 * its output.
 */
export async function runInForeground(
  command: CommandInDirectory,
  timeout: number,
  context: ToolContext,
): Promise<ToolOutput> {
  const timeoutMs = Math.min(timeout, context.caps.toolMs);
  const output = new SpillingOutput(
    context.caps,
    () => context.spillPath(),
    context.redactBytes?.(),
  );
  const progress = createProgressReporter(context);
  using _close = atScopeEnd(() => {
    progress.end();
    output.close();
  });
  const outcome = await supervise(await startCommand(command, context, { serves: false }), {
    timeoutMs,
    signal: context.signal,
    take: (chunk) => {
      output.add(chunk);
      progress.take(chunk);
      return !output.isOverSpill;
    },
  });
  const location = { cwd: command.directory, roots: context.roots };
  return createToolOutput(command.line, outcome, output, {
    timeoutMs,
    maxBytes: context.caps.resultBytes,
    location,
    ...dropMissing({ cpuSeconds: context.sandbox.cpuSeconds }),
  });
}

function createToolOutput(
  command: string,
  outcome: RunOutcome,
  output: SpillingOutput,
  limits: RunLimits,
): ToolOutput {
  const text = describeRun(outcome, output, limits);
  if (outcome.startError !== undefined) return failure('INTERNAL_ERROR', text);
  const { exitCode, remaining, changes } = outcome;
  const facts = {
    commands: [{ command, exitCode, ...listLeftProcesses(remaining) }],
    ...(changes === null ? {} : { changed: changes.changed }),
    ...(changes === null || changes.unlisted.length === 0 ? {} : { unlisted: changes.unlisted }),
  };
  switch (outcome.endedBy) {
    case 'timeout':
      return failure('TIMEOUT', text, facts);
    case 'cancel':
      return { ...failure('CANCELLED', text, facts), forced: outcome.forced };
    case 'output_limit':
    case 'process_limit':
      return failure('LIMIT_EXCEEDED', text, facts);
    case 'itself':
      return { text, facts };
  }
}

/** The number of last lines that are reported, the maximum length of a line, and the bytes that are kept for them. */
const PROGRESS_LINES = 5;
const PROGRESS_LINE = 200;
const PROGRESS_BYTES = 8 * 1024;

/** Reports the last lines of an output as progress, at most once in PROGRESS_INTERVAL_MS. The newest lines are always reported. */
function createProgressReporter({ progress }: ToolContext) {
  let kept = Buffer.alloc(0);
  let timer: NodeJS.Timeout | null = null;
  const report = (): void => {
    const lines = plainText(kept.toString('utf8')).trimEnd().split('\n').slice(-PROGRESS_LINES);
    const cut = lines.map((line) => line.slice(0, PROGRESS_LINE));
    const last = cut.at(-1) ?? '';
    if (last !== '') progress(last, cut);
  };
  let hasNew = false;
  const reportThenWait = (): void => {
    report();
    hasNew = false;
    timer = setTimeout(() => {
      timer = null;
      if (hasNew) reportThenWait();
    }, PROGRESS_INTERVAL_MS);
  };
  return {
    take(chunk: Buffer): void {
      const all = chunk.length >= PROGRESS_BYTES ? chunk : Buffer.concat([kept, chunk]);
      kept = Buffer.from(all.subarray(-PROGRESS_BYTES));
      hasNew = true;
      if (timer === null) reportThenWait();
    },
    end(): void {
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** The limits of a run and of its description. */
interface RunLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly location: CommandLocation;
  /** See `SandboxPort`. */
  readonly cpuSeconds?: number;
}

/** The number of bytes that are reserved for the notes after the output. */
const NOTE_BYTES = 2500;

/** Describes a run for the model: its output, shortened in the middle if it is long, and how the command ended. */
function describeRun(outcome: RunOutcome, output: SpillingOutput, limits: RunLimits): string {
  if (outcome.startError !== undefined) {
    return `The shell could not be started: ${outcome.startError}`;
  }
  const shown = formatOutputParts(output, limits.maxBytes - NOTE_BYTES);
  const notes = sandboxNotes(outcome, shown.join('\n'), limits.location);
  const parts = [...shown, ...createEndNotes(outcome, limits), ...notes];
  return parts.filter((part) => part !== '').join('\n');
}

function formatOutputParts(output: SpillingOutput, maxBytes: number): string[] {
  const { head, tail, missing: omitted } = output.kept();
  if (omitted === 0) {
    const text = plainText(Buffer.concat([head, tail]).toString('utf8')).trimEnd();
    // Bytes that are not UTF-8 become longer when they are shown.
    return [byteLength(text) <= maxBytes ? text : `${firstBytes(text, maxBytes)}… [cut]`];
  }
  const half = Math.floor(maxBytes / 2);
  const start = head.subarray(0, head.lastIndexOf(10) + 1 || head.length);
  const end = tail.subarray(tail.indexOf(10) + 1);
  const missing = output.total - start.length - end.length;
  return [
    firstBytes(plainText(start.toString('utf8')).trimEnd(), half),
    `[… ${plural(missing, 'byte')} left out; ${describeSpill(output)} …]`,
    lastBytes(plainText(end.toString('utf8')).trimEnd(), half),
  ];
}

function describeSpill(output: SpillingOutput): string {
  if (output.spillProblem !== undefined) {
    return `the full output could not be saved (${output.spillProblem})`;
  }
  const part = output.isOverSpill ? 'the first part' : 'the full output';
  return `${part} is in ${output.spilledTo ?? 'no file'}: Read it with offset, or Grep it`;
}

function createEndNotes(outcome: RunOutcome, limits: RunLimits): string[] {
  const remaining = formatLeftProcesses(outcome.remaining);
  const notes = remaining === null ? [] : [remaining];
  switch (outcome.endedBy) {
    case 'timeout':
      notes.push(
        `[stopped: not finished after ${formatDuration(limits.timeoutMs)}; a longer timeout (up to 600000 ms) may be given]`,
      );
      break;
    case 'cancel':
      notes.push('[stopped: the call was cancelled]');
      break;
    case 'output_limit':
      notes.push('[stopped: it wrote more than the limit of the spill file (output.spill_bytes)]');
      break;
    case 'process_limit':
      notes.push(describeProcessStop(outcome));
      break;
    case 'itself':
      notes.push(describeExit(outcome, limits));
  }
  return notes;
}

/** Describes the end of a command that had too many processes. */
export function describeProcessStop({ maxProcesses }: Pick<RunOutcome, 'maxProcesses'>): string {
  return `[killed: ${describeProcessLimit(maxProcesses)}]`;
}

/**
 * Describes how a command exited. If the sandbox removed files of the command, the note does not report success,
 * whatever the exit code is.
 */
function describeExit(
  { signal, exitCode, settled }: RunOutcome,
  { cpuSeconds }: Pick<RunLimits, 'cpuSeconds'>,
): string {
  if (cpuSeconds !== undefined && isCpuLimitEnd(exitCode, signal)) {
    return `[ended at the limit process.cpu_seconds = ${cpuSeconds}]`;
  }
  if (signal !== null) return `[ended by ${signal}]`;
  return exitCode === 0 && settled.removed.length > 0
    ? '[it ended without an error, but not all files that it made were kept]'
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

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
/** The number of bytes that are reserved for the lines that describe the run. */
const DESCRIPTION_BYTES = 1000;

/**
 * Collects the output of a command. The beginning and the end stay in memory and together have at most `resultBytes`.
 * If the output is longer, all of it is also written to the spill file, up to `spillBytes`.
 */
class SpillingOutput {
  /** The number of bytes of the output so far. */
  total = 0;
  /** The path of the spill file, or undefined while the output fits into memory. */
  spilledTo: string | undefined;
  /**
   * The reason why the spill file could not be written, for example a full disk. The command continues in this case.
   */
  spillProblem: string | undefined;

  readonly #caps: ToolCaps;
  readonly #spillPath: () => string;
  readonly #filter: ByteFilter;
  readonly #half: number;
  #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #spill: number | undefined;

  /** @param filter redacts secrets in the bytes that are written to the spill file */
  constructor(caps: ToolCaps, spillPath: () => string, filter: ByteFilter = PASS_THROUGH_FILTER) {
    this.#caps = caps;
    this.#spillPath = spillPath;
    this.#filter = filter;
    this.#half = Math.max(0, Math.floor((caps.resultBytes - DESCRIPTION_BYTES) / 2));
  }

  get isOverSpill(): boolean {
    return this.total > this.#caps.spillBytes;
  }

  add(chunk: Buffer): void {
    this.total += chunk.length;
    if (this.spilledTo === undefined && this.total > this.#half * 2) this.#startSpill();
    this.#writeSpill(chunk);
    const headRoom = this.#half - this.#headBytes;
    const toHead = chunk.subarray(0, headRoom);
    if (toHead.length > 0) {
      this.#head.push(toHead);
      this.#headBytes += toHead.length;
    }
    this.#addToTail(chunk.subarray(toHead.length));
  }

  /** Returns the bytes in memory, and the number of bytes that are missing between `head` and `tail`. */
  kept(): { readonly head: Buffer; readonly tail: Buffer; readonly missing: number } {
    const tail = Buffer.concat(this.#tail);
    const end = tail.subarray(Math.max(0, tail.length - this.#half));
    const missing = this.total - this.#headBytes - end.length;
    return { head: Buffer.concat(this.#head), tail: end, missing };
  }

  close(): void {
    this.#append(this.#filter.end());
    this.#closeSpill();
  }

  #closeSpill(): void {
    if (this.#spill !== undefined) closeSync(this.#spill);
    this.#spill = undefined;
  }

  #addToTail(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#tail.push(chunk);
    this.#tailBytes += chunk.length;
    for (let first = this.#tail[0]; first !== undefined; first = this.#tail[0]) {
      if (this.#tailBytes - first.length < this.#half) return;
      this.#tail.shift();
      this.#tailBytes -= first.length;
    }
  }

  #startSpill(): void {
    try {
      const path = this.#spillPath();
      this.#spill = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
      this.spilledTo = path;
    } catch (thrown) {
      this.spillProblem ??= errorMessage(thrown);
      return;
    }
    for (const chunk of [...this.#head, ...this.#tail]) this.#writeSpill(chunk);
  }

  #writeSpill(chunk: Buffer): void {
    if (this.#spill !== undefined && !this.isOverSpill) this.#append(this.#filter.write(chunk));
  }

  #append(bytes: Buffer): void {
    if (this.#spill === undefined) return;
    try {
      for (let done = 0; done < bytes.length;) done += writeSync(this.#spill, bytes, done);
    } catch (thrown) {
      this.spillProblem = errorMessage(thrown);
      this.#closeSpill();
    }
  }
}
