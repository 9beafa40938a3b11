import type { JsonObject, JsonValue } from '../base/json.ts';
import type { MetricPoint, MetricSeries } from './metric-store.ts';
import type { Attributes, AttributeValue, SpanRecord } from './span-record.ts';

/**
 * The JSON encoding of OTLP 1.x (opentelemetry-proto, "JSON Protobuf Encoding"): ids are hexadecimal, 64-bit numbers of
 * times are decimal texts, and enumerations are numbers.
 */

/** The maximum number of spans of one request (`otel_batch_spans`). */
export const BATCH_SPANS = 512;

/** The source of the data: the attributes of the resource, and the name and version of the instrumentation. */
export interface OtlpSource {
  readonly resource: Attributes;
  readonly version: string;
}

const SPAN_KINDS: Readonly<Record<SpanRecord['kind'], number>> = { internal: 1, client: 3 };
const STATUS_UNSET = 0;
const STATUS_ERROR = 2;
const CUMULATIVE = 2;
/** The flag of a span that is recorded. Whether its parent is in another process is left open. */
const SAMPLED = 1;

/** Returns the body of a request to `/v1/traces`. */
export function encodeTraces(spans: readonly SpanRecord[], source: OtlpSource): JsonObject {
  return {
    resourceSpans: [
      {
        resource: { attributes: encodeAttributes(source.resource) },
        scopeSpans: [{ scope: encodeScope(source), spans: spans.map(encodeSpan) }],
      },
    ],
  };
}

/** Returns the body of a request to `/v1/metrics`. The values count from `startMs` to `nowMs`. */
export function encodeMetrics(
  series: readonly MetricSeries[],
  source: OtlpSource,
  { startMs, nowMs }: { readonly startMs: number; readonly nowMs: number },
): JsonObject {
  const times = { startTimeUnixNano: toNanoseconds(startMs), timeUnixNano: toNanoseconds(nowMs) };
  return {
    resourceMetrics: [
      {
        resource: { attributes: encodeAttributes(source.resource) },
        scopeMetrics: [
          { scope: encodeScope(source), metrics: series.map((each) => encodeMetric(each, times)) },
        ],
      },
    ],
  };
}

function encodeScope({ version }: OtlpSource): JsonObject {
  return { name: 'muster', version };
}

function encodeSpan(span: SpanRecord): JsonObject {
  const { traceId, spanId, parentSpanId } = span;
  return {
    traceId,
    spanId,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    name: span.name,
    kind: SPAN_KINDS[span.kind],
    startTimeUnixNano: toNanoseconds(span.startMs),
    endTimeUnixNano: toNanoseconds(span.endMs),
    attributes: encodeAttributes(span.attributes),
    events: span.events.map(({ name, timeMs, attributes }) => ({
      name,
      timeUnixNano: toNanoseconds(timeMs),
      attributes: encodeAttributes(attributes),
    })),
    links: span.links.map((link) => ({ traceId, spanId: link, attributes: [], flags: SAMPLED })),
    status: { code: span.isError ? STATUS_ERROR : STATUS_UNSET },
    flags: SAMPLED,
  };
}

type Times = Readonly<Record<'startTimeUnixNano' | 'timeUnixNano', string>>;

function encodeMetric({ metric, points }: MetricSeries, times: Times): JsonObject {
  const { name, description, unit, kind } = metric;
  if (kind === 'histogram') {
    const dataPoints = points.map((point) => ({
      ...encodePoint(point, times),
      count: point.count,
      sum: point.sum,
      min: point.min,
      max: point.max,
      bucketCounts: [...point.buckets],
      explicitBounds: [...metric.bounds],
    }));
    const histogram = { aggregationTemporality: CUMULATIVE, dataPoints };
    return { name, description, unit, histogram };
  }
  const dataPoints = points.map((point) => ({ ...encodePoint(point, times), asDouble: point.sum }));
  const isMonotonic = kind === 'counter';
  return {
    name,
    description,
    unit,
    sum: { aggregationTemporality: CUMULATIVE, isMonotonic, dataPoints },
  };
}

function encodePoint({ attributes }: MetricPoint, times: Times): JsonObject {
  return { attributes: encodeAttributes(attributes), ...times };
}

function encodeAttributes(attributes: Attributes): readonly JsonObject[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: encodeValue(value) }));
}

function encodeValue(value: AttributeValue): JsonObject {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) ? { intValue: value } : { doubleValue: toFinite(value) };
  }
  return { arrayValue: { values: value.map(encodeValue) } };
}

/** JSON has no infinite numbers, and no sum of a log is one. */
function toFinite(value: number): JsonValue {
  return Number.isFinite(value) ? value : 0;
}

/** Converts milliseconds since the epoch, which may have a fraction. A time before the epoch becomes the epoch. */
function toNanoseconds(ms: number): string {
  return Number.isFinite(ms) && ms > 0 ? String(BigInt(Math.round(ms * 1000)) * 1000n) : '0';
}
