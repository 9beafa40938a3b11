import { MusterError } from '../base/errors.ts';
import { fullLog } from '../engine/task/fold-log.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import type { RequestPrefix } from '../protocol/model.ts';
import { applyEvent, foldEvents } from '../protocol/state/fold.ts';
import type { TaskState } from '../protocol/state/task-state.ts';
import type { AnyTool } from '../protocol/tool.ts';
import type { Difference } from './difference.ts';
import { splitIntoEpochs, type Epoch } from './epochs.ts';
import { isExternalEvent } from './external-events.ts';
import { rerunEpoch, type EpochRerun } from './rerun-epoch.ts';
import type { TaskStore } from '../store/task-store.ts';
import type { RerunSource } from './idle-deps.ts';

/** What a rerun of a task and all below it came to, the task itself first. */
export interface TreeRerun {
  readonly tasks: readonly TaskRerun[];
  /** Tasks below it whose logs are gone, or can't be read: why. */
  readonly lost: readonly { readonly task: string; readonly because: string }[];
}

export async function rerunTree(source: RerunSource, id: string): Promise<TreeRerun> {
  const tasks: TaskRerun[] = [];
  const lost: { readonly task: string; readonly because: string }[] = [];
  const known = new Set([id]);
  for (const task of known) {
    let events: readonly TaskEvent[] = [];
    try {
      events = fullLog(source.store, task);
      tasks.push(await rerunTaskLog(source, events));
    } catch (thrown) {
      if (task === id || !(thrown instanceof MusterError)) throw thrown;
      lost.push({ task, because: thrown.message });
    }
    for (const event of events) if (event.type === 'child.created') known.add(event.child);
  }
  return { tasks, lost };
}

/** What a rerun of one task came to. */
export interface TaskRerun {
  readonly task: string;
  readonly agent: string;
  /** Events of its log. */
  readonly events: number;
  /** Null: every one of them was made again as it stands there. */
  readonly difference: Difference | null;
}

/** Events that are folded for the beginnings of all lives together; a log of a few owners has far fewer. */
const MOST_FOLDED = 5_000_000;
/** Places in one life where the order of what came and what was decided is tried both ways. */
const MOST_TRIES = 12;

/**
 * Runs the loop of a task again, over answers, tools, decisions, children and time that its log holds, and
 * compares event by event. Asks nobody, runs nothing, writes nothing. Each owner of the log is run by itself.
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

interface LoggedEpoch {
  readonly epoch: Epoch;
  readonly allEvents: readonly TaskEvent[];
  readonly view: ReadonlyMap<string, AnyTool>;
  readonly prefix: RequestPrefix;
}

/**
 * A log tells in which order things were written, and not whether what came from outside came before or
 * after the loop had decided about what it wrote next. Where one way leads elsewhere, the other is tried.
 */
async function rerunEitherWay(
  source: RerunSource,
  states: StatesBefore,
  order: LoggedEpoch,
): Promise<Difference | null> {
  const lateEvents = new Set<number>();
  let best: EpochRerun | null = null;
  for (let tried = 0; tried < MOST_TRIES; tried += 1) {
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
 * The states that lives begin with. That of the one before is gone on with where it went the same way: to
 * fold the whole log for each of its owners takes the square of its length.
 */
class StatesBefore {
  private readonly events: readonly TaskEvent[];
  private readonly hasRewinds: boolean;
  private kept: TaskState | null = null;
  private folded = 0;

  constructor(events: readonly TaskEvent[]) {
    this.events = events;
    // They change what came before them.
    this.hasRewinds = events.some(({ type }) => type === 'task.rewound');
  }

  /** For one try; the next gets another one. Null: `MOST_FOLDED`. */
  take({ eventsBefore: before }: Epoch): TaskState | null {
    const { kept } = this;
    this.kept = null;
    const claim = this.events[before - 1];
    if (kept !== null && claim !== undefined && kept.lastSeq === this.events[before - 2]?.seq) {
      applyEvent(kept, claim);
      return kept;
    }
    this.folded += before;
    if (this.folded > MOST_FOLDED) return null;
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
    `not run from here on: the log was taken so often that more than ${MOST_FOLDED} events would be read`,
  ];
  return { task, seq, type, lines };
}

function prefixOf(store: TaskStore, hash: string): RequestPrefix {
  try {
    const prefix: RequestPrefix = JSON.parse(store.getBlob(hash));
    return prefix;
  } catch {
    // Lost, or of a log from before there were any: no event holds it, and estimates alone look at it.
    return { system: [], tools: [] };
  }
}

/** One that is not there any more: its log says what came of it. */
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
