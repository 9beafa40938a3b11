import { unreachable } from '../../src/base/errors.ts';
import { estimateRatio, median, type RatioEstimate } from './statistics.ts';

export type Unit = 'ms' | 'MB' | 'KB' | 'bytes' | 'cents' | '%' | '×';

/** The limit that a measurement is held to. `goal` is the value to reach in the long run. */
export type Bound =
  /** The median divided by the median of the reference. */
  | { readonly kind: 'ratio'; readonly max: number; readonly goal: number }
  /** The median minus the median of the reference. */
  | { readonly kind: 'difference'; readonly max: number; readonly goal: number }
  | { readonly kind: 'max'; readonly max: number; readonly goal: number }
  | { readonly kind: 'min'; readonly min: number };

/** Samples of one quantity, with the samples that they are compared with. */
export interface Measurement {
  readonly title: string;
  readonly unit: Unit;
  readonly samples: readonly number[];
  /** The same quantity of a minimal program that does the same work, measured in the same run. */
  readonly reference?: { readonly title: string; readonly samples: readonly number[] };
  /**
   * The same quantity of the other build (`--against`). Sample i was taken in the same round as sample i
   * of `samples`. Empty or absent when the run measures one build only.
   */
  readonly baseline?: readonly number[];
  /** Absent when the value is only reported. */
  readonly bound?: Bound;
  /** Conditions of the measurement that a reader needs in order to interpret it. */
  readonly notes?: readonly string[];
}

export interface BoundCheck {
  /** A ratio, a difference or the median itself, depending on the kind of the bound. */
  readonly value: number;
  readonly isMet: boolean;
}

/** Checks the median against the bound. Returns null for a measurement without a bound. */
export function checkBound({ samples, reference, bound }: Measurement): BoundCheck | null {
  if (bound === undefined) return null;
  const value = median(samples);
  const base = reference === undefined ? Number.NaN : median(reference.samples);
  switch (bound.kind) {
    case 'ratio':
      return { value: value / base, isMet: value / base <= bound.max };
    case 'difference':
      return { value: value - base, isMet: value - base <= bound.max };
    case 'max':
      return { value, isMet: value <= bound.max };
    case 'min':
      return { value, isMet: value >= bound.min };
    default:
      return unreachable(bound);
  }
}

/** Compares the build with the baseline build. Returns null when there is no baseline. */
export function compareWithBaseline({ samples, baseline }: Measurement): RatioEstimate | null {
  if (baseline === undefined || baseline.length === 0) return null;
  return estimateRatio(samples, baseline);
}
