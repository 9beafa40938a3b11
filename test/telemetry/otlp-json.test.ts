import { JsonMetricsSerializer, JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonValue } from '../../src/base/json.ts';
import { MetricStore, type MetricSpec } from '../../src/telemetry/metric-store.ts';
import { encodeMetrics, encodeTraces } from '../../src/telemetry/otlp-json.ts';
import type { SpanRecord } from '../../src/telemetry/span-record.ts';
import { decodePoints, decodeSpans } from './receiver.ts';

type SdkSpan = Parameters<typeof JsonTraceSerializer.serializeRequest>[0][number];
type SdkMetrics = Parameters<typeof JsonMetricsSerializer.serializeRequest>[0];

const SOURCE = { resource: { 'service.name': 'muster' }, version: '1.2.3' };
const RESOURCE = { attributes: SOURCE.resource } as unknown as SdkSpan['resource'];
const SCOPE = { name: 'muster', version: SOURCE.version };

const id = (digits: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'), { minLength: digits, maxLength: digits })
    .map((characters) => `${characters.slice(1).join('')}1`);
const name = fc.string({ unit: 'grapheme', maxLength: 20 });
const attributes = fc.dictionary(
  name,
  fc.oneof(
    name,
    fc.boolean(),
    fc.integer(),
    // The other serializer writes larger numbers as integers that do not fit into 64 bits.
    fc.double({ noNaN: true, min: -1e15, max: 1e15 }),
    fc.array(name, { maxLength: 3 }),
  ),
  { maxKeys: 4, noNullPrototype: true },
);
const time = fc.integer({ min: 1_000_000_000_000, max: 4_000_000_000_000 });
const span: fc.Arbitrary<SpanRecord> = fc.record({
  traceId: id(32),
  spanId: id(16),
  parentSpanId: fc.option(id(16)),
  name,
  kind: fc.constantFrom('internal', 'client'),
  startMs: time,
  endMs: time,
  attributes,
  events: fc.array(fc.record({ name, timeMs: time, attributes }), { maxLength: 2 }),
  links: fc.array(id(16), { maxLength: 2 }),
  isError: fc.boolean(),
  isSampled: fc.constant(true),
});

function toHrTime(ms: number): [number, number] {
  return [Math.floor(ms / 1000), (ms % 1000) * 1_000_000];
}

/** The same span as the SDK of OpenTelemetry has it. */
function toSdkSpan(record: SpanRecord): SdkSpan {
  const { traceId, spanId, parentSpanId } = record;
  const context = (of: string) => ({ traceId, spanId: of, traceFlags: 1 });
  return {
    name: record.name,
    kind: record.kind === 'client' ? 2 : 0,
    spanContext: () => context(spanId),
    ...(parentSpanId === null ? {} : { parentSpanContext: context(parentSpanId) }),
    startTime: toHrTime(record.startMs),
    endTime: toHrTime(record.endMs),
    status: { code: record.isError ? 2 : 0 },
    attributes: toMutable(record.attributes),
    links: record.links.map((link) => ({ context: context(link) })),
    events: record.events.map((event) => ({
      name: event.name,
      time: toHrTime(event.timeMs),
      attributes: toMutable(event.attributes),
    })),
    duration: [0, 0],
    ended: true,
    resource: RESOURCE,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function toMutable(values: SpanRecord['attributes']) {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      typeof value === 'object' ? [...value] : value,
    ]),
  );
}

/** Removes counts of zero, and the flags that say whether a parent is in another process, which Muster leaves open. */
function normalize(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(normalize);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).flatMap(([key, each]) => {
    if (key.startsWith('dropped') && each === 0) return [];
    if (key === 'flags') return [[key, Number(each) & 255] as const];
    return each === undefined ? [] : [[key, normalize(each)] as const];
  });
  return Object.fromEntries(entries);
}

function parse(bytes: Uint8Array | undefined): JsonValue {
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** A request as it is sent. */
function send(body: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(body));
}

describe('OTLP in JSON', () => {
  it('has the spans in the form in which the serializer of OpenTelemetry writes them', () => {
    fc.assert(
      fc.property(fc.array(span, { minLength: 1, maxLength: 3 }), (spans) => {
        const theirs = parse(JsonTraceSerializer.serializeRequest(spans.map(toSdkSpan)));
        const ours = send(encodeTraces(spans, SOURCE));
        expect(normalize(ours)).toEqual(normalize(theirs));
        expect(decodeSpans(ours)).toEqual(decodeSpans(theirs));
      }),
    );
  });

  it('has the metrics in the form in which the serializer of OpenTelemetry writes them', () => {
    const bounds = [1, 10];
    const shared = { description: 'A test.', unit: 's' };
    const specs: readonly MetricSpec[] = [
      { name: 'counter', ...shared, kind: 'counter', bounds: [] },
      { name: 'gauge', ...shared, kind: 'gauge', bounds: [] },
      { name: 'histogram', ...shared, kind: 'histogram', bounds },
    ];
    const store = new MetricStore();
    const attributes = { a: 'b' };
    for (const metric of specs) {
      for (const value of [0.5, 1, 3.25, 99]) store.add({ metric, value, attributes });
    }
    const times = { startMs: 1_700_000_000_000, nowMs: 1_700_000_001_500 };
    const point = {
      attributes,
      startTime: toHrTime(times.startMs),
      endTime: toHrTime(times.nowMs),
    };
    const descriptor = { ...shared, valueType: 1 };
    const sum = 103.75;
    const metrics = [
      ...['counter', 'gauge'].map((each) => ({
        descriptor: { ...descriptor, name: each },
        aggregationTemporality: 1,
        dataPointType: 3,
        isMonotonic: each === 'counter',
        dataPoints: [{ ...point, value: sum }],
      })),
      {
        descriptor: { ...descriptor, name: 'histogram' },
        aggregationTemporality: 1,
        dataPointType: 0,
        dataPoints: [
          {
            ...point,
            value: {
              buckets: { boundaries: bounds, counts: [2, 1, 1] },
              sum,
              count: 4,
              min: 0.5,
              max: 99,
            },
          },
        ],
      },
    ];
    const theirs = parse(
      JsonMetricsSerializer.serializeRequest({
        resource: RESOURCE,
        scopeMetrics: [{ scope: SCOPE, metrics }],
      } as unknown as SdkMetrics),
    );
    const ours = send(encodeMetrics(store.read(), SOURCE, times));
    expect(normalize(ours)).toEqual(normalize(theirs));
    expect(decodePoints(ours).map(({ metric, value }) => [metric, value])).toEqual([
      ['counter', sum],
      ['gauge', sum],
      ['histogram', sum],
    ]);
  });
});
