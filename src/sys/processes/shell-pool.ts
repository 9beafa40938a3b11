import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { availableParallelism, constants } from 'node:os';
import { onAbort } from '../../base/async.ts';
import { startDeadline } from '../../base/deadlines.ts';
import { quoteForShell } from '../../base/text.ts';
import { stdioWithoutInherited } from './inherited-descriptors.ts';
import { registerForShutdown } from './process-group.ts';
import { sendSignal } from './send-signal.ts';

/** A program to run with an empty stdin and an environment that only holds what a shell sets itself, such as `PWD`. */
export interface PooledProgram {
  /** The absolute path of the program. Its own exit codes must be below 125. */
  readonly file: string;
  /** They must not contain NUL characters. */
  readonly args: readonly string[];
  /** The absolute path of the working directory. */
  readonly cwd: string;
  /** The time limit in milliseconds, which includes the wait for a free shell. */
  readonly timeMs: number;
  /** Kills the program, or keeps it from being started. */
  readonly signal: AbortSignal;
  /** Receives a part of stdout. Returns false to kill the program, because no more output is needed. */
  readonly onOutput: (text: string) => boolean;
}

export interface PooledExit {
  /** The exit code; null if the program was killed or a signal ended it. */
  readonly exitCode: number | null;
  /** The signal that ended the program, such as `SIGSEGV`. Absent if it ended by itself or was killed. */
  readonly endedBy?: string;
  /** The beginning of stderr. */
  readonly stderr: string;
  /** Why the program was killed. Absent if it was not. */
  readonly killed?: KillReason;
}

type KillReason = 'time' | 'signal' | 'no_more_needed';

/** The number of programs that run at the same time. Further ones wait. */
const MAX_SHELLS = Math.max(4, 2 * availableParallelism());
const MAX_STDERR_LENGTH = 65_536;
/** The exit code with which a command says that the directory cannot be entered. */
const NO_DIRECTORY = 125;
/** The exit codes of a shell that cannot run a program, and what they mean (POSIX, 2.8.2). */
const NOT_STARTED: ReadonlyMap<number, string> = new Map([
  [NO_DIRECTORY, 'its working directory cannot be entered'],
  [126, 'the system cannot execute it'],
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
   * Runs a program to its end. Rejects with an Error if no shell can be started or the shell cannot run the program.
   */
  async run(program: PooledProgram): Promise<PooledExit> {
    const killed = deferredKill(program);
    try {
      const hasTurn = await this.#takeTurn(killed);
      if (!hasTurn) return { exitCode: null, stderr: '', killed: await killed.reason };
      try {
        const shell = this.#takeShell();
        const exit = await shell.run(program, killed).finally(() => {
          if (shell.isUsable) this.#idle.push(shell);
        });
        return exit;
      } finally {
        this.#running -= 1;
        this.#waiting.shift()?.();
      }
    } finally {
      killed.close();
    }
  }

  /** Waits until another program may run. Resolves to false if the program is to be killed before that. */
  async #takeTurn(killed: DeferredKill): Promise<boolean> {
    if (this.#running >= MAX_SHELLS) {
      const turn = Promise.withResolvers<true>();
      const take = (): void => turn.resolve(true);
      this.#waiting.push(take);
      const first = await Promise.race([turn.promise, killed.reason]);
      const at = this.#waiting.indexOf(take);
      if (at !== -1) this.#waiting.splice(at, 1);
      // A turn that came together with the kill goes to the next program.
      else if (first !== true) this.#waiting.shift()?.();
      if (first !== true) return false;
    }
    this.#running += 1;
    return true;
  }

  #takeShell(): PooledShell {
    for (;;) {
      const shell = this.#idle.pop();
      if (shell === undefined) return new PooledShell();
      // Somebody may have killed it meanwhile, or this process has given up the rights with which the shell was started.
      if (shell.isUsable && shell.hasCurrentUser) return shell;
      shell.kill();
    }
  }
}

/** The shells of this process. */
export const shellPool = new ShellPool();

/** The moment at which a program has to be killed. */
interface DeferredKill {
  /** Resolves when the program has to be killed. Never rejects. */
  readonly reason: Promise<KillReason>;
  /** Has the program killed. */
  kill(reason: KillReason): void;
  close(): void;
}

function deferredKill({ timeMs, signal }: PooledProgram): DeferredKill {
  const { promise, resolve } = Promise.withResolvers<KillReason>();
  const deadline = startDeadline(timeMs, () => resolve('time'));
  const removeListener = onAbort(signal, () => resolve('signal'));
  return {
    reason: promise,
    kill: resolve,
    close() {
      deadline.cancel();
      removeListener();
    },
  };
}

/** A shell that reads commands from its stdin and runs one program at a time. It leads a process group. */
class PooledShell {
  readonly #child: ChildProcess;
  readonly #user = currentUser();
  #failure: Error | undefined;
  #onOutput: (text: string) => void = () => {};
  #onError: (text: string) => void = () => {};
  #onFailure: (failure: Error) => void = () => {};

