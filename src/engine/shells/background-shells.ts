import { rmSync, closeSync, constants, openSync, writeSync } from 'node:fs';
import { deferred, type Deferred } from '../../base/async.ts';
import { MusterError, errorMessage } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import {
  type BegunShell,
  type ByteFilter,
  type ShellExit,
  type ShellPort,
  type ShellWork,
  type StartedShell,
  type ToolCaps,
  PASS_THROUGH_FILTER,
} from '../../protocol/tool.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { shellEndEvents, type ShellOutcome } from './shell-end.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** The maximum number of background shells of one task at the same time. */
const MAX_SHELLS = 16;
/** The tools that a task needs to read the output of a shell and to stop it. */
const NEEDED_TOOLS = ['TaskOutput', 'TaskStop'];

interface ShellDeps {
  readonly store: Pick<TaskStore, 'createSpillFile'>;
  readonly settings: { readonly caps: Pick<ToolCaps, 'spillBytes'> };
  redactBytes?(): ByteFilter;
  onFault(taskId: string, thrown: unknown): void;
}

/** The parts of a task that its shells use. */
interface ShellOwner {
  readonly journal: {
    readonly state: TaskState;
    record(...events: readonly EventBody[]): void;
  };
  /** The tools of the task, by name. */
  readonly view: ReadonlyMap<string, unknown>;
  /** Aborts when the task is stopped. */
  readonly signal: AbortSignal;
  /** Records that a shell had to be killed because it did not stop when asked. */
  recordKill(): void;
  /**
   * Fails the task because the end of a shell can't be recorded: the task would otherwise wait for that end forever.
   */
  fail(thrown: unknown): void;
  /** Wakes the task because a shell has ended. */
  wake(): void;
}

/**
 * The abort reason of a shell's signal. `notify` and `silent`: the task stops the shell, with or without a notice of
 * its end. `output_limit`: the shell has written too much.
 */
type StopCause = 'notify' | 'silent' | 'output_limit';

/** A shell that is starting, running or being stopped. */
interface RunningShell {
  readonly controller: AbortController;
  /** Resolves when the end of the shell is recorded, or when the shell could not be started. Never rejects. */
  readonly ended: Promise<void>;
}

/** The parts of a shell that is about to start. */
interface NewShell {
  readonly id: string;
  readonly callId: string;
  readonly controller: AbortController;
  readonly output: ShellOutput;
  readonly work: ShellWork;
}

/** The background shells of one task. */
export class BackgroundShells {
  private readonly deps: ShellDeps;
  private readonly owner: ShellOwner;
  private readonly running = new Map<string, RunningShell>();
  private readonly outputs = new Map<string, ShellOutput>();
  /**
   * The events of ends that could not be written to the log, for example on a full disk. `stopAll` tries again to
   * record them.
   */
  private readonly unrecordedEnds = new Map<string, readonly EventBody[]>();

  constructor(deps: ShellDeps, owner: ShellOwner) {
    this.deps = deps;
    this.owner = owner;
  }

  /** Creates the port through which one call starts shells. */
  createPort(callId: string): ShellPort {
    return { start: (work) => this.start(callId, work) };
  }

  /**
   * Stops the shells with these ids and waits for their ends.
   *
   * @param notify true if the task gets a notice of each end
   */
  async stop(ids: Iterable<string>, { notify }: { readonly notify: boolean }): Promise<void> {
    const stopped = [...ids];
    for (const id of stopped) this.abort(id, notify ? 'notify' : 'silent');
    await Promise.all(stopped.map((id) => this.waitForEnd(id)));
  }

  /** Stops all shells and waits for their ends. Throws when an end still can't be recorded. */
  async stopAll(): Promise<void> {
    await this.stop(this.running.keys(), { notify: false });
    for (const [id, events] of this.unrecordedEnds) {
      this.owner.journal.record(...events);
      this.unrecordedEnds.delete(id);
    }
  }

  /** Stops all shells without waiting for their ends. */
  abortAll(): void {
    for (const id of this.running.keys()) this.abort(id, 'silent');
  }

  /** Resolves when the shell has ended, or at once when no such shell runs. */
  async waitForEnd(id: string): Promise<void> {
    await this.running.get(id)?.ended;
  }

  /** Returns the reason why output of a shell is missing in its file; null if none is known to be missing. */
  outputProblem(id: string): string | null {
    return this.outputs.get(id)?.problem ?? null;
  }

  private abort(id: string, cause: StopCause): void {
    this.running.get(id)?.controller.abort(cause);
  }

  private async start(callId: string, work: ShellWork): Promise<StartedShell> {
    this.requireStartAllowed();
    const id = newId();
    const { deps, owner } = this;
    const path = deps.store.createSpillFile(owner.journal.state.spec.id, id);
    const controller = new AbortController();
    const output = new ShellOutput(
      path,
      deps.settings.caps.spillBytes,
      () => this.abort(id, 'output_limit'),
      deps.redactBytes?.(),
    );
    const started = deferred<void>();
    const ended = this.runShell({ id, callId, controller, output, work }, started);
    // Register the shell before it has started, so that a stop of the task includes it.
    this.running.set(id, { controller, ended });
    await started.promise;
    return { id, output: path };
  }

