import { type EpochToRerun, rerunEpoch, type EpochRerun } from './rerun-epoch.ts';
import { MusterError } from '../base/errors.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import { readFullLog } from '../engine/task/fold-log.ts';
import type { RequestPrefix } from '../protocol/model.ts';
import { applyEvent, foldEvents } from '../protocol/state/fold.ts';
import type { TaskState } from '../protocol/state/task-state.ts';
import type { AnyTool } from '../protocol/tool.ts';
import type { Difference } from './rerun-log.ts';
import { splitIntoEpochs, type Epoch, isExternalEvent } from './epochs.ts';
import type { TaskStore } from '../store/task-store.ts';
import type { RerunSource } from './idle-deps.ts';

/** The outcome of a rerun of a task and all its descendants, the task itself first. */
export interface TreeRerun {
  readonly tasks: readonly TaskRerun[];
  /** Descendants whose logs do not exist or can't be read, with the reasons. */
  readonly lost: readonly { readonly task: string; readonly because: string }[];
}

/** Reruns a task and all its descendants. Throws MusterError if the log of the task itself can't be read. */
export async function rerunTree(source: RerunSource, id: string): Promise<TreeRerun> {
  const tasks: TaskRerun[] = [];
  const lost: { readonly task: string; readonly because: string }[] = [];
  const known = new Set([id]);
  for (const task of known) {
    let events: readonly TaskEvent[] = [];
    try {
      events = readFullLog(source.store, task);
      tasks.push(await rerunTaskLog(source, events));
    } catch (thrown) {
      if (task === id || !(thrown instanceof MusterError)) throw thrown;
      lost.push({ task, because: thrown.message });
    }
    for (const event of events) if (event.type === 'child.created') known.add(event.child);
  }
  return { tasks, lost };
}

/** The outcome of a rerun of one task. */
export interface TaskRerun {
  readonly task: string;
  readonly agent: string;
  /** The number of events in its log. */
  readonly events: number;
  /** The first difference, or null if the rerun made every event again. */
  readonly difference: Difference | null;
}

/** Maximum number of events that are folded for the states before all epochs; a log of a few owners needs far fewer. */
const MAX_FOLDED = 5_000_000;
/** Maximum number of tries for one epoch, each with another external event after the loop's decision. */
const MAX_TRIES = 12;

/**
 * Runs the loop of a task again with the answers, tool outputs, decisions, children and times of its log, and compares
 * event by event. It asks no model, runs no tool and writes nothing. Each epoch is run by itself.
 */
export async function rerunTaskLog(
  source: RerunSource,
  events: readonly TaskEvent[],
): Promise<TaskRerun> {
  const { spec } = foldEvents(events.slice(0, 1));
  const view = new Map(
    spec.tools.map((name) => [name, source.tools.get(name) ?? unknownTool(name)]),
  );
  const prefix = prefixOf(source.store, spec.prefix);
  let difference: Difference | null = null;
  const states = new StatesBefore(events);
  for (const epoch of splitIntoEpochs(events)) {
    difference = await rerunEitherWay(source, states, { epoch, allEvents: events, view, prefix });
    if (difference !== null) break;
  }
  return { task: spec.id, agent: spec.agent.name, events: events.length, difference };
}

type LoggedEpoch = Omit<EpochToRerun, 'state' | 'lateEvents'>;

/**
 * Reruns an epoch with external events before or after the loop's decisions. A log has the order in which events were
 * written, but not whether an external event came before or after the decision about the next one. If one order leads
 * to a difference, the other is tried.
 */
async function rerunEitherWay(
  source: RerunSource,
  states: StatesBefore,
  order: LoggedEpoch,
): Promise<Difference | null> {
  const lateEvents = new Set<number>();
  let best: EpochRerun | null = null;
  for (let tried = 0; tried < MAX_TRIES; tried += 1) {
    const state = states.take(order.epoch);
    if (state === null) return tooOftenFolded(order);
    const rerun = await rerunEpoch(source, { ...order, state, lateEvents });
    if (rerun.difference === null) {
      states.keep(rerun.state);
      return null;
    }
    if (best === null || rerun.reached > best.reached) best = rerun;
    const doubtful = order.epoch.events.findLast(
      (event) =>
        event.seq <= rerun.reached + 1 && isExternalEvent(event) && !lateEvents.has(event.seq),
    );
    if (doubtful === undefined) break;
    lateEvents.add(doubtful.seq);
  }
  return best?.difference ?? null;
}

/**
 * The states before the epochs. After an epoch without a difference its final state is reused, since folding the full
 * log for each of its owners takes time quadratic in its length.
 */
class StatesBefore {
  private readonly events: readonly TaskEvent[];
  private readonly hasRewinds: boolean;
  private kept: TaskState | null = null;
  private folded = 0;

  constructor(events: readonly TaskEvent[]) {
    this.events = events;
    // A rewind changes the state before it.
    this.hasRewinds = events.some(({ type }) => type === 'task.rewound');
  }

  /** Returns a state for one try, which may change it. Returns null after `MAX_FOLDED` events. */
  take({ eventsBefore: before }: Epoch): TaskState | null {
    const { kept } = this;
    this.kept = null;
    const claim = this.events[before - 1];
    if (kept !== null && claim !== undefined && kept.lastSeq === this.events[before - 2]?.seq) {
      applyEvent(kept, claim);
      return kept;
    }
    this.folded += before;
    if (this.folded > MAX_FOLDED) return null;
    return foldEvents(this.events.slice(0, before));
  }

  keep(state: TaskState): void {
    this.kept = this.hasRewinds ? null : state;
  }
}

function tooOftenFolded({ epoch, allEvents }: LoggedEpoch): Difference | null {
  const next = epoch.events[0] ?? allEvents[epoch.eventsBefore - 1];
  if (next === undefined) return null;
  const { task, seq, type } = next;
  const lines = [
    `not run from here on: the log had so many owners that more than ${MAX_FOLDED} events would be read`,
  ];
  return { task, seq, type, lines };
}

function prefixOf(store: TaskStore, hash: string): RequestPrefix {
  try {
    const prefix: RequestPrefix = JSON.parse(store.getBlob(hash));
    return prefix;
  } catch {
    // The prefix is lost, or the log is older than prefixes. Only estimates use it, and no event contains it.
    return { system: [], tools: [] };
  }
}

/** Creates a tool in place of one that does not exist any more. The log has its outcomes. */
function unknownTool(name: string): AnyTool {
  return {
    name,
    kind: 'meta',
    replay: 'pure',
    description: '',
    inputSchema: { type: 'object' },
    parse: (input) => ({ ok: true, input }),
    run: () => Promise.reject(new Error(`${name} is not run`)),
  };
}
