import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import { availableParallelism, constants } from 'node:os';
import { startDeadline } from '../../base/deadlines.ts';
import { quoteForShell } from '../../base/text.ts';
import { stdioWithoutInherited } from './inherited-descriptors.ts';
import { registerForShutdown } from './process-group.ts';
import { sendSignal } from './send-signal.ts';

/** A program to run with an empty environment. */
export interface PooledProgram {
  /** The absolute path of the program. */
  readonly file: string;
  readonly args: readonly string[];
  /** The absolute path of the working directory. */
  readonly cwd: string;
  /** The text for its stdin, without NUL characters. Default: its stdin is empty. */
  readonly input?: string | undefined;
  /** The time limit in milliseconds, from the start of the program. The program is then killed. */
  readonly timeMs: number;
  /** Kills the program, or keeps it from being started. */
  readonly signal: AbortSignal;
  /** Receives a part of stdout. Returns false to kill the program, because no more output is needed. */
  readonly onOutput: (text: string) => boolean;
}

export interface PooledExit {
  /** The exit code; null if the program was ended by a signal. */
  readonly exitCode: number | null;
  /** The signal that ended the program, such as `SIGSEGV`. Absent if it ended by itself. */
  readonly endedBy?: string;
  /** The beginning of stderr. */
  readonly stderr: string;
  /** Why the pool killed the program. Absent if it did not. */
  readonly killed?: 'time' | 'signal' | 'enough';
}

/** The number of programs that run at the same time. Further ones wait. */
const MAX_SHELLS = Math.max(4, 2 * availableParallelism());
const MAX_STDERR_LENGTH = 65_536;
/** The exit code with which a command says that the directory cannot be entered. */
const NO_DIRECTORY = 125;
/** The exit codes of a shell that cannot run a program, and what they mean (POSIX, 2.8.2). */
const NOT_STARTED: ReadonlyMap<number, string> = new Map([
  [NO_DIRECTORY, 'its working directory cannot be entered'],
  [126, 'it is not a program for this machine'],
  [127, 'there is no such file'],
]);
/** A shell reports a program that a signal ended with this number plus that of the signal. */
const SIGNAL_BASE = 128;

/**
 * Runs short programs through a few shells that are started once and stay ready. A process that is as large as this one
 * cannot start another without blocking its event loop for 10 to 40 ms, since the system copies its page tables; a shell
 * is small and starts a program in 1 ms. The shells end when this process does, because their stdin is closed then.
 */
class ShellPool {
  readonly #idle: PooledShell[] = [];
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /**
   * Runs a program to its end. Rejects with an Error if no shell can be started or the shell cannot run the program, and
   * with the reason of `signal` if it aborts before the start.
   */
  async run(program: PooledProgram): Promise<PooledExit> {
    await this.#takeTurn();
    try {
      program.signal.throwIfAborted();
      const shell = this.#idle.pop() ?? new PooledShell();
      const exit = await shell.run(program);
      if (shell.isUsable) this.#idle.push(shell);
      return exit;
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #takeTurn(): Promise<void> {
    if (this.#running >= MAX_SHELLS) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
    this.#running += 1;
  }
}

/** The shells of this process. */
export const shellPool = new ShellPool();

/** A shell that reads commands from its stdin and runs one program at a time. */
class PooledShell {
  readonly #child: ChildProcess;
  #failure: Error | undefined;
  #onOutput: (text: string) => void = () => {};
  #onError: (text: string) => void = () => {};
  #onFailure: (failure: Error) => void = () => {};

  constructor() {
    this.#child = spawn('/bin/sh', [], {
      env: {},
      cwd: '/',
      stdio: ['pipe', 'pipe', 'pipe', ...stdioWithoutInherited()],
      detached: true,
    });
    const { stdin, stdout, stderr, pid } = this.#child;
    const unregister = registerForShutdown(async () => {
      if (pid !== undefined) sendSignal(-pid, 'SIGKILL');
    });
    const fail = (failure: Error): void => {
      unregister();
      this.#failure ??= failure;
      this.#onFailure(failure);
    };
    this.#child.once('error', fail);
    this.#child.once('close', () => fail(new Error('the shell that runs it was ended')));
    // A broken pipe means that the shell has ended, which `close` reports.
    stdin?.on('error', () => {});
    stdout?.setEncoding('utf8').on('data', (text: string) => this.#onOutput(text));
    stderr?.setEncoding('utf8').on('data', (text: string) => this.#onError(text));
  }

  /** Whether another program can be run. */
  get isUsable(): boolean {
    return this.#failure === undefined;
  }

  run({ signal, timeMs, onOutput, ...program }: PooledProgram): Promise<PooledExit> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const mark = randomUUID();
    const output = new MarkedStream(mark);
    const errors = new MarkedStream(mark);
    let stderr = '';
    let pid: number | undefined;
    let killed: PooledExit['killed'];
    const kill = (reason: PooledExit['killed']): void => {
      killed ??= reason;
      // The shell reports the number of the process soon. Until the shell has reported its end, the number is not reused.
      if (pid !== undefined && output.mark === undefined) sendSignal(pid, 'SIGKILL');
    };
    const deadline = startDeadline(timeMs, () => kill('time'));
    const abort = (): void => kill('signal');
    signal.addEventListener('abort', abort);
    this.#keepAlive(true);
    return new Promise<PooledExit>((resolve, reject) => {
      const end = (): void => {
        if (output.mark === undefined || !errors.isClosed) return;
        const code = Number(output.mark);
        const problem = NOT_STARTED.get(code);
        if (problem !== undefined) reject(new Error(`${program.file} cannot be run: ${problem}`));
        else resolve({ ...readExit(code), stderr, ...(killed === undefined ? {} : { killed }) });
      };
      this.#onFailure = reject;
      this.#onOutput = (text) => {
        const read = output.read(text);
        if (read !== '' && killed === undefined && !onOutput(read)) kill('enough');
        end();
      };
      this.#onError = (text) => {
        const read = errors.read(text);
        if (stderr.length < MAX_STDERR_LENGTH) stderr += read;
        if (pid === undefined && errors.mark !== undefined) {
          pid = Number(errors.mark);
          if (killed !== undefined) kill(killed);
        }
        end();
      };
      this.#child.stdin?.write(formatCommand(program, mark));
    }).finally(() => {
      deadline.cancel();
      signal.removeEventListener('abort', abort);
      this.#onOutput = this.#onError = this.#onFailure = () => {};
      this.#keepAlive(false);
    });
  }

  /** Sets whether this process waits for the shell before it ends. It does not wait for an idle shell. */
  #keepAlive(isBusy: boolean): void {
    const { stdin, stdout, stderr } = this.#child;
    const pipes = [stdin, stdout, stderr] as unknown as readonly (Socket | null)[];
    for (const each of [this.#child, ...pipes]) {
      if (isBusy) each?.ref();
      else each?.unref();
    }
  }
}

