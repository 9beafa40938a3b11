import { formatDuration } from '../../base/text.ts';
import { formatElapsed } from '../../report/figures.ts';
import {
  SPAN_KINDS,
  SPAN_NAMES,
  sumTimeByKind,
  type Span,
  type SpanKind,
} from '../../report/span.ts';
import { html } from '../../base/html.ts';

/** The height of a lane, and the bars of each kind of span in it. The kinds differ in shape and not only in color. */
const LANE_HEIGHT = 14;
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

/** The width of a lane in units of the drawing. Spans within the same unit are drawn as one bar. */
const LANE_UNITS = 100_000;

/** The period of time that a lane shows. */
export interface Scale {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
}

/** Draws the lane of a task, with one path for each kind of span. */
export function laneSvg(spans: readonly Span[], scale: Scale): string {
  const paths = Array.from(
    Map.groupBy(spans, ({ kind }) => kind),
    ([kind, ofKind]) => `<path class="${kind}" d="${drawPath(kind, ofKind, scale)}"/>`,
  );
  const words = sumTimeByKind(spans)
    .map(({ kind, ms }) => `${SPAN_NAMES[kind]} ${formatDuration(ms)}`)
    .join(', ');
  return `<svg viewBox="0 0 ${LANE_UNITS} ${LANE_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${html(words)}"><title>${html(words)}</title>${paths.join('')}</svg>`;
}

function drawPath(kind: SpanKind, spans: readonly Span[], { from, to }: Scale): string {
  const unit = LANE_UNITS / Math.max(to - from, 1);
  const toUnits = (ms: number) => Math.round(Math.min(Math.max((ms - from) * unit, 0), LANE_UNITS));
  let drawn = -1;
  let path = '';
  for (const span of spans) {
    const end = Math.max(toUnits(span.to), toUnits(span.from) + 1);
    const start = Math.max(toUnits(span.from), drawn);
    if (end <= start) continue;
    drawn = end;
    path += bars(kind, start, end - start);
  }
  return path;
}

function bars(kind: SpanKind, start: number, width: number): string {
  return BARS[kind]
    .map(([top, height]) => `M${start} ${top}h${width}v${height}h-${width}z`)
    .join('');
}

/** Draws the legend of the shapes, with the total time of each kind. */
export function legend(spans: readonly Span[]): string {
  const sums = new Map(sumTimeByKind(spans).map(({ kind, ms }) => [kind, ms]));
  const items = SPAN_KINDS.map((kind) => {
    const shape = `<svg viewBox="0 0 28 ${LANE_HEIGHT}" aria-hidden="true"><path class="${kind}" d="${bars(kind, 1, 26)}"/></svg>`;
    const ms = sums.get(kind);
    const time = ms === undefined ? '' : ` <span class="soft">${formatDuration(ms)}</span>`;
    return `<li>${shape}${SPAN_NAMES[kind]}${time}</li>`;
  });
  return `<ul class="legend">${items.join('')}</ul>`;
}

/** The number of marks on the axis at the largest zoom. Smaller zooms show only some of the marks. */
const AXIS_MARKS = 1000;

/** Draws the axis in seconds since the start, with as many marks as the zoom has room for. */
export function axis({ from, to }: Scale): string {
  const marks = Array.from({ length: AXIS_MARKS + 1 }, (_, at) => {
    const x = `${(at * 100) / AXIS_MARKS}%`;
    const [dx, anchor] = at === AXIS_MARKS ? [-3, 'end'] : [3, 'start'];
    const time = formatElapsed(((to - from) * at) / AXIS_MARKS);
    return `<g class="${markClass(at)}"><line x1="${x}" x2="${x}" y2="22"/><text x="${x}" dx="${dx}" y="15" text-anchor="${anchor}">${time}</text></g>`;
  });
  return `<svg aria-hidden="true">${marks.join('')}</svg>`;
}

function markClass(at: number): string {
  if (at % 125 === 0 && (at < AXIS_MARKS - 125 || at === AXIS_MARKS)) return 'k1';
  if (at % 25 === 0) return 'k5';
  return at % 5 === 0 ? 'k20' : 'k100';
}
