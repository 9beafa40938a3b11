import type { TaskEvent } from '../../protocol/event.ts';
import { foldEvents } from '../../protocol/state.ts';
import type { AnyTool } from '../../protocol/tool.ts';
import type { RequestPrefix } from '../../protocol/model.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { Difference } from './difference.ts';
import { loadClaimCheck } from '../claims/task-claims.ts';
import { livesOf, type Life } from './lives.ts';
import { isFromOutside } from './outside.ts';
import { rerunLife, type RerunOfLife } from './rerun-life.ts';
import type { RerunSource } from './rerun-source.ts';

/** What a rerun of one task came to. */
export interface TaskRerun {
  readonly task: string;
  readonly agent: string;
  /** Events of its log. */
  readonly events: number;
  /** Null: every one of them was made again as it stands there. */
  readonly difference: Difference | null;
}

/** Places in one life where the order of what came and what was decided is tried both ways. */
const MOST_TRIES = 12;

/**
 * Runs the loop of a task again, over answers, tools, decisions, children and time that its log holds, and
 * compares event by event. Asks nobody, runs nothing, writes nothing. Each owner of the log is run by itself.
 */
export async function rerunTask(
  source: RerunSource,
  events: readonly TaskEvent[],
): Promise<TaskRerun> {
  await loadClaimCheck();
  const { spec } = foldEvents(events.slice(0, 1));
  const view = new Map(
    spec.tools.map((name) => [name, source.tools.get(name) ?? unknownTool(name)]),
  );
  const prefix = prefixOf(source.store, spec.prefix);
  let difference: Difference | null = null;
  for (const life of livesOf(events)) {
    difference = await rerunEitherWay(source, { life, whole: events, view, prefix });
    if (difference !== null) break;
  }
  return { task: spec.id, agent: spec.agent.name, events: events.length, difference };
}

interface LifeOf {
  readonly life: Life;
  readonly whole: readonly TaskEvent[];
  readonly view: ReadonlyMap<string, AnyTool>;
  readonly prefix: RequestPrefix;
}

/**
 * A log tells in which order things were written, and not whether what came from outside came before or
 * after the loop had decided about what it wrote next. Where one way leads elsewhere, the other is tried.
 */
async function rerunEitherWay(source: RerunSource, order: LifeOf): Promise<Difference | null> {
  const late = new Set<number>();
  let best: RerunOfLife | null = null;
  for (let tried = 0; tried < MOST_TRIES; tried += 1) {
    const rerun = await rerunLife(source, { ...order, late });
    if (rerun.difference === null) return null;
    if (best === null || rerun.reached > best.reached) best = rerun;
    const doubtful = order.life.events.findLast(
      (event) => event.seq <= rerun.reached + 1 && isFromOutside(event) && !late.has(event.seq),
    );
    if (doubtful === undefined) break;
    late.add(doubtful.seq);
  }
  return best?.difference ?? null;
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
