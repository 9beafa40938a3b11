import { stripStamp } from '../protocol/events/event-body.ts';
import { setImmediate as settled } from 'node:timers/promises';
import { deferred } from '../base/async.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import { readOutputCap, type OutputCap } from '../protocol/output-cap.ts';
import type { ClaimFlag } from '../protocol/result.ts';
import type { AnyTool } from '../protocol/tool.ts';
import type { RequestPrefix } from '../protocol/model.ts';
import type { EngineDeps, ReuseOutcome } from '../engine/task/deps.ts';
import type { Ending } from '../engine/task/endings.ts';
import { Journal } from '../engine/task/journal.ts';
import { runTask } from '../engine/loop/loop.ts';
import type { Difference } from './difference.ts';
import type { Life, LifeStop } from './lives.ts';
import { loggedCompaction } from './logged-compaction.ts';
import { LoggedCalls } from './logged-calls.ts';
import { LoggedModel } from './logged-model.ts';
import { loggedModels } from './logged-models.ts';
import { LoggedRun, LoggedTree } from './logged-run.ts';
import { LoggedDeadlines, loggedClock } from './logged-time.ts';
import { idleDeps } from './idle-deps.ts';
import { isFromOutside } from './outside.ts';
import type { RerunSource } from './rerun-source.ts';
import { Script } from './script.ts';
import { stopOrder } from '../engine/task/stop.ts';
import type { TaskState } from '../protocol/state/task-state.ts';

/** What one try at a life came to. */
export interface RerunOfLife {
  /** Null: it went the same way. */
  readonly difference: Difference | null;
  /** The number of the newest event that it has come to. */
  readonly reached: number;
  /** The state that it ended in: where it went the same way, the fold of all that the log has up to there. */
  readonly state: TaskState;
}

export interface LifeToRerun {
  readonly life: Life;
  /** The fold of what stood in the log before; it is changed. */
  readonly state: TaskState;
  /** The whole log. */
  readonly whole: readonly TaskEvent[];
  readonly view: ReadonlyMap<string, AnyTool>;
  readonly prefix: RequestPrefix;
  /**
   * Numbers of events from outside that came after the loop had decided what it does next; the others came
   * before. A log does not say so, and whoever reruns it tries.
   */
  readonly late: ReadonlySet<number>;
}

/** Runs the loop once more over what a log says of its one life. Never rejects. */
export async function rerunLife(source: RerunSource, order: LifeToRerun): Promise<RerunOfLife> {
  const rerun = new Rerun(source, order);
  await rerun.toEnd();
  return {
    difference: rerun.script.difference,
    reached: rerun.script.position,
    state: order.state,
  };
}

class Rerun {
  readonly script: Script;
  private readonly order: LifeToRerun;
  private readonly model = new LoggedModel();
  private readonly calls: LoggedCalls;
  private readonly deadlines: LoggedDeadlines;
  private readonly deps: EngineDeps;
  private readonly run: LoggedRun;
  private isGiving = false;
  /** What a run of a template does with its items its log says. */
  private isDriven: boolean;
  private readonly driven = deferred<Ending>();
  private hasEnded = false;

  constructor(source: RerunSource, order: LifeToRerun) {
    const { life, whole, state } = order;
    const { id } = state.spec;
    this.isDriven = state.spec.fanOut !== undefined;
    this.order = order;
    this.script = new Script(id, whole, life.events);
    this.calls = new LoggedCalls(whole);
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

  /** All is quiet: what comes next comes from outside, or from nowhere. */
  private goOn(): void {
    const { script, order } = this;
    const next = script.next();
    if (next === undefined) return;
    if (this.isTimeToStop(order.life.stop)) {
      this.stop();
      return;
    }
    if (isFromOutside(next)) {
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
    script.fail('the rerun waits here, and for nothing that the log has');
  }

  private seen(event: TaskEvent): void {
    // Of a batch, when all of it stands there.
    if (this.isGiving || event.seq !== this.script.position) return;
    this.stopWhenDue(event.seq);
    this.giveOutside();
  }

  private stopWhenDue(seq: number): void {
    const { stop } = this.order.life;
    if (stop === null || stop.when !== 'at_once' || this.run.cancellation.signal.aborted) return;
    if (seq >= stop.after) this.stop();
  }

  /** Of an order that comes when all is quiet. */
  private isTimeToStop(stop: LifeStop | null): boolean {
    if (stop === null || stop.when === 'at_once' || this.run.cancellation.signal.aborted)
      return false;
    if (this.script.position < stop.after) return false;
    return stop.when === 'when_quiet' || this.model.isAsked;
  }

  private stop(): void {
    const { stop } = this.order.life;
    if (stop === null) return;
    if (stop.forced) this.run.cancellation.noteForce();
    this.run.stop(stop.order);
    this.calls.release();
  }

  /** All that comes from outside before the loop's own next event. */
  private giveOutside(): void {
    for (;;) {
      const next = this.script.next();
      if (next === undefined || !isFromOutside(next) || this.order.late.has(next.seq)) return;
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
      this.run.budget.recover({ ...event.spent, ...(event.work ?? { turns: 0, toolBytes: 0 }) });
    }
    this.run.mailbox.wake();
  }

  private depsOf(source: RerunSource, clock: EngineDeps['clock']): EngineDeps {
    return {
      ...idleDeps(source),
      settings: settingsOf(source, this.order.life),
      model: this.model,
      models: loggedModels(this.script, this.order.whole),
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

/** The output cap of the request that the log has next; null: no budget lowered it. */
function loggedOutputCap(next: TaskEvent | undefined): OutputCap | null {
  return next?.type === 'turn.started' ? (readOutputCap(next.outputCap) ?? null) : null;
}

/** Returns the flags of the end that the log has next: files and rules may be others now than they were then. */
function loggedFlags(script: Script): readonly ClaimFlag[] {
  for (let ahead = 0; ; ahead += 1) {
    const event = script.next(ahead);
    if (event === undefined) return [];
    if (event.type === 'task.ended') return event.claims ?? [];
  }
}

/** What came of the look for an earlier result; null: nobody looked, as far as its owner lived to write. */
function loggedReuse(script: Script): ReuseOutcome | null {
  for (let ahead = 0; ; ahead += 1) {
    const event = script.next(ahead);
    if (event === undefined) return null;
    if (isFromOutside(event)) continue;
    const body = stripStamp(event);
    return body.type === 'task.reused' || body.type === 'reuse.missed' ? body : null;
  }
}

/** As they were: of a log that does not say so, those of now. What tools gave is as short as it was to be. */
function settingsOf({ settings }: RerunSource, { events }: Life): EngineDeps['settings'] {
  const started = events.find((event) => event.type === 'task.started');
  const recorded = started?.type === 'task.started' ? started.settings : undefined;
  const caps = { ...settings.caps, resultBytes: Infinity, readBytes: Infinity };
  return { ...settings, ...recorded, caps };
}
