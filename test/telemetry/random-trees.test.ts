import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import { addUsage, NO_USAGE } from '../../src/protocol/model.ts';
import { MetricStore } from '../../src/telemetry/metric-store.ts';
import { readTraceSpans } from '../../src/telemetry/read-trace.ts';
import type { SpanRecord } from '../../src/telemetry/span-record.ts';
import { EventFollower } from '../../src/telemetry/event-follower.ts';
import { wildPlan } from '../engine/random-plans.ts';
import { randomRuns } from '../engine/random-runs.ts';
import {
  eventsOf,
  live,
  newWorld,
  stateOf,
  type Plan,
  type World,
} from '../engine/random-world.ts';
import { findOrphans } from './span-tree.ts';

const RUNS = randomRuns(40);
const OPTIONS = { content: true };

/** The events of one process, and whether it was killed. */
interface PlayedLife {
  readonly events: readonly TaskEvent[];
  readonly isKilled: boolean;
}

/** Runs a plan to its end. `deaths`: for each process that is killed, the share of the batches that it still writes. */
async function play(
  plan: Plan,
  deaths: readonly number[],
): Promise<readonly [World, PlayedLife[]]> {
  const calm = newWorld(plan);
  await live(calm, null);
  await calm.store.close();
  const world = newWorld(plan);
  const lives: PlayedLife[] = [];
  for (const death of [...deaths, null]) {
    const events: TaskEvent[] = [];
    world.onEvent = (event) => void events.push(event);
    // A process that dies in the first batch leaves nothing to resume.
    const batch = 2 + Math.floor((death ?? 0) * (calm.batches.all - 1));
    const hasEnded = await live(
      world,
      death === null ? null : { batch, several: false, kept: Math.floor(death * 3) },
    );
    lives.push({ events, isKilled: !hasEnded });
    if (hasEnded) break;
  }
  return [world, lives];
}

function taskOf({ attributes }: SpanRecord): unknown {
  return attributes['gen_ai.conversation.id'];
}

function sum(spans: readonly SpanRecord[], key: string): number {
  return spans.reduce((total, { attributes }) => total + Number(attributes[key] ?? 0), 0);
}

/** Returns the input and output tokens of all tasks, as their ledgers count them. */
function countTokens({ ids, store }: World) {
  const ledgers = ids.flatMap((id) => stateOf(store, id).ledger);
  const usage = ledgers.reduce((total, entry) => addUsage(total, entry.usage), NO_USAGE);
  return { input: usage.input + usage.cacheRead + usage.cacheWrite, output: usage.output };
}

function expectTree({ ids, store }: World, spans: readonly SpanRecord[]): void {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  expect(byId.size).toBe(spans.length);
  expect(findOrphans(spans)).toEqual([]);
  const parentTask = ({ parentSpanId }: SpanRecord): unknown => {
    const parent = byId.get(parentSpanId ?? '');
    return parent === undefined ? null : taskOf(parent);
  };
  for (const id of ids) {
    const { spec } = stateOf(store, id);
    const own = Map.groupBy(
      spans.filter((span) => taskOf(span) === id),
      ({ name }) => name.split(' ')[0],
    );
    const events = eventsOf(store, id);
    // A task that is resumed by another one continues below that one.
    const parents = events.flatMap((event) => {
      if (event.type === 'task.created') return [spec.parent];
      if (event.type !== 'task.resumed') return [];
      return [event.by === 'user' ? spec.parent : event.by];
    });
    expect((own.get('invoke_agent') ?? []).map(parentTask)).toEqual(parents);
    for (const name of ['chat', 'execute_tool']) {
      const tasks = (own.get(name) ?? []).map(parentTask);
      expect(tasks).toEqual(tasks.map(() => id));
    }
    const answers = events.filter(({ type }) => type === 'turn.ended' || type === 'turn.failed');
    expect((own.get('chat') ?? []).length).toBeGreaterThanOrEqual(answers.length);
  }
  for (const { startMs, endMs } of spans) expect(endMs).toBeGreaterThanOrEqual(startMs);
}

