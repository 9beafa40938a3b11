import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The path of a program in `bench/programs`. */
export function programPath(name: string): string {
  return fileURLToPath(new URL(`../programs/${name}`, import.meta.url));
}

export interface ProgramOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Arguments of Node itself. */
  readonly nodeArgs?: readonly string[];
}

/** Times are milliseconds since the epoch, with fractions. They can be compared with those of the model server. */
export interface FinishedProgram {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningProgram {
  readonly pid: number;
  readonly finished: Promise<FinishedProgram>;
  /** The text that the program has written so far to file descriptor 3, where `probe.cjs` reports. */
  reported(): string;
}

/** The time in milliseconds since the epoch, with fractions. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

/** Starts `node ARGS`. */
export function startProgram(args: readonly string[], options: ProgramOptions): RunningProgram {
  const startedAt = now();
  const child = spawn(process.execPath, [...(options.nodeArgs ?? []), ...args], {
    cwd: options.cwd,
    env: options.env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const texts = ['', '', '', ''];
  for (const [index, stream] of child.stdio.entries()) {
    stream?.on('data', (chunk: Buffer) => void (texts[index] += chunk.toString('utf8')));
  }
  let endedAt = startedAt;
  child.once('exit', () => void (endedAt = now()));
  const finished = new Promise<FinishedProgram>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      resolve({ startedAt, endedAt, code, stdout: texts[1] ?? '', stderr: texts[2] ?? '' });
    });
  });
  return { pid: child.pid ?? -1, finished, reported: () => texts[3] ?? '' };
}

/** Runs `node ARGS` to its end. Rejects with its output when its exit code is not 0. */
export async function runProgram(
  args: readonly string[],
  options: ProgramOptions,
): Promise<FinishedProgram> {
  return succeeded(args, await startProgram(args, options).finished);
}

/** Returns the run, or throws an error with its output when its exit code is not 0. */
export function succeeded(args: readonly string[], run: FinishedProgram): FinishedProgram {
  if (run.code === 0) return run;
  const output = run.stderr.trim() || run.stdout.trim();
  throw new Error(`node ${args.join(' ')} ended with ${run.code}: ${output}`);
}

/** The number under this name in the JSON object that a program in `bench/programs` printed. */
export function printedNumber({ stdout }: FinishedProgram, name: string): number {
  const value: unknown = JSON.parse(stdout)[name];
  if (typeof value === 'number') return value;
  throw new Error(`no number ${name} in ${stdout}`);
}
