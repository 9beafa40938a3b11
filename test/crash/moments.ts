import { seededRandom } from './random.ts';

/** When a run is killed. */
export type Moment =
  | { readonly kind: 'time'; readonly ms: number }
  /** At once when so many lines have come from stdout. */
  | { readonly kind: 'line'; readonly count: number }
  /** At once when the server has so many requests in its log. */
  | { readonly kind: 'request'; readonly count: number };

/** A run that nobody killed. */
export interface WholeRun {
  readonly ms: number;
  readonly lines: number;
  readonly requests: number;
}

/**
 * Moments over the whole of a run: half of them by time, the rest right after something was
 * acknowledged. Each kind is spread evenly, with chance within its share.
 */
export function killMoments(count: number, seed: number, whole: WholeRun): readonly Moment[] {
  const random = seededRandom(seed);
  const byTime = Math.ceil(count / 2);
  const byLine = Math.ceil((count - byTime) / 2);
  const byRequest = count - byTime - byLine;
  return [
    ...spread(byTime, random).map((share): Moment => ({ kind: 'time', ms: share * whole.ms })),
    ...spread(byLine, random).map((share): Moment => ({
      kind: 'line',
      count: 1 + Math.floor(share * (whole.lines - 1)),
    })),
    ...spread(byRequest, random).map((share): Moment => ({
      kind: 'request',
      count: 1 + Math.floor(share * whole.requests),
    })),
  ];
}

/** For a run that was over before its moment came. */
export function earlier(moment: Moment): Moment {
  if (moment.kind === 'time') return { kind: 'time', ms: moment.ms / 2 };
  return { kind: moment.kind, count: Math.max(1, Math.floor(moment.count / 2)) };
}

function spread(count: number, random: () => number): readonly number[] {
  return Array.from({ length: count }, (_, index) => (index + random()) / count);
}