function readExit(code: number): Pick<PooledExit, 'exitCode' | 'endedBy'> {
  if (code <= SIGNAL_BASE) return { exitCode: code };
  const [endedBy = `signal ${code - SIGNAL_BASE}`] =
    Object.entries(constants.signals).find(([, number]) => number === code - SIGNAL_BASE) ?? [];
  return { exitCode: null, endedBy };
}

/**
 * Separates the output of a program from the lines with a mark, which the shell writes itself: `MARK VALUE` and, at the
 * end, `MARK .`. The mark is random and new for each program, so no output of the program can contain it.
 */
class MarkedStream {
  /** The value of the first line with the mark. */
  mark: string | undefined;
  isClosed = false;
  readonly #start: string;
  #rest = '';

  constructor(mark: string) {
    this.#start = `${mark} `;
  }

  /** Reads a part of the stream. Returns the output of the program in it, as far as it is certain. */
  read(text: string): string {
    this.#rest += text;
    let output = '';
    for (;;) {
      const at = this.#rest.indexOf(this.#start);
      const end = at === -1 ? -1 : this.#rest.indexOf('\n', at);
      if (end === -1) {
        const certain = at === -1 ? this.#rest.length - this.#lengthOfBegunMark() : at;
        output += this.#rest.slice(0, certain);
        this.#rest = this.#rest.slice(certain);
        return output;
      }
      output += this.#rest.slice(0, at);
      const value = this.#rest.slice(at + this.#start.length, end);
      this.#rest = this.#rest.slice(end + 1);
      if (value === '.') this.isClosed = true;
      else this.mark ??= value;
    }
  }

  /** Returns how many characters at the end may be the beginning of the mark. */
  #lengthOfBegunMark(): number {
    const first = this.#start.charAt(0);
    const from = Math.max(0, this.#rest.length - this.#start.length + 1);
    for (
      let at = this.#rest.indexOf(first, from);
      at !== -1;
      at = this.#rest.indexOf(first, at + 1)
    ) {
      if (this.#start.startsWith(this.#rest.slice(at))) return this.#rest.length - at;
    }
    return 0;
  }
}

/**
 * Formats the command for a shell. The shell writes the number of the process to stderr when it has started, and the exit
 * code to stdout and the end to stderr when it has ended. No line of the input can be the mark that ends it.
 */
function formatCommand(
  { file, args, cwd, input }: Pick<PooledProgram, 'file' | 'args' | 'cwd' | 'input'>,
  mark: string,
): string {
  const program = [file, ...args].map(quoteForShell).join(' ');
  const command = `(cd -- ${quoteForShell(cwd)} || exit ${NO_DIRECTORY}; exec ${program})`;
  const start =
    input === undefined ? `${command} </dev/null &` : `${command} <<'${mark}' &\n${input}\n${mark}`;
  const text = `${start}
printf '${mark} %d\\n' $! >&2; wait $!; printf '${mark} %d\\n' $?; printf '${mark} .\\n' >&2
`;
  if (text.includes('\0')) throw new Error('a NUL character cannot be passed to a shell');
  return text;
}
