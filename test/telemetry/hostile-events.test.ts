import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/base/json.ts';
import type { EventBody, TaskEvent } from '../../src/protocol/events/event.ts';
import { NO_USAGE } from '../../src/protocol/model.ts';
import { MetricFold } from '../../src/telemetry/metric-fold.ts';
import { MetricStore } from '../../src/telemetry/metric-store.ts';
import { encodeMetrics, encodeTraces } from '../../src/telemetry/otlp-json.ts';
import { SpanFold } from '../../src/telemetry/span-fold.ts';
import { MAIN_AGENT } from '../../src/engine/task/main-agent.ts';
import { MODEL, rootRights } from '../engine/support.ts';
import { decodePoints, decodeSpans } from './receiver.ts';

const TASK = 'abcdefghijkl';
/** A terminal sequence, a lone surrogate, a line end, a character that turns the direction, and too many characters. */
const HOSTILE = `\u001b]0;evil\u0007\ud800\n\u202e${'x'.repeat(1000)}`;
const CONTENT = `\ud800${'y'.repeat(20_000)}`;

const CREATED: EventBody = {
  type: 'task.created',
  spec: {
    id: TASK,
    root: TASK,
    parent: null,
    parentCall: null,
    depth: 0,
    agent: { ...MAIN_AGENT, name: HOSTILE },
    description: '',
    prompt: CONTENT,
    model: { ...MODEL, provider: HOSTILE, id: HOSTILE },
    cwd: '/',
    rights: rootRights(0),
    tools: [],
    limits: { maxTurns: null, maxTokens: null, wallMs: null, resultMaxTokens: 1 },
    prefix: '',
    handed: [],
    background: false,
    source: 'sdk',
    traceparent: HOSTILE,
    params: {},
  },
};
const BODIES: readonly EventBody[] = [
  CREATED,
  { type: 'task.started' },
  { type: 'turn.started', turn: 1, inputs: [], model: HOSTILE, toolChoice: 'auto' },
  {
    type: 'turn.ended',
    turn: 1,
    message: {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: CONTENT },
        { type: 'tool_call', id: HOSTILE, name: HOSTILE, input: { text: CONTENT } },
      ],
    },
    usage: { ...NO_USAGE, input: Number.NaN, output: -5 },
    costUsd: Number.POSITIVE_INFINITY,
    reason: 'tool_calls',
    model: HOSTILE,
    ms: 1,
  },
  { type: 'call.started', callId: HOSTILE, tool: HOSTILE, input: { text: CONTENT } },
  { type: 'limit.reached', limit: HOSTILE, value: Number.NaN, used: Number.POSITIVE_INFINITY },
  {
    type: 'call.ended',
    callId: HOSTILE,
    tool: HOSTILE,
    text: CONTENT,
    error: null,
    facts: {},
    ms: 1,
  },
  {
    type: 'task.ended',
    end: { status: 'completed', error: null, because: HOSTILE, by: null },
    result: CONTENT,
  },
];
const EVENTS = BODIES.map((body, seq): TaskEvent => {
  const ts = seq === 3 ? Number.NaN : 1e12;
  return Object.assign({ v: 4, seq, ts, task: TASK, epoch: 1 }, body);
});

function send(body: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(body));
}

describe('hostile names and numbers in a log', () => {
  it.each([false, true])('do no harm in spans (content: %s)', (content) => {
    const fold = new SpanFold({ content });
    const ended = EVENTS.flatMap((event) => fold.apply(event));
    // The receiver checks that each text is well-formed and each number a number.
    const spans = decodeSpans(send(encodeTraces(ended, { resource: {}, version: '1' })));
    expect(spans.map(({ name }) => name.split(' ')[0])).toEqual([
      'chat',
      'execute_tool',
      'invoke_agent',
    ]);
    const text = JSON.stringify(spans, (_, value) => (typeof value === 'bigint' ? 0 : value));
    for (const character of ['\u001b', '\\u001b', '\u202e']) expect(text).not.toContain(character);
    expect(text.isWellFormed()).toBe(true);
    for (const { name } of spans) expect(name.length).toBeLessThan(230);
    expect(text.includes('otel_content_characters')).toBe(content);
    expect(text.includes('yyyy')).toBe(content);
  });

  it('do no harm in metrics', () => {
    const spans = new SpanFold({ content: false });
    const metrics = new MetricFold();
    const store = new MetricStore();
    for (const event of EVENTS) {
      for (const each of metrics.measure(event, spans.apply(event))) store.add(each);
    }
    const source = { resource: {}, version: '1' };
    const body = send(encodeMetrics(store.read(), source, { startMs: 1, nowMs: 2 }));
    const points = decodePoints(body);
    expect(points.filter(({ value }) => !Number.isFinite(value))).toEqual([]);
    const states = points.flatMap(({ metric, value, attributes }) =>
      metric === 'muster.tasks' ? [[attributes['muster.task.state'], value]] : [],
    );
    expect(states).toEqual([
      ['queued', 0],
      ['running', 0],
      ['completed', 1],
    ]);
    const hits = points.filter(({ metric }) => metric === 'muster.limit.hits');
    expect(hits.map(({ value }) => value)).toEqual([1]);
  });
});
