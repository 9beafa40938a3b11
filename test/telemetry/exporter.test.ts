import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JsonValue } from '../../src/base/json.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import { TelemetryExporter } from '../../src/telemetry/exporter.ts';
import type { SendOutcome } from '../../src/telemetry/otlp-client.ts';
import { calmPlan } from '../engine/random-plans.ts';
import { eventsOf, live, newWorld } from '../engine/random-world.ts';
import { decodeSpans } from './receiver.ts';
import { readTraceSpans } from '../../src/telemetry/read-trace.ts';
import * as fc from 'fast-check';

const SENT: SendOutcome = { kind: 'sent' };
const FAILED: SendOutcome = { kind: 'failed', reason: 'it is away\u001b[31m' };
const [PLAN] = fc.sample(calmPlan, { numRuns: 1, seed: 7 });

async function playTree() {
  if (PLAN === undefined) throw new Error('no plan');
  const world = newWorld(PLAN);
  const events: TaskEvent[] = [];
  world.onEvent = (event) => void events.push(event);
  await live(world, null);
  const [root = ''] = world.ids;
  return { world, events, root, spans: readTraceSpans(world.store, root, { content: false }) };
}

type Tree = Awaited<ReturnType<typeof playTree>>;

function open({ world }: Tree, answer: (path: string) => SendOutcome) {
  const bodies: JsonValue[] = [];
  const notices: string[] = [];
  const exporter = new TelemetryExporter({
    settings: {
      tracesUrl: new URL('http://user:password@receiver/v1/traces'),
      metricsUrl: new URL('http://receiver/v1/metrics'),
      headers: {},
      resource: {},
      content: false,
    },
    source: { resource: {}, version: '1' },
    client: {
      send: async (url, body) => {
        const outcome = answer(url.pathname);
        if (outcome.kind === 'sent' && url.pathname === '/v1/traces') bodies.push(body);
        return Promise.resolve(outcome);
      },
    },
    logs: world.store,
    now: Date.now,
    onNotice: (line) => void notices.push(line),
  });
  const received = () =>
    bodies.flatMap((body) => decodeSpans(JSON.parse(JSON.stringify(body)) as JsonValue));
  return { exporter, notices, received };
}

describe('the exporter', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  async function playedTree(): Promise<Tree> {
    vi.useRealTimers();
    const tree = await playTree();
    vi.useFakeTimers();
    return tree;
  }

  it('sends each span once, and nothing while an event is pushed', async () => {
    const tree = await playedTree();
    const { exporter, notices, received } = open(tree, () => SENT);
    for (const event of tree.events) exporter.push(event, 'another tree');
    expect(received()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1500);
    const ids = tree.spans.map(({ spanId }) => spanId).toSorted();
    expect(
      received()
        .map(({ spanId }) => spanId)
        .toSorted(),
    ).toEqual(ids);
    await exporter.close();
    expect([received().length, notices]).toEqual([ids.length, []]);
  });

  it('keeps spans while the receiver fails, waits longer each time, and sends them later', async () => {
    const tree = await playedTree();
    let tries = 0;
    let isAway = true;
    const { exporter, notices, received } = open(tree, (path) => {
      if (path === '/v1/metrics') return SENT;
      tries += 1;
      return isAway ? FAILED : SENT;
    });
    for (const event of tree.events) exporter.push(event, tree.root);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(tries).toBeLessThanOrEqual(7);
    isAway = false;
    await vi.advanceTimersByTimeAsync(40_000);
    expect(received().length).toBe(tree.spans.length);
    await exporter.close();
    expect(notices).toEqual([]);
  });

  it('reports once what could not be delivered, without a password or a control character', async () => {
    const tree = await playedTree();
    const { exporter, notices } = open(tree, () => FAILED);
    for (const event of tree.events) exporter.push(event, tree.root);
    await exporter.close();
    await exporter.close();
    expect(notices.length).toBe(1);
    expect(notices[0]).toMatch(
      /^telemetry: \d+ spans? and the metrics could not be delivered to http:\/\/receiver\/v1\/traces: it is away/,
    );
    for (const text of ['password', '\u001b']) expect(notices[0]).not.toContain(text);
  });

  it('reads events that did not fit into its queue from the logs', async () => {
    const tree = await playedTree();
    const { exporter, notices, received } = open(tree, () => SENT);
    const [first] = tree.events;
    if (first === undefined) throw new Error('no events');
    // The queue is full of an event that counts only once.
    for (let count = 0; count < 10_000; count += 1) exporter.push(first, 'another tree');
    for (const event of tree.events.slice(1)) exporter.push(event, 'another tree');
    await exporter.close();
    const ids = tree.spans.map(({ spanId }) => spanId).toSorted();
    expect(
      received()
        .map(({ spanId }) => spanId)
        .toSorted(),
    ).toEqual(ids);
    expect([notices, eventsOf(tree.world.store, tree.root).length > 1]).toEqual([[], true]);
  });
});