  private requireStartAllowed(): void {
    this.owner.signal.throwIfAborted();
    const missing = NEEDED_TOOLS.filter((tool) => !this.owner.view.has(tool));
    if (missing.length > 0) {
      const message = `run_in_background: needs ${missing.join(' and ')}, which this task does not have (see its agent's tools and task_tool.enabled). Run the command in the foreground.`;
      throw new MusterError('INVALID_PARAM', message);
    }
    if (this.running.size < MAX_SHELLS) return;
    const message = `run_in_background: a task may have at most ${MAX_SHELLS} background shells at a time; end one with TaskStop first`;
    throw new MusterError('LIMIT_EXCEEDED', message);
  }

  /** Runs a shell from its start to its end. Never rejects: when the start fails, `started` is rejected. */
  private async runShell(shell: NewShell, started: Deferred<void>): Promise<void> {
    const { id, output } = shell;
    try {
      const { ended } = await this.startCommand(shell);
      this.outputs.set(id, output);
      started.resolve();
      this.recordEnd(shell, await this.waitForOutcome(shell, ended));
    } catch (thrown) {
      started.reject(thrown);
    } finally {
      output.close();
      this.running.delete(id);
      this.owner.wake();
    }
  }

  /**
   * Starts the command and records the start. When this fails, the command is stopped and its output file is removed.
   */
  private async startCommand({
    id,
    callId,
    controller,
    output,
    work,
  }: NewShell): Promise<BegunShell> {
    const { path } = output;
    let started: BegunShell | null = null;
    try {
      started = await work.begin((chunk) => output.write(chunk), controller.signal);
      const { command } = work;
      const { journal } = this.owner;
      journal.record({ type: 'shell.started', shell: id, callId, command, output: path });
      return started;
    } catch (thrown) {
      controller.abort('silent' satisfies StopCause);
      await started?.ended;
      rmSync(path, { force: true });
      throw thrown;
    }
  }

  private async waitForOutcome(
    { controller: { signal } }: NewShell,
    ended: Promise<ShellExit>,
  ): Promise<ShellOutcome> {
    const { deps, owner } = this;
    try {
      const { how, exitCode } = await ended;
      if (how === 'killed' && owner.signal.aborted) owner.recordKill();
      const wroteTooMuch = how !== 'exited' && signal.reason === 'output_limit';
      return { how: wroteTooMuch ? 'output_limit' : how, exitCode };
    } catch (thrown) {
      deps.onFault(owner.journal.state.spec.id, thrown);
      return { how: 'lost', exitCode: null };
    }
  }

  private recordEnd({ id, controller: { signal } }: NewShell, outcome: ShellOutcome): void {
    const { journal } = this.owner;
    const [notice, ended] = shellEndEvents(journal.state, id, outcome);
    const isNotified = outcome.how === 'exited' || signal.reason !== 'silent';
    const events = isNotified ? [notice, ended] : [ended];
    try {
      journal.record(...events);
    } catch (thrown) {
      this.unrecordedEnds.set(id, events);
      this.deps.onFault(journal.state.spec.id, thrown);
      this.owner.fail(thrown);
    }
  }
}

const { O_APPEND, O_NOFOLLOW, O_WRONLY } = constants;

/**
 * Writes the output of a background shell to an existing file, up to a limit in bytes. Calls `onLimit` once when the
 * shell writes more. When the disk is full, further output is discarded, but the shell keeps running.
 */
export class ShellOutput {
  readonly path: string;
  private readonly fd: number;
  private readonly maxBytes: number;
  private readonly onLimit: () => void;
  private readonly filter: ByteFilter;
  private byteCount = 0;
  private missingReason: string | null = null;

  /** Throws MusterError when the file can't be opened. */
  constructor(
    path: string,
    maxBytes: number,
    onLimit: () => void,
    filter: ByteFilter = PASS_THROUGH_FILTER,
  ) {
    this.filter = filter;
    this.path = path;
    this.fd = openForAppend(path);
    this.maxBytes = maxBytes;
    this.onLimit = onLimit;
  }

  /** The reason why output is missing in the file; null as long as the output is complete. */
  get problem(): string | null {
    return this.missingReason;
  }

  write(chunk: Buffer): void {
    if (this.missingReason !== null) return;
    const allowed = chunk.subarray(0, this.maxBytes - this.byteCount);
    this.byteCount += chunk.length;
    if (!this.append(this.filter.write(allowed))) return;
    if (this.byteCount <= this.maxBytes) return;
    this.missingReason = `the output is more than the limit output.spill_bytes = ${this.maxBytes}`;
    this.onLimit();
  }

  close(): void {
    this.append(this.filter.end());
    closeSync(this.fd);
  }

  /** Returns false when the bytes can't be written. */
  private append(bytes: Buffer): boolean {
    try {
      for (let done = 0; done < bytes.length;) done += writeSync(this.fd, bytes, done);
      return true;
    } catch (thrown) {
      this.missingReason = errorMessage(thrown);
      return false;
    }
  }
}

function openForAppend(path: string): number {
  try {
    return openSync(path, O_WRONLY | O_APPEND | O_NOFOLLOW);
  } catch (thrown) {
    const message = `The shell was not started, since its output file can't be opened: ${errorMessage(thrown)}`;
    throw new MusterError('INTERNAL_ERROR', message, { cause: thrown });
  }
}
