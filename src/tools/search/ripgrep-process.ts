import { spawn, type ChildProcess } from 'node:child_process';
import { deadlineAfter } from '../../base/deadlines.ts';
import { MusterError } from '../../base/errors.ts';
import { endWithAll } from '../../sys/processes.ts';

/** What a run of ripgrep came to; lines were handed over as they came. */
export interface RipgrepRun {
  readonly exitCode: number | null;
  readonly stderr: string;
  readonly timedOut: boolean;
}

export interface RipgrepOptions {
  readonly cwd: string;
  readonly separator: '\n' | '\0';
  readonly timeMs: number;
  readonly signal: AbortSignal;
  /** False: enough, stop it. */
  readonly onRecord: (record: string) => boolean;
}

const MAX_STDERR = 65_536;

/** The binary could not be started, or died of its own: another engine has to do. */
export class RipgrepMissing extends MusterError {
  constructor(cause: unknown) {
    super('INTERNAL_ERROR', 'ripgrep cannot be run here', { cause });
  }
}

/** The path of the bundled binary. Throws RipgrepMissing when this platform has none. */
export async function ripgrepPath(): Promise<string> {
  try {
    return (await import('@vscode/ripgrep')).rgPath;
  } catch (thrown) {
    throw new RipgrepMissing(thrown);
  }
}

/**
 * Run ripgrep without the user's configuration and environment. It starts no processes of its own, so
 * that killing it is enough.
 */
export function runRipgrep(
  binary: string,
  args: readonly string[],
  options: RipgrepOptions,
): Promise<RipgrepRun> {
  return new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(binary, ['--no-config', ...args], {
      cwd: options.cwd,
      env: {},
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // First: out of descriptors there is a failed child without pipes, and nothing below is reached.
    child.once('error', (thrown) => reject(new RipgrepMissing(thrown)));
    if (!child.stdout || !child.stderr) return;
    let timedOut = false;
    let stderr = '';
    let rest = '';
    let enough = false;
    const stop = (): boolean => child.kill('SIGKILL');
    const limit = deadlineAfter(options.timeMs, () => {
      timedOut = true;
      stop();
    });
    options.signal.addEventListener('abort', stop);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < MAX_STDERR) stderr += text;
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (enough) return;
      const records = (rest + text).split(options.separator);
      rest = records.pop() ?? '';
      enough = !records.every((record) => options.onRecord(record));
      if (enough) stop();
    });
    const forget = endWithAll(async () => stop());
    const settle = (): void => {
      forget();
      limit.cancel();
      options.signal.removeEventListener('abort', stop);
    };
    child.once('error', settle);
    child.once('close', (exitCode) => {
      settle();
      if (options.signal.aborted) reject(new MusterError('CANCELLED', 'The search was cancelled.'));
      else if (exitCode === null && !enough && !timedOut) reject(new RipgrepMissing(stderr));
      else resolve({ exitCode, stderr, timedOut });
    });
  });
}
