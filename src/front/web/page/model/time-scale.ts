import type { SpanKind } from '../../../../report/span.ts';
import type { TimelineSpan } from '../../wire.ts';

/** A period of time in milliseconds since the epoch. */
export interface TimeScale {
  readonly from: number;
  readonly to: number;
}

/** The width of a drawing in its own units. Spans within one unit are drawn as one bar. */
export const LANE_UNITS = 10_000;
/** The height of a lane in the same units, which the drawing stretches. */
export const LANE_HEIGHT = 14;

/** The bars of each kind of span: they differ in shape and not only in color. */
const BARS: Readonly<Record<SpanKind, readonly (readonly [top: number, height: number])[]>> = {
  slot: [[12, 1]],
  model: [[1, 12]],
  retry: [
    [1, 1.5],
    [6, 1.5],
    [11, 1.5],
  ],
  held: [
    [1, 2],
    [11, 2],
  ],
  tool: [[7, 6]],
  children: [[6.5, 1]],
  person: [[1, 6]],
  away: [[1, 1]],
};

/** Draws the spans of one task as one path for each kind. Spans that are too short to be seen are widened to a unit. */
export function drawLane(
  spans: readonly TimelineSpan[],
  scale: TimeScale,
): readonly { readonly kind: SpanKind; readonly path: string }[] {
  const byKind = Map.groupBy(spans, ([kind]) => kind);
  return Array.from(byKind, ([kind, ofKind]) => ({ kind, path: drawKind(kind, ofKind, scale) }));
}

function drawKind(kind: SpanKind, spans: readonly TimelineSpan[], { from, to }: TimeScale): string {
  const unit = LANE_UNITS / Math.max(to - from, 1);
  const toUnits = (ms: number): number =>
    Math.round(Math.min(Math.max((ms - from) * unit, 0), LANE_UNITS));
  let drawn = -1;
  let path = '';
  for (const [, start, end] of spans) {
    const last = Math.max(toUnits(end), toUnits(start) + 1);
    const first = Math.max(toUnits(start), drawn);
    if (last <= first) continue;
    drawn = last;
    path += drawBars(kind, first, last - first);
  }
  return path;
}

/** Draws the bars of a kind at a place. */
export function drawBars(kind: SpanKind, start: number, width: number): string {
  return BARS[kind]
    .map(([top, height]) => `M${start} ${top}h${width}v${height}h-${width}z`)
    .join('');
}

/** Sums the time of each kind, for the description of a lane. */
export function sumSpans(spans: readonly TimelineSpan[]): ReadonlyMap<SpanKind, number> {
  const sums = new Map<SpanKind, number>();
  for (const [kind, from, to] of spans) sums.set(kind, (sums.get(kind) ?? 0) + to - from);
  return sums;
}

/** The steps between the marks of an axis, for a mantissa. */
const STEPS = [1, 2, 5, 10];

/** Returns round values from 0 to `max` for the marks of an axis. */
export function axisMarks(max: number, count: number): readonly number[] {
  if (!(max > 0)) return [0];
  const rough = max / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = (STEPS.find((each) => each * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.floor(max / step) + 1 }, (_, index) => index * step);
}
