import { unreachable } from '../../src/base/errors.ts';
import { median } from './statistics.ts';

export type Unit = 'ms' | 'MB' | 'KB' | 'bytes' | 'cents' | '%';

/** What the product may cost at most; `goal`: what it is to come to in the end. */
export type Bound =
  /** At most that many times the floor. */
  | { readonly kind: 'ratio'; readonly most: number; readonly goal: number }
  /** At most that much above the floor. */
  | { readonly kind: 'above'; readonly most: number; readonly goal: number }
  | { readonly kind: 'most'; readonly most: number; readonly goal: number }
  | { readonly kind: 'least'; readonly least: number };

/** Something measured, beside the least that anybody could do in its place. */
export interface Figure {
  readonly what: string;
  readonly unit: Unit;
  readonly samples: readonly number[];
  readonly floor?: { readonly what: string; readonly samples: readonly number[] };
  /** Absent: told for comparison, bound to nothing. */
  readonly bound?: Bound;
  /** What a reader has to know to believe it. */
  readonly notes?: readonly string[];
}

export interface Verdict {
  /** In the bound's own terms: a ratio, a difference, or the median itself. */
  readonly value: number;
  readonly held: boolean;
}

/** Null where nothing is bound, or where the floor is missing that the bound speaks of. */
export function judge({ samples, floor, bound }: Figure): Verdict | null {
  if (bound === undefined) return null;
  const value = median(samples);
  const base = floor === undefined ? Number.NaN : median(floor.samples);
  switch (bound.kind) {
    case 'ratio':
      return { value: value / base, held: value / base <= bound.most };
    case 'above':
      return { value: value - base, held: value - base <= bound.most };
    case 'most':
      return { value, held: value <= bound.most };
    case 'least':
      return { value, held: value >= bound.least };
    default:
      return unreachable(bound);
  }
}