  constructor() {
    // Without -p, a shell goes back to the real user if the effective one differs.
    const hasOtherUser = process.getuid?.() !== process.geteuid?.();
    this.#child = spawn('/bin/sh', hasOtherUser ? ['-p'] : [], {
      env: {},
      cwd: '/',
      stdio: ['pipe', 'pipe', 'pipe', ...stdioWithoutInherited()],
      detached: true,
    });
    const { stdin, stdout, stderr } = this.#child;
    const unregister = registerForShutdown(async () => this.kill());
    const fail = (failure: Error): void => {
      unregister();
      this.#failure ??= failure;
      this.#onFailure(failure);
    };
    this.#child.once('error', fail);
    this.#child.once('exit', () => fail(new Error('the shell that runs it was ended')));
    // A broken pipe means that the shell has ended, which `exit` reports.
    stdin?.on('error', () => {});
    stdout?.setEncoding('utf8').on('data', (text: string) => this.#onOutput(text));
    stderr?.setEncoding('utf8').on('data', (text: string) => this.#onError(text));
  }

  /** Whether the shell runs as the user and group that this process has now. */
  get hasCurrentUser(): boolean {
    return this.#user === currentUser();
  }

  /** Whether another program can be run. */
  get isUsable(): boolean {
    return this.#failure === undefined;
  }

  async run(
    { onOutput, ...program }: PooledProgram,
    { reason, kill }: DeferredKill,
  ): Promise<PooledExit> {
    if (this.#failure !== undefined) throw this.#failure;
    const mark = randomUUID();
    const command = formatCommand(program, mark);
    const output = new MarkedStream(mark);
    const errors = new MarkedStream(mark);
    let stderr = '';
    let hasEnough = false;
    const ended = Promise.withResolvers<PooledExit>();
    const end = (): void => {
      if (output.value === undefined || errors.value === undefined) return;
      const code = Number(output.value);
      const problem = NOT_STARTED.get(code);
      if (problem === undefined) ended.resolve({ ...readExit(code), stderr });
      else ended.reject(new Error(`${program.file} cannot be run: ${problem}`));
    };
    this.#onFailure = ended.reject;
    this.#onOutput = (text) => {
      const read = output.read(text);
      if (read !== '' && !hasEnough && !onOutput(read)) {
        hasEnough = true;
        kill('no_more_needed');
      }
      end();
    };
    this.#onError = (text) => {
      const read = errors.read(text);
      if (stderr.length < MAX_STDERR_LENGTH) stderr += read;
      end();
    };
    this.#keepAlive(true);
    try {
      this.#child.stdin?.write(command);
      const exit = await Promise.race([
        ended.promise,
        reason.then((killed): PooledExit => ({ exitCode: null, stderr, killed })),
      ]);
      // The number of the program may belong to another process by now, that of the shell cannot. It dies with the program.
      if (exit.killed !== undefined) this.kill();
      return exit;
    } finally {
      this.#onOutput = this.#onError = this.#onFailure = () => {};
      this.#keepAlive(false);
    }
  }

  /** Kills the shell and its program. Does nothing if the shell has ended. */
  kill(): void {
    const { pid, exitCode, signalCode } = this.#child;
    this.#failure ??= new Error('the shell that runs it was killed');
    if (pid !== undefined && exitCode === null && signalCode === null) sendSignal(-pid, 'SIGKILL');
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

function currentUser(): string {
  return `${process.geteuid?.()}:${process.getegid?.()}`;
}

function readExit(code: number): Pick<PooledExit, 'exitCode' | 'endedBy'> {
  if (code <= SIGNAL_BASE) return { exitCode: code };
  const [endedBy = `signal ${code - SIGNAL_BASE}`] =
    Object.entries(constants.signals).find(([, number]) => number === code - SIGNAL_BASE) ?? [];
  return { exitCode: null, endedBy };
}

/**
 * Separates the output of a program from the line `MARK VALUE`, which the shell writes itself at the end. The mark is random
 * and new for each program, so no output of the program can contain it.
 */
class MarkedStream {
  /** The value in the line with the mark. Undefined until the shell has written this line. */
  value: string | undefined;
  readonly #start: string;
  #rest = '';

  constructor(mark: string) {
    this.#start = `${mark} `;
  }

  /** Reads a part of the stream. Returns the output of the program in it, as far as it is certain. */
  read(text: string): string {
    this.#rest += text;
    const at = this.#rest.indexOf(this.#start);
    const certain = at === -1 ? this.#rest.length - this.#lengthOfBegunMark() : at;
    const output = this.#rest.slice(0, certain);
    this.#rest = this.#rest.slice(certain);
    const end = at === -1 ? -1 : this.#rest.indexOf('\n');
    if (end !== -1) this.value = this.#rest.slice(this.#start.length, end);
    return output;
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

/** Formats the command for a shell, which ends with the mark on both streams, on stdout with the exit code. */
function formatCommand(
  { file, args, cwd }: Pick<PooledProgram, 'file' | 'args' | 'cwd'>,
  mark: string,
): string {
  const program = [file, ...args].map(quoteForShell).join(' ');
  const text = `(cd -- ${quoteForShell(cwd)} || exit ${NO_DIRECTORY}; exec ${program}) </dev/null
printf '${mark} %d\\n' $?; printf '${mark} .\\n' >&2
`;
  if (text.includes('\0')) throw new Error('a NUL character cannot be passed to a shell');
  return text;
}
