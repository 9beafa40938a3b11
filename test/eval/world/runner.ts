import { spawn, type ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';

const RUNNER = resolve(import.meta.dirname, '../../../eval/run.ts');

/** A started runner. */
export interface StartedRunner {
  readonly child: ChildProcess;
  /** What it printed to stderr so far. */
  errors(): string;
  readonly end: Promise<RunnerEnd>;
}

/** How a runner ended. */
export interface RunnerEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Starts `npm run eval` with these arguments.
 *
 * @param wrapper a program with arguments that starts the runner
 */
export function startRunner(
  args: readonly string[],
  wrapper: readonly string[] = [],
): StartedRunner {
  const [file = process.execPath, ...words] = [...wrapper, process.execPath, RUNNER, ...args];
  const child = spawn(file, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  const end = new Promise<RunnerEnd>((settle, reject) => {
    child.once('error', reject);
    child.once('close', (code) => settle({ code, stdout, stderr }));
  });
  return { child, errors: () => stderr, end };
}

/** Runs `npm run eval` to its end. */
export async function runRunner(...args: readonly string[]): Promise<RunnerEnd> {
  return startRunner(args).end;
}
