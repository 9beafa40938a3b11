import { type EpochToRerun, rerunEpoch, type EpochRerun } from './rerun-epoch.ts';
import { MusterError } from '../base/errors.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import { isMcpTool } from '../engine/prompt/listed-tools.ts';
import { readFullLog } from '../engine/task/fold-log.ts';
import type { RequestPrefix } from '../protocol/model.ts';
import { applyEvent, foldEvents } from '../protocol/state/fold.ts';
import type { TaskState } from '../protocol/state/task-state.ts';
import type { AnyTool } from '../protocol/tool.ts';
import type { RerunDifference } from './difference.ts';
import { splitIntoEpochs, type Epoch, isExternalEvent } from './epochs.ts';
import type { TaskStore } from '../store/task-store.ts';
import type { RerunSource } from './idle-deps.ts';

/** The outcome of a rerun of a task and all its descendants, the task itself first. */
export interface TreeRerun {
  /** The outcome for each task whose log could be read. The first one is the task itself. */
  readonly tasks: readonly TaskRerun[];
  /** The descendants whose logs do not exist or can't be read, with the reasons. */
  readonly lost: readonly { readonly task: string; readonly because: string }[];
}

/** Reruns a task and all its descendants. Throws MusterError if the log of the task itself can't be read. */
export async function rerunTree(source: RerunSource, id: string): Promise<TreeRerun> {
  const tasks: TaskRerun[] = [];
  const unreadable: { readonly task: string; readonly because: string }[] = [];
  const taskIds = new Set([id]);
  /** The children that ended without a receipt: those without a log never started, so there is nothing to rerun. */
  const neverStarted = new Set<string>();
  for (const task of taskIds) {
    if (neverStarted.has(task) && !source.store.exists(task)) continue;
    let events: readonly TaskEvent[] = [];
    try {
      events = readFullLog(source.store, task);
      tasks.push(await rerunTaskLog(source, events));
    } catch (thrown) {
      if (task === id || !(thrown instanceof MusterError)) throw thrown;
      unreadable.push({ task, because: thrown.message });
    }
    for (const event of events) {
      if (event.type === 'child.created') taskIds.add(event.child);
      if (event.type === 'child.ended' && event.receipt === undefined)
        neverStarted.add(event.child);
    }
  }
  return { tasks, lost: unreadable };
}

/** The outcome of a rerun of one task. */
export interface TaskRerun {
  /** The id of the task. */
  readonly task: string;
  /** The name of the agent as which the task ran. */
  readonly agent: string;
  /** The number of events in its log. */
  readonly events: number;
  /** The first difference, or null if the rerun produced the same events. */
  readonly difference: RerunDifference | null;
}

/**
 * The maximum number of events that are folded to get the states before all epochs. A log with few owners needs far
 * fewer.
 */
const MAX_FOLDED_EVENTS = 5_000_000;
/**
 * The maximum number of tries for one epoch. Each further try moves one more external event from before to after the
 * loop's decision (`rerunWithEitherOrder`).
 */
const MAX_TRIES = 12;

/**
 * Runs the loop of a task again with the answers, tool outputs, decisions, children and times of its log, and
 * compares event by event. Asks no model, runs no tool and writes nothing. Each epoch, the part of the log that one owner
 * wrote, is run by itself.
 */
export async function rerunTaskLog(
  source: RerunSource,
  events: readonly TaskEvent[],
): Promise<TaskRerun> {
  const { spec } = foldEvents(events.slice(0, 1));
  const view = new Map(
    spec.tools.map((name) => [name, source.tools.get(name) ?? createUnknownTool(name)]),
  );
  const prefix = loadPrefix(source.store, spec.prefix);
  let difference: RerunDifference | null = null;
  const states = new StartStates(events);
  for (const epoch of splitIntoEpochs(events)) {
    difference = await rerunWithEitherOrder(source, states, {
      epoch,
      allEvents: events,
      view,
      prefix,
    });
    if (difference !== null) break;
  }
  return { task: spec.id, agent: spec.agent.name, events: events.length, difference };
}

