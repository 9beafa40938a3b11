import { once } from 'node:events';
import { onAbort } from '../../base/async.ts';
import { startDeadline } from '../../base/deadlines.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import { spawnProcessGroup } from '../../sys/processes/process-group.ts';
import { ErrorOutput } from '../../sys/processes/server-process.ts';
import { shellPool, type PooledExit, type PooledProgram } from '../../sys/processes/shell-pool.ts';

/** The result of a run of ripgrep. Its records have already been passed to `onRecord`. */
export interface RipgrepRun {
  readonly exitCode: number | null;
  readonly stderr: string;
  readonly timedOut: boolean;
}

/** The options for running ripgrep and receiving its output. */
interface RipgrepOptions {
  readonly cwd: string;
  /** The character that ends each record. */
  readonly separator: '\n' | '\0';
  /** The text for the standard input of ripgrep. Default: its stdin is empty. */
  readonly input?: string | undefined;
  readonly timeMs: number;
  readonly signal: AbortSignal;
  /** Receives one record. Returns false to stop ripgrep, because no more records are needed. */
  readonly onRecord: (record: string) => boolean;
}

/**
 * Runs ripgrep without the user's configuration and environment. Rejects with MusterError if ripgrep is not installed,
 * cannot be started or crashes, and with CANCELLED if the signal is aborted.
 *
 * @param binary the path of the program. Default: the program of the package
 */
export async function runRipgrep(
  args: readonly string[],
  { cwd, separator, input, timeMs, signal, onRecord }: RipgrepOptions,
  binary?: string,
): Promise<RipgrepRun> {
  const file = binary ?? (await ripgrepPath());
  let rest = '';
  const onOutput = (text: string): boolean => {
    const records = (rest + text).split(separator);
    rest = records.pop() ?? '';
    return records.every((record) => onRecord(record));
  };
  const program = { file, args: ['--no-config', ...args], cwd, timeMs, signal, onOutput };
  try {
    const { exitCode, endedBy, stderr, killed } =
      input === undefined ? await shellPool.run(program) : await runWithInput(program, input);
    if (endedBy !== undefined && killed === undefined) {
      throw new Error(['it was ended by', endedBy, stderr].join(' ').trim());
    }
    if (!signal.aborted) return { exitCode, stderr, timedOut: killed === 'time' };
  } catch (thrown) {
    if (!signal.aborted) throw ripgrepError(errorMessage(thrown), thrown);
  }
  throw new MusterError('CANCELLED', 'The search was cancelled.');
}

/** Runs a program with a text as its stdin, which a shell of the pool cannot pass on. Few searches need it. */
async function runWithInput(
  { file, args, cwd, timeMs, signal, onOutput }: PooledProgram,
  input: string,
): Promise<PooledExit> {
  const group = spawnProcessGroup(file, args, { cwd, env: {}, hasInput: true });
  let killed: PooledExit['killed'];
  const kill = (reason: PooledExit['killed']): void => {
    killed ??= reason;
    void group.end({ graceMs: 0 });
  };
  const deadline = startDeadline(timeMs, () => kill('time'));
  const removeListener = onAbort(signal, () => kill('signal'));
  const errors = new ErrorOutput(group.stderr);
  // A broken pipe means that the program has ended.
  group.stdin?.on('error', () => {}).end(input);
  group.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (killed === undefined && !onOutput(text)) kill('no_more_needed');
  });
  try {
    const [{ code, signal: by }] = await Promise.all([group.exited, once(group.stdout, 'close')]);
    return {
      exitCode: killed === undefined ? code : null,
      stderr: errors.read(MAX_STDERR_LENGTH),
      ...(killed === undefined ? (by === null ? {} : { endedBy: by }) : { killed }),
    };
  } finally {
    deadline.cancel();
    removeListener();
    await group.end({ graceMs: 0 });
  }
}

const MAX_STDERR_LENGTH = 65_536;

/** Creates the error for a ripgrep that is missing, could not be started, or crashed. */
function ripgrepError(reason: string, cause?: unknown): MusterError {
  const message = `Files cannot be searched or listed, because ripgrep cannot be run: ${reason}. Install Muster again with its optional dependencies (npm install -g --include=optional muster-agent); \`muster doctor\` checks the result.`;
  return new MusterError('INTERNAL_ERROR', message, { cause });
}

/** Returns the path of the bundled binary. Throws MusterError if the package for this platform is not installed. */
async function ripgrepPath(): Promise<string> {
  try {
    return (await import('@vscode/ripgrep')).rgPath;
  } catch (thrown) {
    throw ripgrepError(errorMessage(thrown).replace(/\.$/, ''), thrown);
  }
}
