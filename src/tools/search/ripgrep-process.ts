import { spawn, type ChildProcess } from 'node:child_process';
import { startDeadline } from '../../base/deadlines.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import { registerForShutdown } from '../../sys/processes/process-group.ts';

/** How a run of ripgrep ended. Its records were passed to `onRecord` as they came. */
export interface RipgrepRun {
  readonly exitCode: number | null;
  readonly stderr: string;
  readonly timedOut: boolean;
}

/** How ripgrep is run and what takes its output. */
export interface RipgrepOptions {
  readonly cwd: string;
  /** The character that ends each record. */
  readonly separator: '\n' | '\0';
  /** Text for its standard input. */
  readonly input?: string;
  readonly timeMs: number;
  readonly signal: AbortSignal;
  /** Takes one record. Returns false to stop ripgrep because no more are needed. */
  readonly onRecord: (record: string) => boolean;
}

const MAX_STDERR = 65_536;

/** The error for a ripgrep that is missing, could not be started, or crashed. */
function ripgrepError(reason: string, cause?: unknown): MusterError {
  return new MusterError(
    'INTERNAL_ERROR',
    `Files cannot be searched or listed, because ripgrep cannot be run: ${reason}. Install Muster again with its optional dependencies (npm install -g --include=optional muster-agent); \`muster doctor\` checks the result.`,
    { cause },
  );
}

/** Returns the path of the bundled binary. Throws MusterError when the package for this platform is not installed. */
export async function ripgrepPath(): Promise<string> {
  try {
    return (await import('@vscode/ripgrep')).rgPath;
  } catch (thrown) {
    throw ripgrepError(errorMessage(thrown).replace(/\.$/, ''), thrown);
  }
}

/**
 * Runs ripgrep without the user's configuration and environment. Killing it is enough to stop it, because it starts
 * no processes of its own. Throws MusterError when it cannot be started or crashes, and CANCELLED at the signal.
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
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    // Without free file descriptors, spawn returns a failed child that has no pipes; then only this handler runs.
    child.once('error', (thrown) => reject(ripgrepError(errorMessage(thrown), thrown)));
    if (!child.stdout || !child.stderr) return;
    // A broken pipe means that ripgrep has ended, which `close` reports.
    child.stdin?.once('error', () => {}).end(options.input);
    let timedOut = false;
    let stderr = '';
    let rest = '';
    let enough = false;
    const stop = (): boolean => child.kill('SIGKILL');
    const limit = startDeadline(options.timeMs, () => {
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
    const forget = registerForShutdown(async () => stop());
    const settle = (): void => {
      forget();
      limit.cancel();
      options.signal.removeEventListener('abort', stop);
    };
    child.once('error', settle);
    child.once('close', (exitCode, signal) => {
      settle();
      if (options.signal.aborted) reject(new MusterError('CANCELLED', 'The search was cancelled.'));
      else if (exitCode === null && !enough && !timedOut) {
        reject(ripgrepError(['it was ended by', signal, stderr].join(' ').trim()));
      } else resolve({ exitCode, stderr, timedOut });
    });
  });
}