type LoggedEpoch = Omit<EpochToRerun, 'state' | 'lateEvents'>;

/**
 * Reruns an epoch, with external events before or after the loop's decisions. A log shows when an external event was
 * written, but not whether the loop had already seen it when it decided what to do next. If
 * one order leads to a difference, other orders are tried.
 */
async function rerunWithEitherOrder(
  source: RerunSource,
  states: StartStates,
  logged: LoggedEpoch,
): Promise<RerunDifference | null> {
  const lateEvents = new Set<number>();
  let best: EpochRerun | null = null;
  for (let tried = 0; tried < MAX_TRIES; tried += 1) {
    const state = states.take(logged.epoch);
    if (state === null) return describeFoldLimit(logged);
    const rerun = await rerunEpoch(source, { ...logged, state, lateEvents });
    if (rerun.difference === null) {
      states.reuse(rerun.state);
      return null;
    }
    if (best === null || rerun.reached > best.reached) best = rerun;
    const candidate = logged.epoch.events.findLast(
      (event) =>
        event.seq <= rerun.reached + 1 && isExternalEvent(event) && !lateEvents.has(event.seq),
    );
    if (candidate === undefined) break;
    lateEvents.add(candidate.seq);
  }
  return best?.difference ?? null;
}

/**
 * The states at the starts of the epochs. After an epoch without a difference its final state is reused, because
 * folding the log from its start for each epoch takes quadratic time.
 */
class StartStates {
  private readonly events: readonly TaskEvent[];
  private readonly hasRewinds: boolean;
  private lastState: TaskState | null = null;
  private foldedEvents = 0;

  constructor(events: readonly TaskEvent[]) {
    this.events = events;
    // A rewind changes the state of events before it, so a state can't be continued.
    this.hasRewinds = events.some(({ type }) => type === 'task.rewound');
  }

  /** Returns a state that one try may change, or null after `MAX_FOLDED_EVENTS` events. */
  take({ eventsBefore: before }: Epoch): TaskState | null {
    const { lastState } = this;
    this.lastState = null;
    const claim = this.events[before - 1];
    if (
      lastState !== null &&
      claim !== undefined &&
      lastState.lastSeq === this.events[before - 2]?.seq
    ) {
      applyEvent(lastState, claim);
      return lastState;
    }
    this.foldedEvents += before;
    if (this.foldedEvents > MAX_FOLDED_EVENTS) return null;
    return foldEvents(this.events.slice(0, before));
  }

  reuse(state: TaskState): void {
    this.lastState = this.hasRewinds ? null : state;
  }
}

function describeFoldLimit({ epoch, allEvents }: LoggedEpoch): RerunDifference | null {
  const next = epoch.events[0] ?? allEvents[epoch.eventsBefore - 1];
  if (next === undefined) return null;
  const { task, seq, type } = next;
  const lines = [
    `the rerun stops here: the log changed its owner so often that more than ${MAX_FOLDED_EVENTS} events would be read`,
  ];
  return { task, seq, type, lines };
}

function loadPrefix(store: TaskStore, hash: string): RequestPrefix {
  try {
    const prefix: RequestPrefix = JSON.parse(store.getBlob(hash));
    return prefix;
  } catch {
    // The blob of the prefix is missing, or the log was written by a version that did not store prefixes. Only estimates use the prefix, and no
    // event contains it.
    return { system: [], tools: [] };
  }
}

/** Creates a substitute for a tool that does not exist any more. Its outcomes are in the log. */
function createUnknownTool(name: string): AnyTool {
  return {
    name,
    kind: 'meta',
    // A call of a server does not run again after a crash, so a rerun must not wait for it either.
    replay: isMcpTool(name) ? 'opaque' : 'pure',
    description: '',
    inputSchema: { type: 'object' },
    parse: (input) => ({ ok: true, input }),
    run: () => Promise.reject(new Error(`${name} is not run`)),
  };
}
