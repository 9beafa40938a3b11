import { rmSync } from 'node:fs';
import { deferred, onAbort, type Deferred } from '../../base/async.ts';
import { MusterError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { runningRemoteWork } from '../../protocol/state/owned-work.ts';

import type { EventBody, RemoteReference } from '../../protocol/events/event.ts';
import {
  type BegunShell,
  LEAVE_RUNNING,
  type RemotePort,
  type RemoteWork,
  type ShellExit,
  type ShellPort,
  type ShellWork,
  type StartedShell,
  type ToolOutput,
} from '../../protocol/tool.ts';

import { sharedSearches } from '../../tools/search/shared-searches.ts';
import type { ClosableServerPort } from '../../protocol/server-message.ts';
import {
  createRemoteShell,
  findWaitLimit,
  formatDetached,
  limitWaits,
  type PortFactory,
  type RemoteCall,
} from './remote-work.ts';
import { shellEndEvents, type ShellOutcome } from './shell-end.ts';
import type { ShellDeps, ShellOwner } from './shell-owner.ts';
import { ShellOutput } from './shell-output.ts';

/** The maximum number of background shells of one task at the same time. */
const MAX_SHELLS = 16;
/** The tools that a task needs to read the output of a shell and to stop it. */
const NEEDED_TOOLS = ['TaskOutput', 'TaskStop'];

/**
 * The abort reason of a shell's signal. `notify` and `silent`: the task stops the shell, with or without a notice of
 * its end. `output_limit`: the shell has written too much. `LEAVE_RUNNING`: work of a server goes on without the task,
 * and its end is not recorded.
 */
type StopCause = 'notify' | 'silent' | 'output_limit' | typeof LEAVE_RUNNING;

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
  /** Set for work of a server. */
  readonly remote?: RemoteReference;
  /** The port of the server. Set for work of a server. */
  readonly server?: ClosableServerPort;
  /** True if the start of the shell is in the log already. */
  readonly isRecorded?: boolean;
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
  /** The work of servers for which a call waits, so that its end needs no notice. */
  private readonly awaited = new Set<string>();

  constructor(deps: ShellDeps, owner: ShellOwner) {
    this.deps = deps;
    this.owner = owner;
  }

  /** Creates the port through which one call starts shells. */
  createPort(callId: string): ShellPort {
    return { start: (work) => this.start(callId, work) };
  }

  /** Creates the port through which one call follows work of a server. */
  createRemotePort(call: RemoteCall): RemotePort {
    return { follow: (work) => this.followRemote(call, work) };
  }

  /** Follows work of a server again that an earlier process had followed. Returns false if its tool does not exist. */
  resumeRemote(id: string, createServerPort: PortFactory): boolean {
    const { journal, view } = this.owner;
    const shell = journal.state.shells.get(id);
    const remote = shell?.remote ?? null;
    const follow = remote === null ? undefined : view.get(remote.tool)?.follow;
    if (shell === undefined || remote === null || follow === undefined) return false;
    const { callId, command } = shell;
    const { tool } = remote;
    const server = createServerPort({ callId, tool, workId: id, runWait: (wait) => wait() });
    const { id: taskId, workspace } = this.owner;
    const { work } = createRemoteShell({
      title: command,
      remote,
      follow,
      server,
      taskId,
      workspace,
    });
    const path = shell.output;
    const started = this.launch({ id, callId, path, work, remote, server, isRecorded: true });
    started.catch(() => this.recordLost(id));
    return true;
  }

  /** Records the end of work that can't be followed again, for example because its output file is gone. */
  private recordLost(id: string): void {
    const { journal } = this.owner;
    try {
      journal.record(...shellEndEvents(journal.state, id, { how: 'lost', exitCode: null }));
      this.owner.wake();
    } catch (thrown) {
      this.owner.fail(thrown);
    }
  }

  /** Lets the work of servers go on without this process, and without a record of its end. */
  async leaveRemote(): Promise<void> {
    const left = runningRemoteWork(this.owner.journal.state);
    for (const id of left) this.abort(id, LEAVE_RUNNING);
    await Promise.all(left.map((id) => this.waitForEnd(id)));
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
    this.requireStartAllowed('run_in_background');
    const { id, path } = this.createOutput();
    await this.launch({ id, callId, path, work });
    return { id, output: path };
  }

  private createOutput(): { readonly id: string; readonly path: string } {
    const id = newId();
    return { id, path: this.deps.store.createSpillFile(this.owner.journal.state.spec.id, id) };
  }

  /** Resolves when the shell has started and its start is recorded. */
  private async launch({
    path,
    ...shell
  }: Omit<NewShell, 'controller' | 'output'> & { readonly path: string }): Promise<void> {
    const { id } = shell;
    const { deps } = this;
    const controller = new AbortController();
    const onLimit = () => this.abort(id, 'output_limit');
    const { spillBytes } = deps.settings.caps;
    const output = new ShellOutput(path, spillBytes, onLimit, deps.redactBytes?.());
    const started = deferred<void>();
    const ended = this.runShell({ ...shell, controller, output }, started).finally(
      sharedSearches.beginChange(),
    );
    // Register the shell before it has started, so that a stop of the task includes it.
    this.running.set(id, { controller, ended });
    await started.promise;
  }

  private async followRemote(call: RemoteCall, work: RemoteWork): Promise<ToolOutput> {
    const { deps, owner } = this;
    const { callId, signal } = call;
    const remote = { tool: call.tool, reference: work.reference };
    const follow = owner.view.get(call.tool)?.follow;
    if (follow === undefined) throw new Error(`the tool ${call.tool} follows no work`);
    const canDetach = this.listMissingTools().length === 0;
    if (work.inBackground && !canDetach) this.requireStartAllowed('run_in_background');
    const { id, path } = this.createOutput();
    const attach = () => (this.awaited.has(id) ? call.attach : undefined);
    const { progress, tool } = call;
    const returned = deferred<void>();
    const runWait = limitWaits(call.runWait, returned.promise);
    const server = call.createServerPort({ callId, tool, workId: id, runWait });
    const { title } = work;
    const shell = createRemoteShell({
      title,
      remote,
      follow,
      taskId: owner.id,
      workspace: owner.workspace,
      attach,
      progress,
      server,
    });
    if (!work.inBackground) this.awaited.add(id);
    const detached = deferred<string>();
    const stop = () => this.abort(id, owner.isParked() ? LEAVE_RUNNING : 'silent');
    const removeListener = onAbort(signal, stop);
    const limit = findWaitLimit(deps.settings);
    const detach = () => detached.resolve(limit.reason);
    const deadline = canDetach ? deps.deadlines.after(limit.ms, detach) : null;
    try {
      await this.launch({ id, callId, path, work: shell.work, remote, server });
      // The call may have been stopped before there was anything to stop.
      if (signal.aborted) stop();
      if (work.inBackground) return formatDetached(id, path, null);
      const ended = this.waitForEnd(id).then(() => null);
      const reason = await Promise.race([ended, detached.promise]);
      signal.throwIfAborted();
      return reason === null ? await shell.output : formatDetached(id, path, reason);
    } finally {
      deadline?.cancel();
      removeListener();
      this.awaited.delete(id);
      returned.resolve();
    }
  }

  private listMissingTools(): readonly string[] {
    return NEEDED_TOOLS.filter((tool) => !this.owner.view.has(tool));
  }

  private requireStartAllowed(field: string): void {
    this.owner.signal.throwIfAborted();
    const missing = this.listMissingTools();
    if (missing.length > 0) {
      const message = `${field}: needs ${missing.join(' and ')}, which this task does not have (see its agent's tools and task_tool.enabled). Run the command in the foreground.`;
      throw new MusterError('INVALID_PARAM', message);
    }
    if (this.running.size < MAX_SHELLS) return;
    const message = `${field}: a task may have at most ${MAX_SHELLS} background shells at a time; end one with TaskStop first`;
    throw new MusterError('LIMIT_EXCEEDED', message);
  }

  /** Runs a shell from its start to its end. Never rejects: when the start fails, `started` is rejected. */
  private async runShell(shell: NewShell, started: Deferred<void>): Promise<void> {
    const { id, output, server } = shell;
    try {
      const { ended } = await this.startCommand(shell);
      this.outputs.set(id, output);
      started.resolve();
      const outcome = await this.waitForOutcome(shell, ended);
      await server?.close();
      if (shell.controller.signal.reason !== LEAVE_RUNNING) this.recordEnd(shell, outcome);
    } catch (thrown) {
      started.reject(thrown);
    } finally {
      await server?.close();
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
    remote,
    isRecorded = false,
  }: NewShell): Promise<BegunShell> {
    const { path } = output;
    let started: BegunShell | null = null;
    try {
      started = await work.begin((chunk) => output.write(chunk), controller.signal);
      const { command } = work;
      const { journal } = this.owner;
      if (isRecorded) return started;
      const event = { type: 'shell.started', shell: id, callId, command, output: path } as const;
      journal.record(remote === undefined ? event : { ...event, remote });
      // Without the record, nobody could find the work of the server again.
      if (remote !== undefined) await journal.sync();
      return started;
    } catch (thrown) {
      controller.abort('silent' satisfies StopCause);
      await started?.ended;
      if (!isRecorded) rmSync(path, { force: true });
      throw thrown;
    }
  }

  private async waitForOutcome(
    { controller: { signal } }: NewShell,
    ended: Promise<ShellExit>,
  ): Promise<ShellOutcome> {
    const { deps, owner } = this;
    try {
      const { how, ...outcome } = await ended;
      if (how === 'killed' && owner.signal.aborted) owner.recordKill();
      const wroteTooMuch = how !== 'exited' && signal.reason === 'output_limit';
      return { ...outcome, how: wroteTooMuch ? 'output_limit' : how };
    } catch (thrown) {
      deps.onFault(owner.journal.state.spec.id, thrown);
      return { how: 'lost', exitCode: null };
    }
  }

  private recordEnd({ id, controller: { signal } }: NewShell, outcome: ShellOutcome): void {
    const { journal } = this.owner;
    const [notice, ended] = shellEndEvents(journal.state, id, outcome);
    const isNotified =
      !this.awaited.has(id) && (outcome.how === 'exited' || signal.reason !== 'silent');
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
