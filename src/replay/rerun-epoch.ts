import { LANDING_TOOL } from '../protocol/tool-names.ts';
import type { ToolSpec } from '../protocol/model.ts';
import { setImmediate as settled } from 'node:timers/promises';
import { NO_WORK, type RequestPrefix } from '../protocol/model.ts';
import { deferred } from '../base/async.ts';
import type { TaskEnding } from '../engine/task/endings.ts';
import type { Clock } from '../base/clock.ts';
import { Deadlines, type Deadline } from '../base/deadlines.ts';
import type { EngineDeps } from '../engine/task/deps.ts';
import { Journal } from '../engine/task/journal.ts';
import { runTask } from '../engine/loop/loop.ts';
import { limitOrder, stopOrder, type StopOrder } from '../engine/task/stop-order.ts';
import { TREE_TIME_LIMIT } from '../protocol/limits.ts';
import { limitMessage } from '../engine/limits/limit-message.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import type { TaskState } from '../protocol/state/task-state.ts';
import type { AnyTool } from '../protocol/tool.ts';
import { RerunLog } from './rerun-log.ts';
import type { RerunDifference } from './difference.ts';
import { type Epoch, type EpochStop, isExternalEvent } from './epochs.ts';
import { createIdleDeps, type RerunSource, NO_HOOK_PORTS } from './idle-deps.ts';
import {
  LoggedCalls,
  findLoggedCompaction,
  buildLoggedSettings,
  findLoggedReuse,
  findLoggedFlags,
  readLoggedOutputCap,
  LoggedModel,
  createLoggedModels,
  findLoggedAcceptance,
  createLoggedWorkspaces,
} from './logged-ports.ts';
import { LoggedRun, LoggedTree } from './logged-run.ts';

/** The outcome of one rerun of an epoch. */
export interface EpochRerun {
  /** The first difference from the log, or null if there is none. */
  readonly difference: RerunDifference | null;
  /** The number of the last event that the rerun has reached. */
  readonly reached: number;
  /** The state at the end of the rerun. Without a difference it equals the fold of the log up to that point. */
  readonly state: TaskState;
}

/** An epoch to rerun. */
export interface EpochToRerun {
  readonly epoch: Epoch;
  /** The fold of the events before the epoch. The rerun changes this object. */
  readonly state: TaskState;
  /** The full log. */
  readonly allEvents: readonly TaskEvent[];
  readonly view: ReadonlyMap<string, AnyTool>;
  readonly prefix: RequestPrefix;
  /**
   * The numbers of the external events that came after the loop had decided its next step; all others came before
   * that decision. The log does not contain this order, so the caller tries several.
   */
  readonly lateEvents: ReadonlySet<number>;
}

/** Runs the loop again over the events of one epoch. Never rejects. */
export async function rerunEpoch(source: RerunSource, request: EpochToRerun): Promise<EpochRerun> {
  const rerun = new Rerun(source, request);
  await rerun.runToEnd();
  const { difference, position: reached } = rerun.log;
  return { difference, reached, state: request.state };
}

/** The description of a tool. A rerun sends no requests. */
const NOT_SENT: ToolSpec = { name: LANDING_TOOL, description: '', inputSchema: {} };

class Rerun {
  readonly log: RerunLog;
  private readonly request: EpochToRerun;
  private readonly model = new LoggedModel();
  private readonly calls: LoggedCalls;
  private readonly deadlines: LoggedDeadlines;
  private readonly deps: EngineDeps;
  private readonly run: LoggedRun;
  /** True while an external event from the log is being recorded. */
  private isReplaying = false;
  /**
   * True if the log drives the task in place of a loop: a template run takes the events of its items from the log.
   */
  private isDrivenByLog: boolean;
  private readonly drivenEnding = deferred<TaskEnding>();
  private hasEnded = false;

  constructor(source: RerunSource, order: EpochToRerun) {
    const { epoch, allEvents, state } = order;
    const { id } = state.spec;
    this.isDrivenByLog = state.spec.fanOut !== undefined;
    this.request = order;
    this.log = new RerunLog(id, allEvents, epoch.events);
    this.calls = new LoggedCalls(allEvents);
    const clock = createLoggedClock(this.log);
    this.deadlines = new LoggedDeadlines(clock);
    this.deps = this.createDeps(source, clock);
    const journal = new Journal(this.log, state, (event) => this.handleWritten(event));
    const asLogged = (tool: AnyTool): AnyTool => this.calls.asTool(tool);
    const view = new Map([...order.view].map(([name, tool]) => [name, asLogged(tool)]));
    const landing = [source.tools.get(LANDING_TOOL)].flatMap((tool) => tool ?? []).map(asLogged)[0];
    this.run = new LoggedRun(
      this.deps,
      {
        journal,
        prefix: order.prefix,
        landing: landing === undefined ? null : { tool: landing, spec: NOT_SENT },
        view,
        tree: new LoggedTree(id, this.deps, this.log),
        parent: null,
        hookPorts: NO_HOOK_PORTS,
        ...(this.isDrivenByLog ? { drive: () => this.drivenEnding.promise } : {}),
      },
      this.log,
    );
  }

  async runToEnd(): Promise<void> {
    this.replayExternalEvents();
    this.stopWhenDue(this.log.position);
    if (this.log.isOver) return;
    void runTask(this.deps, this.run).then(() => (this.hasEnded = true));
    for (;;) {
      await settled();
      if (this.log.isOver) return;
      if (this.hasEnded) {
        this.log.recordDifference('the rerun has ended here');
        return;
      }
      this.advance();
    }
  }

