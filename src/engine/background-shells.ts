import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { MusterError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { truncate } from '../base/text.ts';
import { runningShells } from '../protocol/belongings.ts';
import type { EventBody, ShellEnd } from '../protocol/event.ts';
import type { TaskState } from '../protocol/state.ts';
import type { ShellPort, ShellWork, StartedShell } from '../protocol/tool.ts';
import type { EngineDeps } from './deps.ts';
import type { Journal } from './journal.ts';

/** Of one task, at the same time. */
const MOST_SHELLS = 16;
const SHOWN_COMMAND = 80;

interface ShellAtWork {
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

/** What of a task its shells need. */
export interface ShellOwner {
  readonly journal: Journal;
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

/** The commands of one task that go on while it does other things. */
export class BackgroundShells {
  private readonly deps: EngineDeps;
  private readonly owner: ShellOwner;
  private readonly atWork = new Map<string, ShellAtWork>();

  constructor(deps: EngineDeps, owner: ShellOwner) {
    this.deps = deps;
    this.owner = owner;
  }

  /** The port of one call. */
  forCall(callId: string): ShellPort {
    return { start: (work) => this.start(callId, work) };
  }

  /** Stops these and waits for them. `isTold`: the task learns of it by a notice. */
  async stop(ids: Iterable<string>, { isTold }: { readonly isTold: boolean }): Promise<void> {
    const shells = [...ids].flatMap((id) => this.atWork.get(id) ?? []);
    const cause: StopCause = isTold ? 'told' : 'untold';
    for (const { controller } of shells) controller.abort(cause);
    await Promise.all(shells.map(({ ended }) => ended));
  }

  stopAll(): Promise<void> {
    return this.stop(this.atWork.keys(), { isTold: false });
  }

  /** Resolves when the shell has ended; at once when it is none of those at work. */
  async ended(id: string): Promise<void> {
    await this.atWork.get(id)?.ended;
  }

  private async start(callId: string, work: ShellWork): Promise<StartedShell> {
    const { owner, deps } = this;
    const { journal } = owner;
    const task = journal.state.spec.id;
    if (runningShells(journal.state).length >= MOST_SHELLS) {
      throw new MusterError(
        'LIMIT_EXCEEDED',
        `at most ${MOST_SHELLS} background shells of a task run at a time; end one with TaskStop first`,
      );
    }
    const id = newId();
    const output = deps.store.spillFile(task, id);
    journal.record({ type: 'shell.started', shell: id, callId, command: work.command, output });
    await journal.sync();
    const controller = new AbortController();
    const ended = this.supervise({ id, output, controller, work });
    this.atWork.set(id, { controller, ended });
    // Told to stop while this waited for the disk.
    if (owner.signal.aborted) controller.abort('untold' satisfies StopCause);
    return { id, output };
  }

  /** Never rejects: what can't be written is a fault. */
  private async supervise(shell: {
    readonly id: string;
    readonly output: string;
    readonly controller: AbortController;
    readonly work: ShellWork;
  }): Promise<void> {
    const { id, controller, work } = shell;
    const { owner, deps } = this;
    const { journal } = owner;
    const task = journal.state.spec.id;
    const file = new ShellOutput(shell.output, deps.settings.caps.spillBytes, () =>
      controller.abort('output_limit' satisfies StopCause),
    );
    let end: ShellOutcome;
    try {
      const { exitCode, forced } = await work.run((chunk) => file.write(chunk), controller.signal);
      if (forced && owner.signal.aborted) owner.noteForce();
      end = { how: howEnded(controller.signal, { forced }), exitCode };
    } catch (thrown) {
      deps.onFault(task, thrown);
      end = { how: 'lost', exitCode: null };
    } finally {
      file.close();
    }
    try {
      const [ended, notice] = shellEnded(journal.state, id, end);
      journal.record(ended, ...(controller.signal.reason === 'untold' ? [] : [notice]));
    } catch (thrown) {
      deps.onFault(task, thrown);
      owner.fail(thrown);
    }
    this.atWork.delete(id);
    owner.wake();
  }
}

export interface ShellOutcome {
  readonly how: ShellEnd;
  /** Null when a signal ended it, or nobody saw it end. */
  readonly exitCode: number | null;
}

function howEnded(signal: AbortSignal, { forced }: { readonly forced: boolean }): ShellEnd {
  if (!signal.aborted) return 'exited';
  if (signal.reason === 'output_limit') return 'output_limit';
  return forced ? 'killed' : 'stopped';
}

/** The event of a shell's end, and the one that tells its task of it. */
export function shellEnded(
  state: TaskState,
  id: string,
  { how, exitCode }: ShellOutcome,
): readonly [EventBody, EventBody] {
  const shell = state.shells.get(id);
  const command = truncate(shell?.command ?? '', SHOWN_COMMAND).replace(/\s+/g, ' ');
  const text = `- Shell ${id} (${command}): ${describeEnd({ how, exitCode })}. Its output: TaskOutput(task_id: "${id}")`;
  return [
    { type: 'shell.ended', shell: id, end: how, exitCode },
    { type: 'input.queued', input: { id: shellNoticeId(id), kind: 'result', from: id, text } },
  ];
}

/** The id of the notice of a shell's end. */
export function shellNoticeId(id: string): string {
  return `${id}-end`;
}

export function describeEnd({ how, exitCode }: ShellOutcome): string {
  switch (how) {
    case 'exited':
      return exitCode === null ? 'ended by a signal' : `ended with exit code ${exitCode}`;
    case 'stopped':
      return 'stopped';
    case 'killed':
      return 'killed, since it did not stop when told';
    case 'output_limit':
      return 'stopped: it wrote more than the limit spill_bytes';
    case 'lost':
      return 'lost: its outcome is unknown, look before you start it again';
    default:
      return how satisfies never;
  }
}

/** What a shell writes, in its file, up to a limit. A disk that takes no more loses output, not the shell. */
class ShellOutput {
  private readonly fd: number;
  private readonly most: number;
  private readonly onTooMuch: () => void;
  private bytes = 0;
  private isLost = false;

  constructor(path: string, most: number, onTooMuch: () => void) {
    this.fd = openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW);
    this.most = most;
    this.onTooMuch = onTooMuch;
  }

  write(chunk: Buffer): void {
    if (this.isLost) return;
    const kept = chunk.subarray(0, this.most - this.bytes);
    this.bytes += chunk.length;
    try {
      for (let done = 0; done < kept.length;) done += writeSync(this.fd, kept, done);
    } catch {
      // A full disk: the command goes on, as it would with a reader that has gone.
      this.isLost = true;
    }
    if (this.bytes > this.most) {
      this.isLost = true;
      this.onTooMuch();
    }
  }

  close(): void {
    closeSync(this.fd);
  }
}