describe('any tree of tasks', () => {
  it(
    'has the tree of its tasks as its spans, with the tokens of its ledgers',
    RUNS.test,
    async () => {
      await fc.assert(
        fc.asyncProperty(wildPlan, async (plan) => {
          const [world, [life]] = await play(plan, []);
          const [root = ''] = world.ids;
          const spans = readTraceSpans(world.store, root, OPTIONS);
          expectTree(world, spans);
          const follower = new EventFollower(world.store, OPTIONS);
          const metrics = new MetricStore();
          const exported = (life?.events ?? []).flatMap((event) => {
            follower.note(event);
            const work = follower.accept(event);
            for (const measurement of work.measurements) metrics.add(measurement);
            return work.spans;
          });
          expect(toMap(exported)).toEqual(toMap(spans));
          const tokens = countTokens(world);
          expect({
            input: sum(spans, 'gen_ai.usage.input_tokens'),
            output: sum(spans, 'gen_ai.usage.output_tokens'),
          }).toEqual(tokens);
          const points = metrics
            .read()
            .filter(({ metric }) => metric.name === 'gen_ai.client.token.usage')
            .flatMap((series) => series.points);
          const total = (type: string) =>
            points
              .filter(({ attributes }) => attributes['gen_ai.token.type'] === type)
              .reduce((all, point) => all + point.sum, 0);
          expect({ input: total('input'), output: total('output') }).toEqual(tokens);
          await world.store.close();
        }),
        RUNS.runs,
      );
    },
  );

  it(
    'has all its spans exported after kills, however much each process had exported',
    RUNS.test,
    async () => {
      const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
      await fc.assert(
        fc.asyncProperty(
          wildPlan,
          fc.array(share, { minLength: 1, maxLength: 3 }),
          fc.array(share, { minLength: 3, maxLength: 3 }),
          async (plan, deaths, shares) => {
            const [world, lives] = await play(plan, deaths);
            const [root = ''] = world.ids;
            const isEnd = ({ task, type }: TaskEvent) => task === root && type === 'task.ended';
            const ends = eventsOf(world.store, root).filter(isEnd);
            // A process that dies between the write of the end and its report exports nothing of the end.
            fc.pre(lives.flatMap(({ events }) => events).filter(isEnd).length === ends.length);
            const exported = lives.flatMap(({ events, isKilled }, index) => {
              // When a root task ends, everything is sent at once.
              const end = events.findLastIndex(isEnd);
              const count = Math.ceil(events.length * (isKilled ? (shares[index] ?? 0) : 1));
              return exportFirst(world, events.slice(0, Math.max(count, end + 1)));
            });
            const spans = toMap(readTraceSpans(world.store, root, OPTIONS));
            expect(toMap(exported)).toEqual(spans);
            for (const span of exported) expect(span).toEqual(spans.get(span.spanId));
            await world.store.close();
          },
        ),
        RUNS.runs,
      );
    },
  );

  it(
    'has the same spans whatever part of the events is read from the logs',
    RUNS.test,
    async () => {
      await fc.assert(
        fc.asyncProperty(wildPlan, fc.nat(), fc.nat(), async (plan, from, count) => {
          const [world, [life]] = await play(plan, []);
          const events = life?.events ?? [];
          const start = from % (events.length + 1);
          const follower = new EventFollower(world.store, OPTIONS);
          for (const event of events) follower.note(event);
          const missing = new Set(events.slice(start, start + count).map(({ task }) => task));
          const exported = [
            ...events.slice(0, start).flatMap((event) => follower.accept(event).spans),
            ...events.slice(start + count).flatMap((event) => follower.accept(event).spans),
            ...[...missing].flatMap((task) => follower.catchUp(task).spans),
          ];
          const [root = ''] = world.ids;
          expect(toMap(exported)).toEqual(toMap(readTraceSpans(world.store, root, OPTIONS)));
          expect(new Set(exported.map(({ spanId }) => spanId)).size).toBe(exported.length);
          await world.store.close();
        }),
        RUNS.runs,
      );
    },
  );
});

/** Exports the first events of a process. */
function exportFirst(world: World, seen: readonly TaskEvent[]): readonly SpanRecord[] {
  const follower = new EventFollower(upTo(world, seen), OPTIONS);
  for (const event of seen) follower.note(event);
  return seen.flatMap((event) => follower.accept(event).spans);
}

/** The logs as they were when a process had written these events: later events of the same tasks are not there yet. */
function upTo({ store }: World, seen: readonly TaskEvent[]) {
  const last = new Map(seen.map(({ task, seq }) => [task, seq]));
  const newest = Math.max(...seen.map(({ ts }) => ts));
  return {
    exists: (id: string) => store.exists(id),
    scan: (id: string, visit: (event: TaskEvent) => void) =>
      store.scan(id, (event) => {
        if (event.seq <= (last.get(id) ?? Infinity) && event.ts <= newest) visit(event);
      }),
  };
}

function toMap(spans: readonly SpanRecord[]): ReadonlyMap<string, SpanRecord> {
  return new Map(spans.map((span) => [span.spanId, span]));
}
