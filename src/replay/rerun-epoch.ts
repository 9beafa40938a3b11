import { setImmediate as settled } from 'node:timers/promises';
import { NO_WORK, type RequestPrefix } from '../protocol/model.ts';
import { deferred } from '../base/async.ts';
import type { TaskEnding } from '../engine/task/endings.ts';
import type { Clock } from '../base/clock.ts';
import { Deadlines, type Deadline } from '../base/deadlines.ts';
import type { EngineDeps } from '../engine/task/deps.ts';
import { Journal } from '../engine/task/journal.ts';
import { runTask } from '../engine/loop/loop.ts';
import { stopOrder } from '../engine/task/stop-order.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import type { TaskState } from '../protocol/state/task-state.ts';
import type { AnyTool } from '../protocol/tool.ts';
import { type Difference, RerunLog } from './rerun-log.ts';
import { type Epoch, type EpochStop, isExternalEvent } from './epochs.ts';
import { idleDeps, type RerunSource } from './idle-deps.ts';
import {
  LoggedCalls,
  loggedCompaction,
  recordedSettings,
  loggedReuse,
  loggedFlags,
  loggedOutputCap,
  LoggedModel,
  loggedModels,
} from './logged-ports.ts';
import { LoggedRun, LoggedTree } from './logged-run.ts';

/** The outcome of one try to rerun an epoch. */
export interface EpochRerun {
  /** The first difference from the log, or null if there is none. */
  readonly difference: Difference | null;
  /** The number of the newest event that it has reached. */
  readonly reached: number;
  /** The state at its end. Without a difference it is the fold of the log up to there. */
  readonly state: TaskState;
}

/** An epoch to rerun. */
export interface EpochToRerun {
  readonly epoch: Epoch;
  /** The fold of the events before; the rerun changes it. */
  readonly state: TaskState;
  /** The full log. */
  readonly allEvents: readonly TaskEvent[];
  readonly view: ReadonlyMap<string, AnyTool>;
  readonly prefix: RequestPrefix;
  /**
   * Numbers of external events that came after the loop had decided its next step; the others came before it. The log
   * does not say which, so the caller tries.
   */
  readonly lateEvents: ReadonlySet<number>;
}

/** Runs the loop again over the events of one epoch. Never rejects. */
export async function rerunEpoch(source: RerunSource, order: EpochToRerun): Promise<EpochRerun> {
  const rerun = new Rerun(source, order);
  await rerun.toEnd();
  const { difference, position: reached } = rerun.script;
  return { difference, reached, state: order.state };
}

class Rerun {
  readonly script: RerunLog;
  private readonly order: EpochToRerun;
  private readonly model = new LoggedModel();
  private readonly calls: LoggedCalls;
  private readonly deadlines: LoggedDeadlines;
  private readonly deps: EngineDeps;
  private readonly run: LoggedRun;
  private isGiving = false;
  /** True if the log drives the task: a template run takes the events of its items from it. */
  private isDriven: boolean;
  private readonly driven = deferred<TaskEnding>();
  private hasEnded = false;

  constructor(source: RerunSource, order: EpochToRerun) {
    const { epoch, allEvents, state } = order;
    const { id } = state.spec;
    this.isDriven = state.spec.fanOut !== undefined;
    this.order = order;
    this.script = new RerunLog(id, allEvents, epoch.events);
    this.calls = new LoggedCalls(allEvents);
    const clock = loggedClock(this.script);
    this.deadlines = new LoggedDeadlines(clock);
    this.deps = this.depsOf(source, clock);
    const journal = new Journal(this.script, state, (event) => this.seen(event));
    const view = new Map([...order.view].map(([name, tool]) => [name, this.calls.asTool(tool)]));
    this.run = new LoggedRun(
      this.deps,
      {
        journal,
        prefix: order.prefix,
        view,
        tree: new LoggedTree(id, this.deps, this.script),
        parent: null,
        ...(this.isDriven ? { drive: () => this.driven.promise } : {}),
      },
      this.script,
    );
  }

  async toEnd(): Promise<void> {
    this.giveOutside();
    this.stopWhenDue(this.script.position);
    if (this.script.isOver) return;
    void runTask(this.deps, this.run).then(() => (this.hasEnded = true));
    for (;;) {
      await settled();
      if (this.script.isOver) return;
      if (this.hasEnded) {
        this.script.fail('the rerun has ended here');
        return;
      }
      this.goOn();
    }
  }

