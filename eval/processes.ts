import { spawn } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';
import { finished } from 'node:stream/promises';
import { systemErrorCode } from '../src/base/errors.ts';

/** A program with its limits. */
export interface BoundedProgram {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The time after which the whole process group is killed, in milliseconds. */
  readonly timeoutMs: number;
  /** The file that receives stdout. Default: stdout is part of `output`. */
  readonly stdoutFile?: string;
  /** Called with the id of the process, which is also the id of its process group. */
  readonly onStarted?: (pid: number) => void;
}

/** How a program ended. */
export interface ProgramEnd {
  /** The exit code; null if a signal ended the program. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly ms: number;
  /** The last part of what it printed. */
  readonly output: string;
}

/** The number of characters of output that are kept. */
const KEPT_OUTPUT = 20_000;

/** Runs a program in its own process group, and ends the whole group with it. */
export async function runBounded(program: BoundedProgram): Promise<ProgramEnd> {
  const { argv, cwd, env, timeoutMs, stdoutFile, onStarted } = program;
  const [file, ...args] = argv;
  const startedAt = performance.now();
  const child = spawn(file, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  if (child.pid !== undefined) onStarted?.(child.pid);
  let output = '';
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString('utf8')).slice(-KEPT_OUTPUT);
  };
  const sink = stdoutFile === undefined ? null : createWriteStream(stdoutFile);
  if (sink === null) child.stdout.on('data', keep);
  else child.stdout.pipe(sink);
  child.stderr.on('data', keep);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    killGroup(child.pid);
  }, timeoutMs);
  try {
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => {
        // Processes that the program left would keep its pipes open.
        killGroup(child.pid);
        child.once('close', () => resolve(code));
      });
    });
    if (sink !== null) await finished(sink);
    return { exitCode, timedOut, ms: performance.now() - startedAt, output };
  } finally {
    clearTimeout(timer);
  }
}

/** Reads a file in `/proc` of a process; an empty text if the process has ended or there is no `/proc`. */
export function readProcessFile(pid: number, name: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    // Linux keeps the directory of an ended process until its parent has asked how it ended.
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return '';
    throw thrown;
  }
}

/** Kills a process group. It is no error if it has ended. */
export function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (thrown) {
    if (systemErrorCode(thrown) !== 'ESRCH') throw thrown;
  }
}
