import { createWriteStream, readFileSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemErrorCode } from '../src/base/errors.ts';
import { spawnProcessGroup, type ProcessGroup } from '../src/sys/processes/process-group.ts';

/** A program with its limits. */
export interface BoundedProgram {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The time after which the program and all that it started are asked to end, and then killed, in milliseconds. */
  readonly timeoutMs: number;
  /** The file that receives stdout. Default: stdout is part of `output`. */
  readonly stdoutFile?: string;
}

/** How a program ended. */
export interface ProgramEnd {
  /** The exit code; null if a signal or the timeout ended the program. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly ms: number;
  /** The last part of what it printed. */
  readonly output: string;
}

/** The number of characters of output that are kept. */
const KEPT_OUTPUT = 20_000;
/** The time that the rest of the output may take after the end of all processes. */
const OUTPUT_MS = 2_000;

/**
 * Runs a program, and ends all processes that it started together with it. Rejects if it cannot start, and if its
 * output cannot be written, for example because the disk is full. `killAllProcesses` ends the programs that run.
 */
export async function runBounded(program: BoundedProgram): Promise<ProgramEnd> {
  const { argv, cwd, env, timeoutMs, stdoutFile } = program;
  const [file, ...args] = argv;
  const startedAt = performance.now();
  const group = spawnProcessGroup(file, args, { cwd, env });
  let output = '';
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString('utf8')).slice(-KEPT_OUTPUT);
  };
  group.stderr.on('data', keep);
  const written = writeOutput(group, { stdoutFile, keep });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    void group.end();
  }, timeoutMs);
  try {
    const { code } = await group.exited;
    await group.end({ graceMs: 0 });
    await Promise.race([written, sleep(OUTPUT_MS, undefined, { ref: false })]);
    const exitCode = timedOut ? null : code;
    return { exitCode, timedOut, ms: performance.now() - startedAt, output };
  } finally {
    clearTimeout(timer);
    group.stdout.destroy();
    group.stderr.destroy();
  }
}

/** Resolves when all of stdout has been kept or written. If it cannot be written, the program is ended. */
function writeOutput(
  group: ProcessGroup,
  {
    stdoutFile,
    keep,
  }: { readonly stdoutFile: string | undefined; readonly keep: (chunk: Buffer) => void },
): Promise<void> {
  if (stdoutFile === undefined) {
    group.stdout.on('data', keep);
    return new Promise((resolve) => group.stdout.once('close', resolve));
  }
  const written = pipeline(group.stdout, createWriteStream(stdoutFile));
  written.catch(() => group.end({ graceMs: 0 }));
  return written;
}

/** Reads the command line of a process; an empty text if the process has ended or there is no `/proc`. */
export function readCommandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    // Linux keeps the directory of an ended process until its parent has asked how it ended.
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return '';
    throw thrown;
  }
}