  /** Gives the next event once the loop waits: it must be external, or there is a difference. */
  private goOn(): void {
    const { script, order } = this;
    const next = script.next();
    if (next === undefined) return;
    if (this.isTimeToStop(order.epoch.stop)) {
      this.stop();
      return;
    }
    if (isExternalEvent(next)) {
      this.give(next);
      this.giveOutside();
      return;
    }
    const after = script.next(1);
    if (this.model.give(next, after) || this.calls.give(next) || this.deadlines.pass()) return;
    if (this.isDriven) {
      if (next.type !== 'task.ended') {
        this.give(next);
        return;
      }
      this.isDriven = false;
      this.driven.resolve({ end: next.end, result: next.result });
      return;
    }
    script.fail('the rerun waits here for something that the log does not have');
  }

  private seen(event: TaskEvent): void {
    // In a batch this waits for its last event.
    if (this.isGiving || event.seq !== this.script.position) return;
    this.stopWhenDue(event.seq);
    this.giveOutside();
  }

  private stopWhenDue(seq: number): void {
    const { stop } = this.order.epoch;
    if (stop === null || stop.when !== 'at_once' || this.run.cancellation.signal.aborted) return;
    if (seq >= stop.afterSeq) this.stop();
  }

  /** Returns true if a stop order that comes while the loop waits is due. */
  private isTimeToStop(stop: EpochStop | null): boolean {
    if (stop === null || stop.when === 'at_once' || this.run.cancellation.signal.aborted)
      return false;
    if (this.script.position < stop.afterSeq) return false;
    return stop.when === 'when_quiet' || this.model.isAsked;
  }

  private stop(): void {
    const { stop } = this.order.epoch;
    if (stop === null) return;
    if (stop.forced) this.run.cancellation.recordKill();
    this.run.stop(stop.order);
    this.calls.release();
  }

  /** Gives all external events that come before the loop's own next event. */
  private giveOutside(): void {
    for (;;) {
      const next = this.script.next();
      if (next === undefined || !isExternalEvent(next) || this.order.lateEvents.has(next.seq))
        return;
      this.give(next);
    }
  }

  private give(event: TaskEvent): void {
    this.isGiving = true;
    this.script.giving(() => this.run.journal.record(event));
    this.isGiving = false;
    if (event.type === 'turn.interrupted') {
      this.run.cancellation.interruptTurn(stopOrder('user', event.because));
      this.calls.release();
    }
    if (event.type === 'child.ended') {
      const { spent, work = NO_WORK } = event;
      this.run.budget.addEarlierUse({ ...spent, ...work });
    }
    this.run.mailbox.wake();
  }

  private depsOf(source: RerunSource, clock: EngineDeps['clock']): EngineDeps {
    return {
      ...idleDeps(source),
      settings: recordedSettings(source, this.order.epoch),
      model: this.model,
      models: loggedModels(this.script, this.order.allEvents),
      decided: (callId) => this.calls.decide(callId),
      reuse: () => loggedReuse(this.script),
      compaction: () => loggedCompaction(this.script),
      flags: () => loggedFlags(this.script),
      outputCap: () => loggedOutputCap(this.script.next()),
      today: () => null,
      clock,
      deadlines: this.deadlines,
    };
  }
}

/** Creates a clock with the times of the log, which stand still until the next event. */
function loggedClock(script: RerunLog): Clock {
  return { now: () => script.now(), monotonic: () => script.monotonic() };
}

interface Waiting {
  readonly at: number;
  readonly fire: () => void;
}

/** Deadlines that are due when the log has their consequence as its next event. */
class LoggedDeadlines extends Deadlines {
  private waiting: readonly Waiting[] = [];
  private readonly time: Clock;

  constructor(time: Clock) {
    super(time);
    this.time = time;
  }

  override after(ms: number, fire: () => void): Deadline {
    const entry = { at: this.time.monotonic() + ms, fire };
    this.waiting = [...this.waiting, entry];
    return { cancel: () => this.forget(entry) };
  }

  /** Fires the first deadline. Returns false if there is none. */
  pass(): boolean {
    const [first] = this.waiting.toSorted((a, b) => a.at - b.at);
    if (first === undefined) return false;
    this.forget(first);
    first.fire();
    return true;
  }

  private forget(entry: Waiting): void {
    this.waiting = this.waiting.filter((other) => other !== entry);
  }
}