  /**
   * Replays the next event of the log while the loop waits. The event must be external or the outcome of a wait;
   * otherwise the rerun differs from the log.
   */
  private advance(): void {
    const { log, request } = this;
    const next = log.next();
    if (next === undefined) return;
    if (this.isStopDue(request.epoch.stop)) {
      this.stop();
      return;
    }
    if (isExternalEvent(next)) {
      this.replay(next);
      this.replayExternalEvents();
      return;
    }
    const after = log.next(1);
    if (this.model.replay(next, after) || this.calls.replay(next) || this.deadlines.fireNext())
      return;
    if (this.isDrivenByLog) {
      if (next.type !== 'task.ended') {
        this.replay(next);
        return;
      }
      this.isDrivenByLog = false;
      this.drivenEnding.resolve({ end: next.end, result: next.result });
      return;
    }
    log.recordDifference('the rerun waits here for something that the log does not contain');
  }

  private handleWritten(event: TaskEvent): void {
    // In a batch, continue only after its last event.
    if (this.isReplaying || event.seq !== this.log.position) return;
    this.stopWhenDue(event.seq);
    this.replayExternalEvents();
  }

  private stopWhenDue(seq: number): void {
    const { stop } = this.request.epoch;
    if (stop === null || stop.when !== 'at_once' || this.run.cancellation.signal.aborted) return;
    if (seq >= stop.afterSeq) this.stop();
  }

  /** Returns true if the stop order came while the loop was waiting, and is due now. */
  private isStopDue(stop: EpochStop | null): boolean {
    if (stop === null || stop.when === 'at_once' || this.run.cancellation.signal.aborted)
      return false;
    if (this.log.position < stop.afterSeq) return false;
    return stop.when === 'when_quiet' || this.model.isWaiting;
  }

  private stop(): void {
    const { stop } = this.request.epoch;
    if (stop === null) return;
    if (stop.forced) this.run.cancellation.recordKill();
    this.run.stop(stop.order);
    this.calls.allowAll();
  }

  /** Replays all external events before the next event that the loop itself must write. */
  private replayExternalEvents(): void {
    for (;;) {
      const next = this.log.next();
      if (next === undefined || !isExternalEvent(next) || this.request.lateEvents.has(next.seq))
        return;
      this.replay(next);
    }
  }

  private replay(event: TaskEvent): void {
    this.isReplaying = true;
    this.log.acceptAllDuring(() => this.run.journal.record(event));
    this.isReplaying = false;
    const interruption = findInterruption(event);
    if (interruption !== null) {
      this.run.cancellation.interruptTurn(interruption);
      this.calls.allowAll();
    }
    if (event.type === 'child.ended') {
      const { spent, work = NO_WORK } = event;
      this.run.budget.addEarlierUse({ ...spent, ...work });
    }
    this.run.mailbox.wake();
  }

  private createDeps(source: RerunSource, clock: EngineDeps['clock']): EngineDeps {
    return {
      ...createIdleDeps(source),
      // A shell part of a slash command may run although its task has no shell.
      tools: [...source.tools.values()].map((tool) => this.calls.asTool(tool)),
      settings: buildLoggedSettings(source, this.request.epoch),
      model: this.model,
      models: createLoggedModels(this.log, this.request.allEvents),
      decided: (callId) => this.calls.decide(callId),
      reuse: () => findLoggedReuse(this.log),
      compaction: () => findLoggedCompaction(this.log),
      flags: () => findLoggedFlags(this.log),
      acceptance: () => findLoggedAcceptance(this.log),
      workspaces: createLoggedWorkspaces(this.log),
      outputCap: () => readLoggedOutputCap(this.log.next()),
      today: () => null,
      clock,
      deadlines: this.deadlines,
    };
  }
}

/** Returns the order with which an event interrupts the turn of a main agent; null if it interrupts nothing. */
function findInterruption(event: TaskEvent): StopOrder | null {
  if (event.type === 'turn.interrupted') return stopOrder('user', event.because);
  return event.type === 'limit.reached' && event.limit === TREE_TIME_LIMIT
    ? limitOrder(limitMessage(event))
    : null;
}

/** Creates a clock that shows the time of the next event of the log, and stands still until that event. */
function createLoggedClock(log: RerunLog): Clock {
  return { now: () => log.now(), monotonic: () => log.monotonic() };
}

/** A deadline on the steady time of the log. */
interface PendingDeadline {
  readonly at: number;
  readonly fire: () => void;
}

/** Deadlines that fire when nothing else can produce the next event of the log. */
class LoggedDeadlines extends Deadlines {
  private pending: readonly PendingDeadline[] = [];
  private readonly loggedTime: Clock;

  constructor(time: Clock) {
    super(time);
    this.loggedTime = time;
  }

  override after(ms: number, fire: () => void): Deadline {
    const entry = { at: this.loggedTime.monotonic() + ms, fire };
    this.pending = [...this.pending, entry];
    return { cancel: () => this.removeEntry(entry) };
  }

  /** Fires the earliest deadline. Returns false if there is none. */
  fireNext(): boolean {
    const [first] = this.pending.toSorted((a, b) => a.at - b.at);
    if (first === undefined) return false;
    this.removeEntry(first);
    first.fire();
    return true;
  }

  private removeEntry(entry: PendingDeadline): void {
    this.pending = this.pending.filter((other) => other !== entry);
  }
}
