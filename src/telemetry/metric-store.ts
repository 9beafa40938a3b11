import type { Attributes } from './span-record.ts';

/** A metric: what it measures, and how its values are added up. */
export interface MetricSpec {
  readonly name: string;
  readonly description: string;
  /** The unit in UCUM: `s`, `{token}`, `USD`. */
  readonly unit: string;
  /** `counter` only grows, `gauge` is a sum that also shrinks, and `histogram` counts values in buckets. */
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** The upper bounds of the buckets of a histogram, ascending. The last bucket has none. */
  readonly bounds: readonly number[];
}

/** One value of a metric. */
export interface Measurement {
  readonly metric: MetricSpec;
  readonly value: number;
  readonly attributes: Attributes;
}

/** The values so far of a metric for one set of attributes. */
export interface MetricPoint {
  readonly attributes: Attributes;
  readonly sum: number;
  readonly count: number;
  readonly min: number;
  readonly max: number;
  /** The number of values in each bucket: one more than there are bounds. Empty for a sum. */
  readonly buckets: readonly number[];
}

export interface MetricSeries {
  readonly metric: MetricSpec;
  readonly points: readonly MetricPoint[];
}

/**
 * The maximum number of sets of attributes of one metric (`otel_metric_points`). The values of further sets are added to
 * a point with the attribute `otel.metric.overflow`, as the specification of OpenTelemetry asks.
 */
const MAX_POINTS = 2000;
const OVERFLOW: Attributes = { 'otel.metric.overflow': true };

/** Adds up measurements from the start of the process. */
export class MetricStore {
  private readonly points = new Map<MetricSpec, Map<string, MetricPoint>>();

  add({ metric, value, attributes }: Measurement): void {
    const points = this.points.get(metric) ?? new Map<string, MetricPoint>();
    this.points.set(metric, points);
    const wanted = JSON.stringify(attributes);
    const isFull = points.size >= MAX_POINTS && !points.has(wanted);
    const key = isFull ? JSON.stringify(OVERFLOW) : wanted;
    const known = points.get(key);
    points.set(key, addValue(metric, known ?? null, value, isFull ? OVERFLOW : attributes));
  }

  /** Returns all metrics that have values. */
  read(): readonly MetricSeries[] {
    return Array.from(this.points, ([metric, points]) => ({
      metric,
      points: [...points.values()],
    }));
  }
}

function addValue(
  { kind, bounds }: MetricSpec,
  known: MetricPoint | null,
  value: number,
  attributes: Attributes,
): MetricPoint {
  const empty = kind === 'histogram' ? Array.from({ length: bounds.length + 1 }, () => 0) : [];
  const { sum = 0, count = 0, min = value, max = value, buckets = empty } = known ?? {};
  const found = bounds.findIndex((bound) => value <= bound);
  const bucket = found < 0 ? bounds.length : found;
  return {
    attributes,
    sum: sum + value,
    count: count + 1,
    min: Math.min(min, value),
    max: Math.max(max, value),
    buckets: buckets.map((number, index) => (index === bucket ? number + 1 : number)),
  };
}
