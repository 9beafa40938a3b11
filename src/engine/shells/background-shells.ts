import { rmSync } from 'node:fs';
import { deferred, type Deferred } from '../../base/async.ts';
import { MusterError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type {
  BegunShell,
  ByteFilter,
  ShellExit,
  ShellPort,
  ShellWork,
  StartedShell,
  ToolCaps,
} from '../../protocol/tool.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { shellEnded, type ShellOutcome } from './shell-end.ts';
import { ShellOutput } from './shell-output.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** Of one task, at the same time. */
const MOST_SHELLS = 16;
/** Without these a task could neither look at a shell nor end it. */
const NEEDED_TOOLS = ['TaskOutput', 'TaskStop'];

export interface ShellDeps {
  readonly store: Pick<TaskStore, 'createSpillFile'>;
  readonly settings: { readonly caps: Pick<ToolCaps, 'spillBytes'> };
  redactBytes?(): ByteFilter;
  onFault(taskId: string, thrown: unknown): void;
}

/** What of a task its shells need. */
export interface ShellOwner {
  readonly journal: {
    readonly state: TaskState;
    record(...events: readonly EventBody[]): void;
  };
  /** Its tools by name. */
  readonly view: ReadonlyMap<string, unknown>;
  /** Aborts when the task is stopped. */
  readonly signal: AbortSignal;
  /** A shell did not stop when told. */
  noteForce(): void;
  /** The end of a shell can't be written down: it would be waited for, for ever. */
  fail(thrown: unknown): void;
  /** A shell has ended. */
  wake(): void;
}

/** Why a shell is stopped: the reason of its signal. */
type StopCause = 'told' | 'untold' | 'output_limit';

/** One that is about to begin, runs, or is being ended. */
interface ShellAtWork {
  readonly controller: AbortController;
  /** Resolves once its end is written, or it could not be started. Never rejects. */
  readonly ended: Promise<void>;
}

interface NewShell {
  readonly id: string;
  readonly callId: string;
  readonly controller: AbortController;
  readonly output: ShellOutput;
  readonly work: ShellWork;
}

/** The commands of one task that go on while it does other things. */
export class BackgroundShells {
  private readonly deps: ShellDeps;
  private readonly owner: ShellOwner;
  private readonly atWork = new Map<string, ShellAtWork>();
  private readonly outputs = new Map<string, ShellOutput>();
  /** Ends that the log did not take (a full disk): the end of the task is their last chance. */
  private readonly unwritten = new Map<string, readonly EventBody[]>();

  constructor(deps: ShellDeps, owner: ShellOwner) {
    this.deps = deps;
    this.owner = owner;
  }

  /** The port of one call. */
  forCall(callId: string): ShellPort {
    return { start: (work) => this.start(callId, work) };
  }

  /** Stops these and waits for them. `isTold`: the task learns of it by a notice. */
  async stop(ids: Iterable<string>, { isTold }: { readonly isTold: boolean }): Promise<void> {
    const wanted = [...ids];
    for (const id of wanted) this.abort(id, isTold ? 'told' : 'untold');
    await Promise.all(wanted.map((id) => this.ended(id)));
  }

  /** As `stop`, of all there are. Throws when the end of one can't be written, now as before. */
  async stopAll(): Promise<void> {
    await this.stop(this.atWork.keys(), { isTold: false });
    for (const [id, events] of this.unwritten) {
      this.owner.journal.record(...events);
      this.unwritten.delete(id);
    }
  }

  /** Tells all to stop, and does not wait for them. */
  abortAll(): void {
    for (const id of this.atWork.keys()) this.abort(id, 'untold');
  }

  /** Resolves when the shell has ended; at once when it is none of those at work. */
  async ended(id: string): Promise<void> {
    await this.atWork.get(id)?.ended;
  }

  /** Why not all that a shell wrote is in its file; null when it is, or nobody knows. */
  outputProblem(id: string): string | null {
    return this.outputs.get(id)?.problem ?? null;
  }

  private abort(id: string, cause: StopCause): void {
    this.atWork.get(id)?.controller.abort(cause);
  }

  private async start(callId: string, work: ShellWork): Promise<StartedShell> {
    this.checkMayStart();
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
    const ended = this.live({ id, callId, controller, output, work }, started);
    // From here on, also before it has begun, a stop of the task finds it.
    this.atWork.set(id, { controller, ended });
    await started.promise;
    return { id, output: path };
  }

  private checkMayStart(): void {
    this.owner.signal.throwIfAborted();
    const missing = NEEDED_TOOLS.filter((tool) => !this.owner.view.has(tool));
    if (missing.length > 0) {
      throw new MusterError(
        'INVALID_PARAM',
        `run_in_background: needs ${missing.join(' and ')}, which this task does not have (its agent's tools, or task_tool.enabled = false). Run it in the foreground.`,
      );
    }
    if (this.atWork.size < MOST_SHELLS) return;
    throw new MusterError(
      'LIMIT_EXCEEDED',
      `run_in_background: at most ${MOST_SHELLS} background shells of a task run at a time; end one with TaskStop first`,
    );
  }

  /** From its start to its end. Never rejects: what goes wrong before `started` is told there. */
  private async live(shell: NewShell, started: Deferred<void>): Promise<void> {
    const { id, output } = shell;
    try {
      const { ended } = await this.begin(shell);
      this.outputs.set(id, output);
      started.resolve();
      this.writeEnd(shell, await this.outcomeOf(shell, ended));
    } catch (thrown) {
      started.reject(thrown);
    } finally {
      output.close();
      this.atWork.delete(id);
      this.owner.wake();
    }
  }

  /** Nothing of it is left when this rejects. The intent of its call stands in the log already. */
  private async begin({ id, callId, controller, output, work }: NewShell): Promise<BegunShell> {
    const { path } = output;
    let begun: BegunShell | null = null;
    try {
      begun = await work.begin((chunk) => output.write(chunk), controller.signal);
      const { command } = work;
      this.owner.journal.record({
        type: 'shell.started',
        shell: id,
        callId,
        command,
        output: path,
      });
      return begun;
    } catch (thrown) {
      controller.abort('untold' satisfies StopCause);
      await begun?.ended;
      rmSync(path, { force: true });
      throw thrown;
    }
  }

  private async outcomeOf(
    { controller: { signal } }: NewShell,
    ended: Promise<ShellExit>,
  ): Promise<ShellOutcome> {
    const { deps, owner } = this;
    try {
      const { how, exitCode } = await ended;
      if (how === 'killed' && owner.signal.aborted) owner.noteForce();
      const wroteTooMuch = how !== 'exited' && signal.reason === 'output_limit';
      return { how: wroteTooMuch ? 'output_limit' : how, exitCode };
    } catch (thrown) {
      deps.onFault(owner.journal.state.spec.id, thrown);
      return { how: 'lost', exitCode: null };
    }
  }

  private writeEnd({ id, controller: { signal } }: NewShell, outcome: ShellOutcome): void {
    const { journal } = this.owner;
    const [notice, ended] = shellEnded(journal.state, id, outcome);
    const isTold = outcome.how === 'exited' || signal.reason !== 'untold';
    const events = isTold ? [notice, ended] : [ended];
    try {
      journal.record(...events);
    } catch (thrown) {
      this.unwritten.set(id, events);
      this.deps.onFault(journal.state.spec.id, thrown);
      this.owner.fail(thrown);
    }
  }
}
